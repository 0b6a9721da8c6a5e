import LarderSQLite

/// One step of those that change a database's schema to what is declared; see
/// ``Schema/steps(from:)``.
public struct SchemaStep: Hashable, Sendable {
  enum Action: Hashable, Sendable {
    case execute(String)
    case create(SchemaEntry)
    case addColumn(to: String, sql: String)
    case rebuild(TableSchema, losing: RebuildLosses)
  }

  /// What it does, in words.
  public let summary: String
  /// Whether something of the database is gone afterwards: rows, the values of a column, row ids that
  /// a virtual table knows, or a view, trigger or index that isn't made anew.
  public let isDestructive: Bool
  let action: Action

  init(_ summary: String, isDestructive: Bool = false, _ action: Action) {
    self.summary = summary
    self.isDestructive = isDestructive
    self.action = action
  }

  init(_ summary: String, isDestructive: Bool = false, _ sql: String) {
    self.init(summary, isDestructive: isDestructive, .execute(sql))
  }

  /// The statement; nil for a rebuild, which is several (``TableSchema/rebuild(_:copying:losing:)``).
  public var sql: String? {
    switch action {
    case .execute(let sql), .addColumn(_, let sql): sql
    case .create(let entry): entry.sql
    case .rebuild: nil
    }
  }

  /// Does it. Steps belong into one transaction, with foreign keys off where tables are rebuilt or
  /// dropped: into a migration.
  ///
  /// A rebuild copies what has the same name, and loses no rows and no values but those that its
  /// summary names; where the new table needs values that the old one doesn't have, or its types would
  /// change some (see ``SchemaError/changesValues(table:column:count:rows:)``), it throws, and has to
  /// be written by hand.
  public func run(_ db: Database) throws {
    switch action {
    case .execute(let sql): try db.executeUpdate(SQL(raw: sql))
    case .create(let entry): try entry.create(db)
    case .addColumn(let table, let sql):
      try db.keepingDependents(of: table) { try $0.executeUpdate(SQL(raw: sql)) }
    case .rebuild(let table, let losing): try table.rebuild(db, losing: losing)
    }
  }
}

extension SchemaStep: CustomStringConvertible {
  /// One line with the statement, and a mark if it is destructive.
  public var description: String {
    (isDestructive ? "DESTRUCTIVE: " : "") + summary + (sql.map { ": \($0)" } ?? "")
  }
}
