import Larder
import PostgresSupport
import Testing

private struct Reading: Record, Equatable {
  var id: Int64?
  var level: Double
  var serial: UInt64?

  struct Columns: Sendable {
    let id = Column("id", \Reading.id, .primaryKey)
    let level = Column("level", \Reading.level)
    let serial = Column("serial", \Reading.serial)
  }
  static let columns = Columns()
  static let table = Table(
    "reading", Reading.init, columns.id, columns.level, columns.serial)
}

@Suite("Values that can't be stored")
struct StrictWritingTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      "CREATE TABLE reading (id INTEGER PRIMARY KEY, level REAL, serial INTEGER)")
    try Reading.insert(db, contentsOf: [Reading(id: 1, level: 0, serial: nil)])
  }

  /// Every operation that writes a record, with its SQL.
  private static let operations: [(SQL, @Sendable (inout Reading, Database) throws -> Void)] = [
    (SQL(raw: Reading.table.insertSQL), { try $0.insert($1) }),
    (
      #"INSERT OR REPLACE INTO "reading" ("id", "level", "serial") VALUES (:id, :level, :serial)"#,
      { try $0.insert($1, or: .replace) }
    ),
    (
      SQL(raw: Reading.table.insertSQL + #" RETURNING "id", "level", "serial""#),
      { _ = try $0.inserted($1) }
    ),
    (SQL(raw: Reading.table.updateSQL), { try $0.update($1) }),
    (
      #"UPDATE "reading" SET "level" = :level, "serial" = :serial WHERE "id" = :id"#,
      { try $0.update($1, Reading.columns.level, Reading.columns.serial) }
    ),
    (
      SQL(raw: Reading.table.updateSQL + #" RETURNING "id", "level", "serial""#),
      { _ = try $0.updated($1) }
    ),
    (SQL(raw: Reading.table.updateSQL), { try $0.save($1) }),
    (SQL(raw: Reading.table.upsertSQL), { try $0.upsert($1) }),
  ]

  /// The indices of those that the engine has.
  private static let supported = operations.indices.filter {
    !TestEngine.isPostgres || !operations[$0].0.text.hasPrefix("INSERT OR REPLACE")
  }

  @Test(
    "Writing NaN or an integer out of range throws with column, key and SQL", arguments: supported)
  func refused(index: Int) throws {
    let (sql, operation) = Self.operations[index]
    var reading = Reading(id: 1, level: .nan, serial: 5)
    var error = conversionFailure { try operation(&reading, db) }
    #expect(error?.table == "reading")
    #expect(error?.column == "level")
    #expect(error?.key == [1])
    #expect(error?.kind == .notANumber)
    if !TestEngine.isPostgres { #expect(error?.sql == sql.text) }
    reading = Reading(id: 1, level: 0, serial: .max)
    error = conversionFailure { try operation(&reading, db) }
    #expect(error?.column == "serial")
    #expect(error?.kind == .notExact)
    #expect(try Reading.fetchAll(db) == [Reading(id: 1, level: 0, serial: nil)])
    #expect(!db.isInTransaction)
  }

  @Test("update(changedSince:) throws if the copy has a NaN")
  func changedSince() throws {
    var reading = Reading(id: 1, level: 0, serial: nil)
    let copy = Reading(id: 1, level: .nan, serial: nil)
    #expect(conversionFailure { try reading.update(db, changedSince: copy) }?.column == "level")
  }

  @Test("Infinity, minus zero and the extreme numbers are stored and read exactly")
  func extremes() throws {
    let readings = [
      Reading(id: 2, level: -.infinity, serial: 0),
      Reading(id: 3, level: .leastNonzeroMagnitude, serial: UInt64(Int64.max)),
      Reading(id: .max, level: .greatestFiniteMagnitude, serial: 1),
      Reading(id: .min, level: -0.0, serial: 1),
    ]
    for var reading in readings { try reading.insert(db) }
    for reading in readings { #expect(try Reading.find(db, reading.id) == reading) }
  }

  @Test("Inserting into a table without a free key throws SQLITE_FULL", .onlySQLite(.catalog))
  func fullTable() throws {
    var last = Reading(id: .max, level: 0, serial: nil)
    try last.insert(db)
    try db.define(
      """
      CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
      INSERT INTO counted VALUES (9223372036854775807);
      """)
    struct Counted: Record {
      var id: Int?

      struct Columns: Sendable {
        let id = Column("id", \Counted.id, .autoincrement)
      }
      static let columns = Columns()
      static let table = Table("counted", Counted.init, columns.id)
    }
    var next = Counted(id: nil)
    #expect(failure(DatabaseError.self) { try next.insert(db) }?.code == .full)
    #expect(next.id == nil)
  }
}
