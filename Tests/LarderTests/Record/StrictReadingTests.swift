import Larder
import PostgresSupport
import Testing

private enum Rank: Int, DatabaseValueConvertible { case village = 1, city }

/// A record with strings before and after what goes wrong.
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
    "Wrong storage classes, NULL, numbers out of range and unknown raw values are refused",
    .onlySQLite(.anyTyped),
    arguments: [
      ("id", "'seventeen'", ConversionError.Reason.storageClass(.text), "Int64"),
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
  func refused(column: String, value: String, reason: ConversionError.Reason, type: String) throws {
    try db.executeUpdate(SQL(raw: "UPDATE place SET \"\(column)\" = \(value)"))
    let key: [DatabaseValue] = column == "id" ? ["seventeen"] : [17]
    func check(_ sql: String, _ body: () throws -> Void) {
      let error = conversionFailure(body)
      #expect(error?.table == "place")
      #expect(error?.column == column)
      #expect(error?.reason == reason)
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

  @Test("Integers widen to Double, and nothing else changes", .onlySQLite(.anyTyped))
  func widening() throws {
    try db.executeUpdate("UPDATE place SET share = 1, district = NULL, tags = x''")
    let place = try Spot.find(db, 17)
    #expect(place.share == 1)
    #expect(place.district == nil)
    #expect(place.tags == [])
  }

  @Test("The error reads well", .onlySQLite(.anyTyped))
  func description() throws {
    try db.executeUpdate("UPDATE place SET name = NULL")
    #expect(
      recordFailure { try Spot.find(db, 17) }
        == "“place”.“name” of the row with the key 17: NULL can't be read as String; use "
        + "Optional<String> where NULL is allowed — column “name” at index 1 of "
        + "“\(Spot.table.findSQL)”")
  }

  @Test("Rows before the one that doesn't fit have been seen by forEach", .onlySQLite(.anyTyped))
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
    "Strings read before the failing column are given back, however often it fails",
    .onlySQLite(.anyTyped)
  )
  func memory() throws {
    try db.executeUpdate("UPDATE place SET tags = NULL")
    for _ in 0..<200 {
      #expect(conversionFailure { try Spot.fetchAll(db) }?.column == "tags")
    }
  }

  @Test("The table's other operations report them too", .onlySQLite(.anyTyped))
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
