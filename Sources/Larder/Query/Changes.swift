import LarderSQLite

/// The columns of an UPDATE: what is assigned to one is written.
///
/// ```swift
/// try City.filter { $0.id == 5 }.update(db) {
///   $0.population += 1
///   $0.name = "Oslo"
///   $0.mayor = .value(name)
/// }
/// // UPDATE "city" SET "population" = "city"."population" + ?, "name" = ?, "mayor" = ? WHERE …
/// ```
@dynamicMemberLookup
public struct Assignments<R: Record> {
  private let alias: QueryAlias
  private(set) var columns: [String] = []
  private(set) var values: [SQLFragment] = []

  init(_ alias: QueryAlias) { self.alias = alias }

  /// A column: what was assigned to it here, or else its value before the update. To swap two columns,
  /// keep one of them first: `let name = $0.name`.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    // With the table's name: inside of another query, a name alone would be that of its own column.
    get {
      let column = R.columns[keyPath: keyPath].storage
      guard let index = index(of: column.definition) else {
        return column.expression(of: alias)
      }
      let value = values[index]
      // What it is compared with is stored as the column is.
      return SQLExpression(
        column.expressionCoding.map { SQLFragment(.parentheses, value, coding: $0) } ?? value)
    }
    set {
      let column = R.columns[keyPath: keyPath].storage
      let value = newValue.node.coded { column.definition.code?($0) } ?? newValue.node
      if let index = index(of: column.definition) {
        values[index] = value
      } else {
        columns.append(column.definition.name)
        values.append(value)
      }
    }
  }

  private func index(of column: ColumnDefinition) -> Int? {
    columns.firstIndex { $0.isSame(as: column.name) }
  }
}

extension Query where From: Record {
  /// Updates the query's rows and returns their number.
  ///
  /// A column that is marked ``ColumnOption/version`` goes up by one; where one of them is the greatest
  /// that its type has, this throws.
  @discardableResult
  public func update(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> Int {
    guard let update = try assignment(change) else { return 0 }
    return try db.run(update)
  }

  /// Updates the query's rows and returns them as they are then.
  public func updated(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> [From] {
    guard let update = try assignment(change) else { return [] }
    return try From.fetchAll(db, sql: returning(update))
  }

  /// Deletes the query's rows and returns their number.
  @discardableResult
  public func delete(_ db: Database) throws -> Int {
    try db.run(deletion())
  }

  /// Deletes the query's rows and returns them.
  public func deleted(_ db: Database) throws -> [From] {
    try From.fetchAll(db, sql: returning(deletion()))
  }

  private func returning(_ change: SQLFragment) -> SQL {
    let change: SQLFragment = "\(change) RETURNING \(From.table.core.sql.columnList)"
    return change.sql
  }

  /// The UPDATE; nil where nothing is assigned.
  private func assignment(
    _ change: (inout Assignments<From>) -> Void
  ) throws -> SQLFragment? {
    let core = From.table.core
    try core.check()
    var assignments = Assignments<From>(select.tables.alias(at: 0))
    change(&assignments)
    guard !assignments.columns.isEmpty else { return nil }
    var pieces = zip(assignments.columns, assignments.values).map { column, value in
      SQLFragment("\(name: column) = \(value)")
    }
    if let version = core.sql.version.map({ core.columns[$0] }),
      !assignments.columns.contains(where: { $0.isSame(as: version.name) })
    {
      pieces.append("\(name: version.name) = \(RecordSQL.raised(version))")
    }
    return try changing("UPDATE \(select.tables.text) SET \(.list(pieces))")
  }

  private func deletion() throws -> SQLFragment {
    try From.table.core.check()
    return try changing("DELETE FROM \(select.tables.text)")
  }

  /// The statement with a condition for the query's rows: the query's own or, where they are limited,
  /// that their keys are among those that it selects.
  private func changing(_ statement: SQLFragment) throws -> SQLFragment {
    guard !select.isPlain else {
      return select.condition.map { "\(statement) WHERE \($0)" } ?? statement
    }
    guard select.groups == nil, select.groupCondition == nil, !select.isDistinct else {
      throw DatabaseError(.misuse, "rows of a grouped or distinct query can't be changed")
    }
    let core = From.table.core
    try core.checkHasKey()
    let key = core.sql.names(core.sql.key)
    return "\(statement) WHERE (\(key)) IN (\(select.fragment(key)))"
  }
}
