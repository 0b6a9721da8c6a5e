import LarderSQLite

/// The tables, views and triggers of a database as values: found in a database, or declared by a program.
///
/// ```swift
/// let declared = try Schema(City.self, Country.self)
/// let found = try Schema(db)
/// for difference in declared.differences(from: found) { print(difference) }
/// // “city”.“mayor”: declared "mayor" TEXT, found nothing
/// for step in declared.steps(from: found) { print(step) }
/// // add the column “mayor” to “city”: ALTER TABLE "city" ADD COLUMN "mayor" TEXT
/// ```
public struct Schema: Hashable, Sendable {
  /// The ordinary tables.
  public var tables: [TableSchema]
  /// The virtual tables (of the kind `table`, such as full-text indexes) and the tables that their triggers
  /// write to; then the views; then the triggers. Entries are sorted into that order. Entries of other kinds,
  /// such as the tables in which virtual ones keep their contents, are left out.
  public var others: [SchemaEntry] { didSet { others = Self.ordered(others) } }

  /// False for the schema of records in a server's spelling. Views, triggers and indexes that no record can
  /// declare are then left to migrations.
  private(set) var isWhole = true

  /// The views that records read. The records' schema needs these views but doesn't make them.
  private(set) var views: [String] = []

  /// A schema of these tables, and of views, triggers and virtual tables in any order.
  public init(tables: [TableSchema], others: [SchemaEntry] = []) {
    self.tables = tables
    self.others = Self.ordered(others)
  }

  /// Sorts entries so that each comes before those that may refer to it.
  private static func ordered(_ entries: [SchemaEntry]) -> [SchemaEntry] {
    // Virtual tables are few: this doesn't search a schema of many tables for each entry.
    let virtual = entries.filter(\.isVirtualTable)
    return virtual
      + entries.filter { entry in
        entry.kind == .table && virtual.contains { $0.keepsReplacedRows(in: entry.name) }
      } + entries.filter { $0.kind == .view } + entries.filter { $0.kind == .trigger }
  }

  /// The schema of a database: of SQLite its `main` one, in the order of creation. SQLite's own tables and those of virtual
  /// tables are left out. Throws ``LarderSQLite/DatabaseError`` if the database can't be read.
  ///
  /// For another engine, the schema has the tables, views and triggers of the first schema of the search path,
  /// in the server's spelling. A materialized view is one of ``others``, whose SQL says so. Objects of
  /// extensions are left out.
  ///
  /// - `schemas`: further schemas (namespaces) to read: those that records' tables name. On SQLite, these are
  ///   the names of attached databases.
  public init(_ db: Database, schemas: [String] = []) throws {
    self = try db.inSavepoint { db in
      guard db.engine != nil else {
        let read = try (["main"] + schemas).map { try Self.read(db, $0) }
        return Schema(tables: read.flatMap(\.tables), others: read.flatMap(\.others))
      }
      let current = try db.value("SELECT current_schema()::text", as: String.self)
      // The current schema isn't read twice.
      let first: [String?] = schemas.contains { $0 == current } ? [] : [nil]
      let read = try (first + schemas).map { schema in
        let entries = try schema.map { try db.schema(of: $0) } ?? db.schema()
        let names = entries.filter { $0.kind == .table }.map(\.name)
        let tables = try names.compactMap { try TableSchema.found($0, in: db, schema: schema) }
        return Schema(tables: tables, others: entries)
      }
      return Schema(tables: read.flatMap(\.tables), others: read.flatMap(\.others))
    }
  }

  /// The tables and other objects of SQLite's main database, or an attached one.
  private static func read(_ db: Database, _ schema: String) throws -> Schema {
    let names = try db.executeQuery(
      """
      SELECT s.name FROM \(identifier: schema).sqlite_schema AS s JOIN pragma_table_list AS l
        ON l.schema = \(schema) COLLATE NOCASE AND l.name = s.name AND l.type = 'table'
      WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid
      """
    ).map { try $0.get(at: 0, as: String.self) }
    let entries = try db.schema(of: schema)
    let virtual = entries.filter(\.isVirtualTable)
    let ordinary = names.filter { name in !virtual.contains { $0.keepsReplacedRows(in: name) } }
    let tables = try ordinary.compactMap { try TableSchema.found($0, in: db, schema: schema) }
    return Schema(tables: tables, others: entries)
  }

  /// The tables that records declare. Throws ``RecordError/declaration(table:problem:)`` for a wrong one. A
  /// view that a record reads only has to exist; to compare or create its definition, add it to ``others``.
  ///
  /// - `dateFormat`: the connection's ``LarderSQLite/Configuration/dateFormat``.
  public init(_ records: any Record.Type..., dateFormat: DateFormat = .secondsSince1970) throws {
    try self.init(records) { try $0.schema(dateFormat: dateFormat, in: SQLiteDialect()) }
  }

  /// The tables that records declare, in the spelling of a database's engine, for a comparison with that
  /// database. Throws what ``Table/differences(_:strictly:)`` does.
  public init(_ records: any Record.Type..., in db: Database) throws {
    try self.init(records) { try $0.schema(in: db) }
    isWhole = db.engine == nil
  }

  private init(_ records: [any Record.Type], _ schema: (TableCore) throws -> TableSchema) throws {
    self.init(tables: [])
    for core in records.map({ $0.core }) {
      try core.check()
      if core.isInState(.view) { views.append(core.name) } else { tables.append(try schema(core)) }
    }
  }

  /// The table with this name, compared case-insensitively; on another engine, where two names may differ in
  /// case only, exactly.
  public func table(_ name: String) -> TableSchema? {
    tables.first { $0.key($0.name) == $0.key(name) }
  }

  /// The table with the name and schema of another one.
  func table(like other: TableSchema) -> TableSchema? {
    tables.first { table in
      table.key(table.name) == table.key(other.name)
        && (table.schema == other.schema || table.schema == nil && other.isInCurrentSchema
          || other.schema == nil && table.isInCurrentSchema)
    }
  }

  /// The ways another schema, usually a database's, differs from this one. Order is ignored.
  ///
  /// - `strictly`: whether to report differences of wording too; see ``TableDifference/isNote``.
  public func differences(from other: Schema, strictly: Bool = false) -> [TableDifference] {
    tables.flatMap {
      $0.differences(from: other.table(like: $0), strictly: strictly, wholly: isWhole)
    }
      + missingViews(in: other)
      + other.surplusTables(for: self).map {
        TableDifference(kind: .table, table: $0.fullName, found: $0.sql)
      }
      + others.filter { !other.others.contains(where: $0.isSame) }.map {
        TableDifference(
          kind: $0.differenceKind, table: $0.name, declared: $0.sql,
          found: other.others.first(where: $0.hasSameName)?.sql)
      }
      + surplusEntries(of: other).map {
        TableDifference(kind: $0.differenceKind, table: $0.name, found: $0.sql)
      }
  }

  /// The entries of another schema that this one would have to have.
  private func surplusEntries(of other: Schema) -> [SchemaEntry] {
    guard isWhole else { return [] }
    return other.others.filter { !others.contains(where: $0.hasSameName) && !isRead($0.name) }
  }

  /// The tables that another schema doesn't declare, without Larder's own bookkeeping.
  func surplusTables(for declared: Schema) -> [TableSchema] {
    tables.filter {
      declared.table(like: $0) == nil && !Self.isBookkeeping($0.name) && !declared.isRead($0.name)
    }
  }

  package static func isBookkeeping(_ name: String) -> Bool {
    BookkeepingTables.all.contains { name.foldedName == $0.foldedName }
  }

  /// Whether a table has the history of migrations of another program than Larder.
  package static func isHistoryOfOthers(_ name: String) -> Bool {
    BookkeepingTables.ofOtherTools.contains(name.folded)
  }
}
