import Larder
import Testing

@Suite("Writes that triggers and constraints skip")
struct SkippedWriteTests {
  let db: Database
  let ann = FoundPerson(id: 1, name: "Ann", age: 40)

  init() throws { db = try Database() }

  static let skipping = [
    """
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
    CREATE TRIGGER young BEFORE UPDATE ON person WHEN new.age < 18
    BEGIN SELECT RAISE(IGNORE); END;
    CREATE TRIGGER new BEFORE INSERT ON person WHEN new.age < 18 AND new.id IS NOT 1
    BEGIN SELECT RAISE(IGNORE); END;
    """,
    """
    CREATE TABLE person (
      id INTEGER PRIMARY KEY, name TEXT, age INTEGER,
      isOld AS (iif(age < 18, NULL, 1)) STORED NOT NULL ON CONFLICT IGNORE);
    """,
  ]

  /// Whether the closure throws an error that names both causes, and leaves the table as it is.
  private func isReported(_ body: () throws -> Void) throws -> Bool {
    var known: (any Error)?
    do { try body() } catch { known = error }
    if case RecordError.batch(_, _, let inner)? = known { known = inner }
    let error = known as? DatabaseError
    #expect(error?.code == .abort)
    #expect(try FoundPerson.fetchAll(db) == [ann])
    return error?.message.contains("RAISE(IGNORE)") == true
      && error?.message.contains("ON CONFLICT IGNORE") == true
  }

  @Test(
    "An update, save or upsert throws if a trigger or a constraint skips the row",
    arguments: skipping)
  func existingRow(_ sql: String) throws {
    try db.executeStatements(SQL(raw: sql))
    try FoundPerson.insert(db, contentsOf: [ann])
    var young = ann
    young.age = 3
    let old = young
    #expect(try isReported { try young.update(db) })
    #expect(try isReported { try young.update(db, FoundPerson.columns.age) })
    #expect(try isReported { _ = try old.updated(db) })
    #expect(try isReported { try young.update(db, changedSince: ann) })
    #expect(try isReported { try young.upsert(db) })
    #expect(try isReported { try young.upsert(db) { row, new in row.age = new.age } })
    #expect(try isReported { try FoundPerson.upsert(db, contentsOf: [ann, old]) })
    #expect(throws: DatabaseError.self) { try young.save(db) as Void }
    #expect(young == old)
    young.id = 2
    #expect(
      failure(RecordError.self) { try FoundPerson(id: 2, name: "", age: 20).update(db) } != nil,
      "there is no such row")
    young.id = nil
    #expect(try isReported { try young.upsert(db) })
    #expect(young.id == nil)
  }

  @Test("A record that consists of its key can be upserted again, which writes nothing")
  func onlyKey() throws {
    struct Tag: Record {
      var name: String
      static let columns = Column("name", \Tag.name, .primaryKey)
      static let table = Table("tag", Tag.init, columns)
    }
    try db.executeUpdate("CREATE TABLE tag (name TEXT NOT NULL PRIMARY KEY)")
    let tag = Tag(name: "urgent")
    try tag.upsert(db)
    try tag.upsert(db)
    try Tag.upsert(db, contentsOf: [tag, tag])
    #expect(try Tag.all.fetchCount(db) == 1)
  }

  @Test("A version that is still the row's isn't taken for stale if a trigger skips the update")
  func version() throws {
    struct Note: Record {
      var id: Int64?
      var text: String
      var version = 1
      static let columns = (
        Column("id", \Note.id, .primaryKey), Column("text", \Note.text),
        Column("version", \Note.version, .version)
      )
      static let table = Table("note", Note.init, columns.0, columns.1, columns.2)
    }
    try db.executeStatements(
      """
      CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, version INTEGER);
      INSERT INTO note VALUES (1, 'a', 3);
      CREATE TRIGGER locked BEFORE UPDATE ON note BEGIN SELECT RAISE(IGNORE); END
      """)
    var note = Note(id: 1, text: "b", version: 3)
    #expect(failure(DatabaseError.self) { try note.update(db) as Void }?.code == .abort)
    #expect(failure(DatabaseError.self) { try note.save(db) as Void }?.code == .abort)
    #expect(failure(DatabaseError.self) { try note.upsert(db) as Void }?.code == .abort)
    #expect(note.version == 3)
    note.version = 2
    guard case .stale = failure(RecordError.self, { try note.save(db) as Void }) else {
      Issue.record("another version is stale")
      return
    }
  }
}
