import Larder
import PostgresSupport
import Testing

/// A record with columns that the database fills.
private struct Street: Record, Equatable {
  var id: Int64?
  var name: String
  var label: String?
  var length: Int?
  var changes: Int?

  struct Columns: Sendable {
    let id = Column("id", \Street.id, .primaryKey)
    let name = Column("name", \Street.name, .default("?"))
    let label = Column("label", \Street.label, .generated("upper(name)"))
    let length = Column("length", \Street.length, .generated("length(name)", stored: true))
    let changes = Column("changes", \Street.changes, .readOnly)
  }
  static let columns = Columns()
  static let table = Table(
    "street", Street.init, columns.id, columns.name, columns.label, columns.length,
    columns.changes)
}

@Suite("Columns that aren't written")
struct ColumnOptionTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE street (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '?',
        label TEXT GENERATED ALWAYS AS (upper(name)) VIRTUAL,
        length INTEGER GENERATED ALWAYS AS (length(name)) STORED,
        changes INTEGER NOT NULL DEFAULT 0)
      """)
    if TestEngine.isPostgres {
      try db.executeStatements(
        """
        CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN NEW.changes := OLD.changes + 1; RETURN NEW; END $$;
        CREATE TRIGGER counted BEFORE UPDATE OF name ON street
          FOR EACH ROW EXECUTE FUNCTION count_change();
        """)
    } else {
      try db.executeStatements(
        """
        CREATE TRIGGER counted AFTER UPDATE OF name ON street
        BEGIN UPDATE street SET changes = changes + 1 WHERE id = new.id; END;
        """)
    }
  }

  @Test("Generated and read-only columns are read, and returned by `inserted` and `updated`")
  func generated() throws {
    let street = Street(id: nil, name: "Storgata", label: "never written", length: -1, changes: -1)
    var stored = try street.inserted(db)
    #expect(
      stored == Street(id: 1, name: "Storgata", label: "STORGATA", length: 8, changes: 0))
    #expect(try Street.find(db, 1) == stored)
    stored.name = "Torggata"
    stored = try stored.updated(db)
    #expect(stored.label == "TORGGATA")
    #expect(try Street.find(db, 1).changes == 1)
  }

  @Test("No record operation writes generated and read-only columns")
  func writing() throws {
    var street = Street(id: nil, name: "Storgata", label: "x", length: 99, changes: 99)
    try street.insert(db)
    try street.update(db)
    try street.save(db)
    try street.upsert(db)
    try Street.insert(
      db,
      contentsOf: (2...200).map { Street(id: $0, name: $0.description, label: "x", changes: 99) })
    #expect(try Street.find(db, 1).length == 8)
    #expect(
      try Street.fetchAll(db, sql: "SELECT * FROM street WHERE id > 1").allSatisfy {
        $0.changes == 0
      })
  }

  @Test("Naming a generated or read-only column in an update throws")
  func chosen() throws {
    var street = try Street(id: nil, name: "Storgata").inserted(db)
    let error = failure(DatabaseError.self) { try street.update(db, Street.columns.label) }
    #expect(error?.message == "“label” of the table “street” is read-only")
    #expect(
      failure(DatabaseError.self) { try street.upsert(db, updating: Street.columns.changes) }?.code
        == .misuse)
  }

  @Test("update(changedSince:) throws if a generated or read-only column was changed")
  func changedSince() throws {
    let street = try Street(id: nil, name: "Storgata").inserted(db)
    var copy = street
    copy.changes = 100
    let error = failure(DatabaseError.self) { try copy.update(db, changedSince: street) }
    #expect(error?.message == "“changes” of the table “street” is read-only")
    copy = street
    copy.label = "x"
    #expect(failure(DatabaseError.self) { try copy.update(db, changedSince: street) } != nil)
    copy = street
    let isChanged = try copy.update(db, changedSince: street)
    #expect(!isChanged)
  }
}
