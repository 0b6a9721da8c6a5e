import Larder
import Testing

private enum Level: Int, DatabaseValueConvertible { case village = 1, city }

/// A record with strings before and after what goes wrong.
private struct Place: Record, Equatable {
  var id: Int64
  var name: String
  var district: String?
  var population: Int32
  var level: Level
  var share: Double
  var isCapital: Bool
  var tags: [UInt8]

  struct Columns: Sendable {
    let id = Column("id", \Place.id, .primaryKey)
    let name = Column("name", \Place.name)
    let district = Column("district", \Place.district)
    let population = Column("population", \Place.population)
    let level = Column("level", \Place.level)
    let share = Column("share", \Place.share)
    let isCapital = Column("isCapital", \Place.isCapital)
    let tags = Column("tags", \Place.tags)
  }
  static let columns = Columns()
  static let table = Table(
    "place", Place.init, columns.id, columns.name, columns.district, columns.population,
    columns.level, columns.share, columns.isCapital, columns.tags)
}

@Suite("Values that don't fit a record")
struct StrictReadingTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate(
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
    arguments: [
      ("id", "'seventeen'", ConversionError.Reason.storageClass(.text), "Int64"),
      ("name", "NULL", .null, "String"), ("name", "5", .storageClass(.integer), "String"),
      ("name", "x'41'", .storageClass(.blob), "String"),
      ("name", "CAST(x'ff' AS TEXT)", .malformed, "String"),
      ("district", "1.5", .storageClass(.real), "String"),
      ("population", "NULL", .null, "Int32"), ("population", "'5'", .storageClass(.text), "Int32"),
      ("population", "2147483648", .notExact, "Int32"),
      ("population", "5.0", .storageClass(.real), "Int32"),
      ("level", "3", .unknownRawValue, "Level"), ("level", "'city'", .storageClass(.text), "Int"),
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
    check(Place.table.selectSQL) { _ = try Place.fetchAll(db) }
    check(Place.table.selectSQL) { try Place.forEach(db) { _ in } }
    check(Place.table.findSQL) { _ = try Place.find(db, key[0]) }
    let reordered: SQL =
      "SELECT tags, isCapital, share, level, population, district, name, id FROM place"
    check(reordered.text) { _ = try Place.fetchAll(db, sql: reordered) }
  }

  @Test("Integers widen to Double, and nothing else changes")
  func widening() throws {
    try db.executeUpdate("UPDATE place SET share = 1, district = NULL, tags = x''")
    let place = try Place.find(db, 17)
    #expect(place.share == 1)
    #expect(place.district == nil)
    #expect(place.tags == [])
  }

  @Test("The error reads well")
  func description() throws {
    try db.executeUpdate("UPDATE place SET name = NULL")
    #expect(
      recordFailure { try Place.find(db, 17) }
        == "“place”.“name” of the row with the key 17: NULL can't be read as String; use "
        + "Optional<String> where NULL is allowed — column “name” at index 1 of "
        + "“\(Place.table.findSQL)”")
  }

  @Test("Rows before the one that doesn't fit have been seen by forEach")
  func stream() throws {
    let place = try Place.find(db, 17)
    try Place.insert(
      db,
      contentsOf: (18...20).map { (id: Int64) in
        var other = place
        other.id = id
        return other
      })
    try db.executeUpdate("UPDATE place SET isCapital = NULL WHERE id = 19")
    var seen: [Int64] = []
    let error = conversionFailure { try Place.forEach(db) { seen.append($0.id) } }
    #expect(seen == [17, 18])
    #expect(error?.key == [19])
  }

  @Test("Strings read before the failing column are given back, however often it fails")
  func memory() throws {
    try db.executeUpdate("UPDATE place SET tags = NULL")
    for _ in 0..<200 {
      #expect(conversionFailure { try Place.fetchAll(db) }?.column == "tags")
    }
  }

  @Test("The table's other operations report them too")
  func returning() throws {
    let place = try Place.find(db, 17)
    try db.executeStatements("DROP TABLE place")
    try db.executeUpdate(
      """
      CREATE TABLE place (id INTEGER PRIMARY KEY, name, district, population, level, share, isCapital,
        tags TEXT AS ('none'))
      """)
    #expect(
      failure(DatabaseError.self) { try place.inserted(db) }?.message.contains("tags") == true)
  }
}
