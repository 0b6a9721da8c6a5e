import Larder
import PostgresSupport
import Testing

@Suite("The last version")
struct VersionLimitTests {
  private struct Wide: Record, Equatable {
    var id: Int64
    var version: Int
    var text: String

    struct Columns: Sendable {
      let id = Column("id", \Wide.id, .primaryKey)
      let version = Column("version", \Wide.version, .version)
      let text = Column("text", \Wide.text)
    }
    static let columns = Columns()
    static let table = Table(
      "wide", Wide.init, columns.id, columns.version, columns.text, options: .notStrict)
  }

  private struct Narrow: Record, Equatable {
    var id: Int64
    var version: Int8
    var text: String

    struct Columns: Sendable {
      let id = Column("id", \Narrow.id, .primaryKey)
      let version = Column("version", \Narrow.version, .version)
      let text = Column("text", \Narrow.text)
    }
    static let columns = Columns()
    static let table = Table("narrow", Narrow.init, columns.id, columns.version, columns.text)
  }

  let db: Database

  init() throws {
    db = try Database.empty()
    try Wide.table.create(db)
    try Narrow.table.create(db)
  }

  @Test("A version at Int.max makes every kind of update throw, and nothing changes")
  func wide() throws {
    let last = Wide(id: 1, version: .max, text: "a")
    var record = last
    try record.insert(db)
    record.text = "b"
    #expect(throws: RecordError.self) { try record.update(db) }
    #expect(throws: RecordError.self) { try record.update(db, Wide.columns.text) }
    #expect(throws: RecordError.self) { try record.updated(db) }
    #expect(throws: RecordError.self) { try record.update(db, changedSince: last) }
    #expect(throws: RecordError.self) { try record.save(db) }
    #expect(throws: (any Error).self) { try record.upsert(db) }
    #expect(throws: DatabaseError.self) { try Wide.all.update(db) { $0.text = "c" } }
    #expect(throws: DatabaseError.self) { try Wide.all.updated(db) { $0.text = "c" } }
    #expect(record == Wide(id: 1, version: .max, text: "b"))
    #expect(try Wide.fetchAll(db) == [last])
    if TestEngine.isPostgres { return }
    #expect(try db.value("SELECT typeof(version) FROM wide") == "integer")
  }

  @Test("A version at the maximum of Int8 makes updates throw, and lower ones are incremented")
  func narrow() throws {
    var record = Narrow(id: 1, version: 125, text: "a")
    try record.insert(db)
    try record.update(db) as Void
    #expect(record.version == 126)
    #expect(try Narrow.all.update(db) { $0.text = "b" } == 1)
    let last = Narrow(id: 1, version: 127, text: "b")
    #expect(try Narrow.fetchAll(db) == [last])
    record = last
    record.text = "c"
    #expect(throws: RecordError.self) { try record.update(db) }
    #expect(throws: (any Error).self) { try record.upsert(db) }
    #expect(throws: DatabaseError.self) { try Narrow.all.update(db) { $0.text = "c" } }
    #expect(try Narrow.fetchAll(db) == [last])
  }
}
