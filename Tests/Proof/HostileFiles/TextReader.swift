import Foundation
import Larder

/// An API that takes a text.
struct TextReader {
  let name: String
  let read: (String) throws -> Void

  init(_ name: String, _ read: @escaping (String) throws -> Void) {
    self.name = name
    self.read = read
  }

  static func all() throws -> [TextReader] {
    let db = try Database()
    try Village.table.create(db)
    try Village.text.create(db)
    var town = Village(id: nil, name: "Oslo")
    try town.insert(db)
    try db.executeStatements(
      "CREATE VIRTUAL TABLE doc USING fts5 (text); INSERT INTO doc VALUES ('a')")
    return values + sql(db) + queries(db) + schemas
  }

  private static var values: [TextReader] {
    [
      TextReader("Decimal") { _ = try Decimal(databaseValue: .text($0)) },
      TextReader("Decimal of digits") { _ = try Decimal(databaseValue: .text("1" + $0)) },
      TextReader("UUID") { _ = try UUID(databaseValue: .text($0)) },
      TextReader("URL") { _ = try URL(databaseValue: .text($0)) },
      TextReader("Int") { _ = try Int(databaseValue: .text($0)) },
      TextReader("date, ISO 8601") { _ = try DateFormat.iso8601.date(from: .text($0)) },
      TextReader("date with a beginning") {
        _ = try DateFormat.iso8601.date(from: .text("2024-02-03T04:05:06" + $0))
      },
    ]
  }

  private static func sql(_ db: Database) -> [TextReader] {
    [
      TextReader("validate") { try db.validate(SQL(raw: $0)) },
      TextReader("statements") { try db.executeStatements(SQL(raw: "SELECT 1;" + $0)) },
      TextReader("a statement and its tail") { try db.executeUpdate(SQL(raw: "SELECT 1; " + $0)) },
      TextReader("a string") { _ = try db.value("SELECT \($0)", as: String.self) },
      TextReader("a literal") { text in
        let literal = "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        _ = try db.value(SQL(raw: "SELECT " + literal), as: String.self)
      },
      TextReader("a name") { _ = try db.value("SELECT 1 AS \(identifier: $0)", as: Int.self) },
      TextReader("a column that isn't there") {
        _ = try db.executeQuery("SELECT 1 AS a").get($0, as: Int.self)
      },
      TextReader("a savepoint") { name in
        try db.inTransaction { db in
          try db.savepoint(name)
          try db.release(name)
        }
      },
      TextReader("a table's name") { _ = try db.tableExists($0) },
      TextReader("the columns of a table") { _ = try db.columns(of: $0) },
      TextReader("a function's name") { try db.createFunction($0, argumentCount: 0) { _ in 1 } },
      TextReader("a collation's name") { try db.removeCollation($0) },
      TextReader("a path") { _ = try Database(path: "/no such folder/" + $0) },
      TextReader("a named argument") {
        try db.executeUpdate("SELECT :a", arguments: [$0: 1, "a": 2])
      },
      TextReader("a constraint's names") { text in
        try db.inTransaction { db in
          db.setRollbackOnly()
          try db.executeUpdate("CREATE TABLE \(identifier: text) (a UNIQUE)")
          for _ in 0..<2 { try db.executeUpdate("INSERT INTO \(identifier: text) VALUES (1)") }
        }
      },
      TextReader("a function's argument and error") { text in
        try db.createFunction("refuse", argumentCount: 1) { arguments in
          throw DatabaseError(code: .error, message: "not \(arguments[0])")
        }
        try db.executeUpdate("SELECT refuse(\(text))")
      },
    ]
  }

  private static func queries(_ db: Database) -> [TextReader] {
    [
      TextReader("a page's cursor") { _ = try Village.all.page(db, after: $0, limit: 3) },
      TextReader("contains") { text in
        _ = try Village.filter { $0.name.contains(text) }.fetchAll(db)
      },
      TextReader("is contained") { text in
        _ = try db.value("SELECT instr(\(text + text), \(text + "!"))", as: Int.self)
      },
      TextReader("hasPrefix") { text in
        _ = try Village.filter { $0.name.hasPrefix(text) }.fetchAll(db)
      },
      TextReader("hasSuffix") { text in
        _ = try Village.filter { $0.name.hasSuffix(text) }.fetchAll(db)
      },
      TextReader("a collation in a query") { text in
        _ = try Village.filter { $0.name.collate(text) == "Oslo" }.fetchAll(db)
      },
      TextReader("full text") { text in
        // FTS5's own parser takes the square of the number of words. (A `FullTextPattern` has 10,000 bytes at most.)
        let start = String(decoding: text.utf8.prefix(1 << 15), as: UTF8.self)
        _ = try db.value("SELECT text FROM doc WHERE doc MATCH \(start)", as: String.self)
      },
      TextReader("a full-text pattern") { text in
        for pattern in [
          FullTextPattern.all(of: text), .any(of: text), .allPrefixes(of: text), .phrase(text),
        ] {
          _ = try Village.matching(Village.text, pattern)
            .select { $0.snippet(\.name, mark: text, "") }.fetchAll(db)
        }
      },
      TextReader("a text in a full-text index") { text in
        try db.inSavepoint { db in
          _ = try Village(id: nil, name: text).inserted(db)
          db.setRollbackOnly()
        }
      },
      TextReader("a tokenizer's name") { text in
        try db.createTokenizer(text) { _, _ in [] }
        try FullTextIndex(
          of: Village.self, \.name, named: "words",
          tokenizer: FullTextTokenizer(stringLiteral: text + "?")
        ).create(db)
      },
      TextReader("a path in JSON") {
        _ = try db.value("SELECT json_extract('{\"a\":1}', \($0))", as: DatabaseValue.self)
      },
      TextReader("JSON") { _ = try db.value("SELECT json(\($0))", as: DatabaseValue.self) },
    ]
  }

  /// Texts that a file has as its schema.
  private static var schemas: [TextReader] {
    [
      schema("a column's name") { "CREATE TABLE t (\($0.quoted) INTEGER)" },
      schema("a default") { "CREATE TABLE t (a DEFAULT '\($0.doubled)')" },
      schema("a check") { "CREATE TABLE t (a, CHECK (a <> '\($0.doubled)'))" },
      schema("a comment") {
        "CREATE TABLE t (a /* \($0.replacingOccurrences(of: "*/", with: "")) */)"
      },
      schema("a type") { "CREATE TABLE t (a \($0.quoted))" },
    ]
  }

  private static func schema(_ name: String, _ make: @escaping (String) -> String) -> TextReader {
    TextReader("the schema: " + name) { text in
      let db = try Database()
      try db.executeUpdate(SQL(raw: make(text.replacingOccurrences(of: "\0", with: "0"))))
      _ = try Schema(db)
      _ = try Village.table.differences(db)
    }
  }
}

extension String {
  fileprivate var doubled: String { replacingOccurrences(of: "'", with: "''") }
  fileprivate var quoted: String {
    "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }
}

private struct Village: Record {
  var id: Int64?
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \Village.id, .primaryKey)
    let name = Column("name", \Village.name)
  }
  static let columns = Columns()
  static let table = Table("village", Village.init, columns.id, columns.name)
  static let text = FullTextIndex(of: Village.self, \.name, tokenizer: .bigram)
}
