import Larder
import ProofSupport

/// What the entries read and write.
struct InjectedTown: Record {
  var code: String
  var name: String
  var note: String?
  var tags: [String]

  struct Columns: Sendable {
    let code = Column("code", \InjectedTown.code, .primaryKey)
    let name = Column("name", \InjectedTown.name, .indexed)
    let note = Column("note", \InjectedTown.note)
    let tags = Column("tags", \InjectedTown.tags, as: .json)
  }
  static let columns = Columns()
  static let table = Table(
    "town", InjectedTown.init, columns.code, columns.name, columns.note, columns.tags)

  init(code: String, name: String, note: String? = nil, tags: [String] = []) {
    (self.code, self.name, self.note, self.tags) = (code, name, note, tags)
  }

  static let home = InjectedTown(code: "home", name: "Oslo", note: "it's here", tags: ["a", "b"])
}

/// What is to stay as it is.
struct Treasury {
  private let schema: [SchemaEntry]
  private let rows: [[DatabaseValue]]

  static func create(_ db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE treasury (id INTEGER PRIMARY KEY, gold INTEGER NOT NULL, owner TEXT NOT NULL);
      INSERT INTO treasury VALUES (1, 1000, 'Oslo'), (2, 500, 'it''s ours');
      CREATE VIRTUAL TABLE letter USING fts5(name, body);
      INSERT INTO letter VALUES ('oslo', 'The ferry leaves the harbour at noon');
      """)
    try InjectedTown.table.create(db)
    try InjectedTown.insert(db, contentsOf: [InjectedTown.home])
  }

  init(_ db: Database) throws {
    schema = try db.schema()
    rows = try db.executeQuery("SELECT * FROM treasury ORDER BY id").map { row in
      try (0..<3).map { try row[$0] }
    }
  }

  /// Whether all is there still, and nothing else but as many entries of the schema.
  func check(_ db: Database, more: Int) throws {
    let now = try Treasury(db)
    try WrongAnswer.check(now.rows, rows, "the treasury")
    try WrongAnswer.check(Array(now.schema.prefix(schema.count)), schema, "the schema")
    if now.schema.count - schema.count > more {
      throw WrongAnswer(description: "there are \(now.schema.dropFirst(schema.count))")
    }
    try WrongAnswer.check(try db.value("PRAGMA writable_schema", as: Int.self), 0, "a setting")
    let files = try db.executeQuery("SELECT name FROM pragma_database_list").map {
      try $0.get(at: 0, as: String.self)
    }
    try WrongAnswer.check(files.filter { $0 != "temp" }, ["main"], "the list of databases")
  }
}

extension WrongAnswer {
  /// Byte by byte.
  static func check(_ found: String?, _ expected: String, text what: String) throws {
    guard let found, found.utf8.elementsEqual(expected.utf8) else {
      throw WrongAnswer(
        description:
          "\(what) is \(found?.debugDescription ?? "nil"), not \(expected.debugDescription)")
    }
  }
}
