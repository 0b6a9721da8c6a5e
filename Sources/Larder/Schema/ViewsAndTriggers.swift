import LarderSQLite

// Views, triggers and virtual tables: what a schema has besides tables.

extension SchemaEntry {
  /// A view to be created: a query with a name.
  ///
  /// ```swift
  /// try SchemaEntry.view("large", as: "SELECT name FROM city WHERE population > \(1_000_000)")
  ///   .create(db)
  /// ```
  ///
  /// Interpolated values are written into the text, since views have no parameters; dates, and what is
  /// computed from them, in the format of connections that is given. Throws
  /// ``LarderSQLite/ConversionError`` for values that SQL can't express, and
  /// `RecordError.declaration` for a name that is empty or holds a NUL. See
  /// [CREATE VIEW](https://www.sqlite.org/lang_createview.html).
  public static func view(
    _ name: String, columns: [String] = [], as query: SQL,
    dateFormat: DateFormat = .secondsSince1970
  ) throws -> SchemaEntry {
    let text = try query.literalText(dateFormat: dateFormat)
    return try declared(
      .view, name, table: name, DDL.createView(name, columns: columns, as: text))
  }

  /// A trigger to be created.
  ///
  /// ```swift
  /// try SchemaEntry.trigger(
  ///   "city_log", "AFTER UPDATE OF population", on: "city", when: "new.population > 0",
  ///   run: "INSERT INTO log (text) VALUES (new.name)"
  /// ).create(db)
  /// ```
  ///
  /// Interpolated values are written into the text, dates in the format of connections that is given.
  /// Throws what ``view(_:columns:as:dateFormat:)`` does. See
  /// [CREATE TRIGGER](https://www.sqlite.org/lang_createtrigger.html).
  ///
  /// - `event`: BEFORE, AFTER or INSTEAD OF, and DELETE, INSERT or UPDATE, which may name columns.
  /// - `condition`: an expression over `old` and `new`; runs for every row if nil.
  /// - `statements`: each INSERT, UPDATE, DELETE or SELECT.
  public static func trigger(
    _ name: String, _ event: SQL, on table: String, when condition: SQL? = nil,
    run statements: SQL..., dateFormat: DateFormat = .secondsSince1970
  ) throws -> SchemaEntry {
    func text(_ sql: SQL) throws -> String { try sql.literalText(dateFormat: dateFormat) }
    return try declared(
      .trigger, name, table: table,
      DDL.createTrigger(
        name, event.literalText(), on: table, when: condition.map(text), statements.map(text)))
  }

  /// A virtual table to be created, such as one for full-text search.
  ///
  /// ```swift
  /// try SchemaEntry.virtualTable("article_text", using: "fts5(title, body, content='article')")
  ///   .create(db)
  /// ```
  ///
  /// Interpolated values are written into the text. Throws what
  /// ``view(_:columns:as:dateFormat:)`` does. See
  /// [CREATE VIRTUAL TABLE](https://www.sqlite.org/lang_createvtab.html) and
  /// [FTS5](https://www.sqlite.org/fts5.html).
  public static func virtualTable(_ name: String, using module: SQL) throws -> SchemaEntry {
    try declared(
      .table, name, table: name, DDL.createVirtualTable(name, using: module.literalText()))
  }

  private static func declared(
    _ kind: Kind, _ name: String, table: String, _ sql: String
  ) throws -> SchemaEntry {
    if [name, table].contains(where: { $0.isEmpty || $0.utf8.contains(0) }) {
      throw RecordError.declaration(table: name, problem: "its name is empty or holds a NUL")
    }
    return SchemaEntry(kind: kind, name: name, table: table, sql: sql)
  }

  /// Runs the statement that makes it.
  ///
  /// Throws `SchemaError.notItsStatement` where its text, which a file may have kept, is
  /// another, and ``LarderSQLite/DatabaseError`` where it is there, or more stands behind its
  /// statement (`ResultCode.misuse`).
  ///
  /// - `ifNotExists`: whether one of this kind and name that is there is no error, whatever
  ///   it says (see `Schema`).
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    guard let sql else {
      throw DatabaseError(.misuse, "“\(name)” is SQLite's own, and made with its table")
    }
    if ifNotExists, try db.schema().contains(where: hasSameName) { return }
    try db.create(kind, name, of: kind == .index || kind == .trigger ? table : nil, by: sql)
  }

  /// Drops it. Throws ``LarderSQLite/DatabaseError`` where it isn't there.
  ///
  /// - `ifExists`: whether one that isn't there is no error.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try db.drop(kind, name, ifExists: ifExists)
  }

  func hasSameName(as other: SchemaEntry) -> Bool {
    kind == other.kind && name.foldedName == other.name.foldedName
  }

  /// Whether another says the same.
  func isSame(as other: SchemaEntry) -> Bool {
    hasSameName(as: other) && (sql ?? "").normalizedSQL == (other.sql ?? "").normalizedSQL
  }

  /// What the table's name ends with in which the triggers of a full-text index write down the rows that others
  /// take the place of.
  static let replacedRows = "_replaced"

  /// Whether that is the table of this full-text index.
  package func keepsReplacedRows(in table: String) -> Bool {
    // Each is asked about each: what is cheap comes first.
    table.utf8.count == name.utf8.count + Self.replacedRows.utf8.count
      && table.foldedName == (name + Self.replacedRows).foldedName && isVirtualTable
  }

  package var isVirtualTable: Bool {
    kind == .table && sql?.sqlTokens.dropFirst().first?.isWord("virtual") == true
  }

  /// Whether its statement names a table, or anything else, of this name.
  func names(_ name: String) -> Bool {
    sql?.sqlTokens.contains { $0.name?.foldedName == name.foldedName } ?? false
  }

  /// What its differences are called.
  var differenceKind: TableDifference.Kind {
    switch kind {
    case .view: .view
    case .trigger: .trigger
    case .index: .index
    case .table: isVirtualTable ? .virtualTable : .table
    }
  }
}
