import Larder
import PostgresSupport
import Testing

private enum Rank: Int, DatabaseValueConvertible { case village = 1, city }

/// A record with strings before and after the column that fails to read.
private struct Spot: Record, Equatable {
  var id: Int64
  var name: String
  var district: String?
  var population: Int32
  var level: Rank
  var share: Double
  var isCapital: Bool
  var tags: [UInt8]

  struct Columns: Sendable {
    let id = Column("id", \Spot.id, .primaryKey)
    let name = Column("name", \Spot.name)
    let district = Column("district", \Spot.district)
    let population = Column("population", \Spot.population)
    let level = Column("level", \Spot.level)
    let share = Column("share", \Spot.share)
    let isCapital = Column("isCapital", \Spot.isCapital)
    let tags = Column("tags", \Spot.tags)
  }
  static let columns = Columns()
  static let table = Table(
    "place", Spot.init, columns.id, columns.name, columns.district, columns.population,
    columns.level, columns.share, columns.isCapital, columns.tags)
}

/// Counts its objects.
private final class Life: Sendable {
  static let counts = Lock((begun: 0, ended: 0))

  init() { Self.counts.withLock { $0.begun += 1 } }
  deinit { Self.counts.withLock { $0.ended += 1 } }
}

private struct Living: DatabaseValueConvertible {
  let databaseValue: DatabaseValue
  private let life = Life()

  init(databaseValue: DatabaseValue) { self.databaseValue = databaseValue }
}

/// A record whose first value is counted, before a column that fails to read.
private struct Kept: Record {
  var id: Int64
  var name: Living
  var district: String

  struct Columns: Sendable {
    let id = Column("id", \Kept.id, .primaryKey)
    let name = Column("name", \Kept.name)
    let district = Column("district", \Kept.district)
  }
  static let columns = Columns()
  static let table = Table("place", Kept.init, columns.id, columns.name, columns.district)
}

@Suite("Values that don't fit a record")
struct StrictReadingTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      "CREATE TABLE place (id PRIMARY KEY, name, district, population, level, share, isCapital, tags)"
    )
    try db.executeUpdate(
      """
      INSERT INTO place VALUES (17, 'A name of more than fifteen bytes', 'A district of that size too',
        5, 2, 0.5, 1, x'00112233445566778899aabbccddeeff00112233445566778899')
      """)
  }

  @Test(
    "A wrong storage class, NULL, out-of-range number or unknown raw value throws when read",
    .onlySQLite(.anyTyped),
    arguments: [
      ("id", "'seventeen'", ConversionError.Kind.storageClass(.text), "Int64"),
      ("name", "NULL", .null, "String"), ("name", "5", .storageClass(.integer), "String"),
      ("name", "x'41'", .storageClass(.blob), "String"),
      ("name", "CAST(x'ff' AS TEXT)", .malformed, "String"),
      ("district", "1.5", .storageClass(.real), "String"),
      ("population", "NULL", .null, "Int32"), ("population", "'5'", .storageClass(.text), "Int32"),
      ("population", "2147483648", .notExact, "Int32"),
      ("population", "5.0", .storageClass(.real), "Int32"),
      ("level", "3", .unknownRawValue, "Rank"), ("level", "'city'", .storageClass(.text), "Int"),
      ("share", "'0.5'", .storageClass(.text), "Double"), ("share", "NULL", .null, "Double"),
      ("share", "9007199254740993", .notExact, "Double"),
      ("isCapital", "'true'", .storageClass(.text), "Bool"),
      ("tags", "'text'", .storageClass(.text), "Array<UInt8>"),
    ])
  func refused(column: String, value: String, reason: ConversionError.Kind, type: String) throws {
    try db.executeUpdate(SQL(raw: "UPDATE place SET \"\(column)\" = \(value)"))
    let key: [DatabaseValue] = column == "id" ? ["seventeen"] : [17]
    func check(_ sql: String, _ body: () throws -> Void) {
      let error = conversionFailure(body)
      #expect(error?.table == "place")
      #expect(error?.column == column)
      #expect(error?.kind == reason)
      #expect(error?.type == type)
      #expect(error?.key == key)
      #expect(error?.sql == sql)
    }
    check(Spot.table.selectSQL) { _ = try Spot.fetchAll(db) }
    check(Spot.table.selectSQL) { try Spot.forEach(db) { _ in } }
    check(Spot.table.findSQL) { _ = try Spot.find(db, key[0]) }
    let reordered: SQL =
      "SELECT tags, isCapital, share, level, population, district, name, id FROM place"
    check(reordered.text) { _ = try Spot.fetchAll(db, sql: reordered) }
  }

  @Test("An integer is read as a Double", .onlySQLite(.anyTyped))
  func widening() throws {
    try db.executeUpdate("UPDATE place SET share = 1, district = NULL, tags = x''")
    let place = try Spot.find(db, 17)
    #expect(place.share == 1)
    #expect(place.district == nil)
    #expect(place.tags == [])
  }

  @Test(
    "The error of a value that can't be read has a readable description", .onlySQLite(.anyTyped)
  )
  func description() throws {
    try db.executeUpdate("UPDATE place SET name = NULL")
    #expect(
      recordFailure { try Spot.find(db, 17) }
        == "“place”.“name” of the row with the key 17: NULL can't be read as String; use "
        + "Optional<String> where NULL is allowed — column “name” at index 1 of "
        + "“\(Spot.table.findSQL)”")
  }

  @Test("forEach visits the rows before the one that can't be read", .onlySQLite(.anyTyped))
  func stream() throws {
    let place = try Spot.find(db, 17)
    try Spot.insert(
      db,
      contentsOf: (18...20).map { (id: Int64) in
        var other = place
        other.id = id
        return other
      })
    try db.executeUpdate("UPDATE place SET isCapital = NULL WHERE id = 19")
    var seen: [Int64] = []
    let error = conversionFailure { try Spot.forEach(db) { seen.append($0.id) } }
    #expect(seen == [17, 18])
    #expect(error?.key == [19])
  }

  @Test(
    "Reading a row that fails at its last column throws each time",
    .onlySQLite(.anyTyped)
  )
  func repeated() throws {
    try db.executeUpdate("UPDATE place SET tags = NULL")
    for _ in 0..<200 {
      #expect(conversionFailure { try Spot.fetchAll(db) }?.column == "tags")
    }
  }

  @Test("Values that were read before a column that fails are released", .onlySQLite(.anyTyped))
  func memory() throws {
    #expect(try Kept.fetchAll(db).count == 1)
    try db.executeUpdate("UPDATE place SET district = NULL")
    let before = Life.counts.withLock { $0 }
    for _ in 0..<200 {
      #expect(conversionFailure { try Kept.fetchAll(db) }?.column == "district")
    }
    let after = Life.counts.withLock { $0 }
    #expect(after.begun >= before.begun + 200)
    #expect(after.begun - after.ended == before.begun - before.ended)
  }

  @Test(
    "`inserted` throws for a column that is generated in the database only", .onlySQLite(.anyTyped)
  )
  func returning() throws {
    let place = try Spot.find(db, 17)
    try db.executeStatements("DROP TABLE place")
    try db.define(
      """
      CREATE TABLE place (id INTEGER PRIMARY KEY, name, district, population, level, share, isCapital,
        tags TEXT AS ('none'))
      """)
    #expect(
      recordFailure { try place.inserted(db) }?.contains("“tags” is generated") == true)
  }
}
