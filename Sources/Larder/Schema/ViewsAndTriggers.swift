import LarderSQLite

// Views, triggers and virtual tables: the parts of a schema besides tables.

extension SchemaEntry {
  /// A view to create: a named query.
  ///
  /// ```swift
  /// try SchemaEntry.view("large", as: "SELECT name FROM city WHERE population > \(1_000_000)")
  ///   .create(db)
  /// ```
  ///
  /// Interpolated values are written into the text, since views have no parameters. Dates, and values
  /// computed from them, are written in `dateFormat`, which should be the connections'. Throws
  /// ``LarderSQLite/ConversionError`` for values that SQL can't express, and `RecordError.declaration` for a
  /// name that is empty or holds a NUL. See [CREATE VIEW](https://www.sqlite.org/lang_createview.html).
  ///
  /// - `materialized`: whether PostgreSQL stores the query's rows, until ``refresh(_:concurrently:)``. SQLite
  ///   has no such views. See [Materialized
  ///   Views](https://www.postgresql.org/docs/current/rules-materializedviews.html).
  public static func view(
    _ name: String, columns: [String] = [], materialized: Bool = false, as query: SQL,
    dateFormat: DateFormat = .secondsSince1970
  ) throws -> SchemaEntry {
    let text = try query.literalText(dateFormat: dateFormat)
    return try declared(
      .view, name, table: name,
      DDL.createView(name, columns: columns, isMaterialized: materialized, as: text))
  }

  /// A trigger to create.
  ///
  /// ```swift
  /// try SchemaEntry.trigger(
  ///   "city_log", "AFTER UPDATE OF population", on: "city", when: "new.population > 0",
  ///   run: "INSERT INTO log (text) VALUES (new.name)"
  /// ).create(db)
  /// ```
  ///
  /// Interpolated values are written into the text; dates are written in `dateFormat`, which should be the
  /// connections'. Throws what ``view(_:columns:materialized:as:dateFormat:)`` does. See [CREATE
  /// TRIGGER](https://www.sqlite.org/lang_createtrigger.html).
  ///
  /// - `event`: BEFORE, AFTER or INSTEAD OF, then DELETE, INSERT or UPDATE, which may name columns.
  /// - `condition`: an expression over `old` and `new`; if nil, the trigger runs for every row.
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

  /// A virtual table to create, such as one for full-text search.
  ///
  /// ```swift
  /// try SchemaEntry.virtualTable("article_text", using: "fts5(title, body, content='article')")
  ///   .create(db)
  /// ```
  ///
  /// Interpolated values are written into the text. Throws what ``view(_:columns:materialized:as:dateFormat:)`` does. See
  /// [CREATE VIRTUAL TABLE](https://www.sqlite.org/lang_createvtab.html).
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

  /// Runs the query of a materialized view again, and stores its rows.
  ///
  /// ```swift
  /// let totals = try SchemaEntry.view("totals", materialized: true, as: "SELECT sum(area) FROM city")
  /// try totals.refresh(db)
  /// ```
  ///
  /// Throws ``LarderSQLite/UnsupportedByEngine`` on SQLite, and ``LarderSQLite/DatabaseError`` if the
  /// database has no such view. See [REFRESH MATERIALIZED
  /// VIEW](https://www.postgresql.org/docs/current/sql-refreshmaterializedview.html).
  ///
  /// - `concurrently`: whether others can read the view meanwhile. This takes longer, and needs a unique index
  ///   on columns of the view.
  public func refresh(_ db: Database, concurrently: Bool = false) throws {
    try Self.checkCanMaterialize(db)
    let option: SQL = concurrently ? "CONCURRENTLY " : ""
    try db.executeUpdate("REFRESH MATERIALIZED VIEW \(option)\(identifier: name)")
  }

  private static func checkCanMaterialize(_ db: Database) throws {
    guard db.engine == nil else { return }
    // A connection that can't be used says so first.
    try db.connection.check()
    throw UnsupportedByEngine(engine: "SQLite", feature: "a materialized view")
  }

  /// Creates the object by its statement.
  ///
  /// Throws `SchemaError.notItsStatement` if its text, which a file may have kept, is another statement, and
  /// ``LarderSQLite/DatabaseError`` if the object exists or the text has several (`ResultCode.misuse`).
  ///
  /// - `ifNotExists`: whether an object of this kind and name is accepted, whatever its definition.
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    try create(db, in: nil, ifNotExists: ifNotExists)
  }

  /// The same for a statement that may name the object's schema.
  func create(_ db: Database, in schema: String?, ifNotExists: Bool = false) throws {
    guard let sql else {
      throw DatabaseError(.misuse, "SQLite creates “\(name)” itself, together with its table")
    }
    if isMaterialized { try Self.checkCanMaterialize(db) }
    if ifNotExists, try db.schema().contains(where: hasSameName) { return }
    try db.create(
      kind, name, in: schema, of: kind == .index || kind == .trigger ? table : nil, by: sql)
  }

  /// Drops the object. Throws ``LarderSQLite/DatabaseError`` if it doesn't exist.
  ///
  /// - `ifExists`: whether a missing object is accepted.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try db.executeStatements(SQL(raw: dropStatement(ifExists: ifExists)))
  }

  /// Whether the entry is a view whose rows the server stores.
  var isMaterialized: Bool {
    kind == .view && sql?.sqlTokens.dropFirst().first?.isWord("materialized") == true
  }

  /// The statement that drops the object.
  func dropStatement(ifExists: Bool = false) -> String {
    // A server's trigger calls a function, and has a name of its own only beside its table's.
    let isServers =
      kind == .trigger && sql?.sqlTokens.contains { $0.isWord("execute") } == true
    return DDL.drop(kind, name, isMaterialized: isMaterialized, ifExists: ifExists)
      + (isServers ? " ON \(table.quotedIdentifier)" : "")
  }

  func hasSameName(as other: SchemaEntry) -> Bool {
    kind == other.kind && name.foldedName == other.name.foldedName
  }

  func isSame(as other: SchemaEntry) -> Bool {
    hasSameName(as: other) && (sql ?? "").normalizedSQL == (other.sql ?? "").normalizedSQL
  }

  /// The triggers of a full-text index write rows that others replace to the table `<index>_replaced`.
  static let replacedRows = "_replaced"

  /// Whether a table is the one for replaced rows of this full-text index.
  package func keepsReplacedRows(in table: String) -> Bool {
    // Every entry is tested with every other one, so the cheap tests come first.
    table.utf8.count == name.utf8.count + Self.replacedRows.utf8.count
      && table.foldedName == (name + Self.replacedRows).foldedName && isVirtualTable
  }

  package var isVirtualTable: Bool {
    kind == .table && sql?.sqlTokens.dropFirst().first?.isWord("virtual") == true
  }

  /// Whether the entry's statement contains this name, as a table's or anything else's.
  func names(_ name: String) -> Bool {
    sql?.sqlTokens.contains { $0.name?.foldedName == name.foldedName } ?? false
  }

  var differenceKind: TableDifference.Kind {
    switch kind {
    case .view: .view
    case .trigger: .trigger
    case .index: .index
    case .table: isVirtualTable ? .virtualTable : .table
    }
  }
}
