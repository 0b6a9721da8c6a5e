import LarderSQLite

/// The tables, views and triggers of a database as values: those that it has, or those that a
/// program declares.
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
  /// The virtual tables, such as those of full-text search, whose kind is `table`, with what their triggers write
  /// down; then the views; then the triggers. They are brought into that order, and entries of other kinds are left out, such as the
  /// tables that virtual ones keep their contents in.
  public var others: [SchemaEntry] {
    didSet { others = Self.ordered(others) }
  }

  /// The views that records read, which the schema of these records needs but doesn't make.
  private(set) var views: [String] = []

  /// A schema of these tables, and of views, triggers and virtual tables in any order.
  public init(tables: [TableSchema], others: [SchemaEntry] = []) {
    self.tables = tables
    self.others = Self.ordered(others)
  }

  /// Whatever is made before what may refer to it.
  private static func ordered(_ entries: [SchemaEntry]) -> [SchemaEntry] {
    // There are few of them: a schema of many tables isn't gone through for each of these.
    let virtual = entries.filter(\.isVirtualTable)
    return virtual
      + entries.filter { entry in
        entry.kind == .table && virtual.contains { $0.keepsReplacedRows(in: entry.name) }
      } + entries.filter { $0.kind == .view }
      + entries.filter { $0.kind == .trigger }
  }

  /// The `main` schema of a database, in the order in which things were made. SQLite's own tables
  /// and those of virtual tables are left out. Throws ``LarderSQLite/DatabaseError`` where the database
  /// can't be read. Of another engine it is the tables of the first schema of the path: views and triggers, of
  /// which only the server knows whether they say the same, are for migrations alone.
  public init(_ db: Database) throws {
    self = try db.inSavepoint { db in
      if db.engine != nil {
        let names = try db.schema().filter { $0.kind == .table }.map(\.name)
        return Schema(tables: try names.compactMap { try TableSchema.found($0, in: db) })
      }
      let names = try db.executeQuery(
        """
        SELECT s.name FROM main.sqlite_schema AS s JOIN pragma_table_list AS l
          ON l.schema = 'main' AND l.name = s.name AND l.type = 'table'
        WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid
        """
      ).map { try $0.get(at: 0, as: String.self) }
      let entries = try db.schema()
      let virtual = entries.filter(\.isVirtualTable)
      let ordinary = names.filter { name in
        !virtual.contains { $0.keepsReplacedRows(in: name) }
      }
      return Schema(
        tables: try ordinary.compactMap { try TableSchema.found($0, in: db, schema: "main") },
        others: entries)
    }
  }

  /// The tables that records declare. Throws ``RecordError/declaration(table:problem:)`` where one is
  /// declared wrongly. Of a record's view it is known that it has to be there: what it says is one of ``others``,
  /// if it is to be compared or created.
  ///
  /// - `dateFormat`: the connection's ``LarderSQLite/Configuration/dateFormat``.
  public init(
    _ records: any Record.Type..., dateFormat: DateFormat = .secondsSince1970
  ) throws {
    func schema<R: Record>(_ type: R.Type) throws -> TableSchema {
      try R.table.schema(dateFormat: dateFormat)
    }
    try self.init(records) { try schema($0) }
  }

  /// The tables that records declare, as a database's engine writes them, to be compared with what that
  /// database has. Throws what ``Table/differences(_:strictly:)`` does.
  public init(_ records: any Record.Type..., in db: Database) throws {
    func schema<R: Record>(_ type: R.Type) throws -> TableSchema { try R.table.schema(in: db) }
    try self.init(records) { try schema($0) }
  }

  private init(
    _ records: [any Record.Type], _ schema: (any Record.Type) throws -> TableSchema
  ) throws {
    func view<R: Record>(_ type: R.Type) throws -> String? {
      try R.table.core.check()
      return R.table.core.isInState(.view) ? R.table.name : nil
    }
    var tables: [TableSchema] = []
    var views: [String] = []
    for record in records {
      if let view = try view(record) {
        views.append(view)
      } else {
        tables.append(try schema(record))
      }
    }
    self.init(tables: tables)
    self.views = views
  }

  /// The table of this name, in any case.
  public func table(_ name: String) -> TableSchema? {
    tables.first { $0.name.foldedName == name.foldedName }
  }

  /// In what another schema, mostly that of a database, isn't what is declared here, in any order
  /// of the tables and columns.
  ///
  /// - `strictly`: whether to tell, too, what is only written otherwise; see ``TableDifference/isNote``.
  public func differences(from other: Schema, strictly: Bool = false) -> [TableDifference] {
    func difference(
      _ kind: TableDifference.Kind, _ name: String, _ declared: String?, _ found: String?
    ) -> TableDifference {
      TableDifference(kind: kind, table: name, column: nil, declared: declared, found: found)
    }
    return tables.flatMap { $0.differences(from: other.table($0.name), strictly: strictly) }
      + missingViews(in: other)
      + other.surplusTables(for: self).map { difference(.table, $0.name, nil, $0.sql) }
      + others.filter { !other.others.contains(where: $0.isSame) }.map { entry in
        let found = other.others.first(where: entry.hasSameName)
        return difference(entry.differenceKind, entry.name, entry.sql, found?.sql)
      }
      + other.others.filter { !others.contains(where: $0.hasSameName) && !isRead($0.name) }
      .map { difference($0.differenceKind, $0.name, nil, $0.sql) }
  }

  /// The tables that another schema doesn't declare; the migrator's bookkeeping is nobody's.
  func surplusTables(for declared: Schema) -> [TableSchema] {
    tables.filter {
      declared.table($0.name) == nil && !Self.isBookkeeping($0.name) && !declared.isRead($0.name)
    }
  }

  /// Whether a table is one that Larder keeps for itself: the migrations' history, commit tokens, and the identity of a
  /// database that is copied.
  package static func isBookkeeping(_ name: String) -> Bool {
    ["larder_migration", "larder_commit", DatabaseIdentity.table].contains {
      name.foldedName == $0.foldedName
    }
  }
}
