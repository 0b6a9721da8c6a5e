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
  private(set) var values: [SQLNode] = []

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
        return column.expression(behind: alias)
      }
      let value = values[index]
      // What it is compared with is stored as the column is.
      return SQLExpression(
        column.expressionCoding.map { WrappedNode("(", value, ")", coding: $0) } ?? value)
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
    guard let sql = try updateSQL(change) else { return 0 }
    return try db.executeUpdate(sql, arguments: Arguments())
  }

  /// Updates the query's rows and returns them as they are then.
  public func updated(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> [From] {
    guard let sql = try updateSQL(change) else { return [] }
    return try From.fetchAll(db, sql: returning(sql))
  }

  /// Deletes the query's rows and returns their number.
  @discardableResult
  public func delete(_ db: Database) throws -> Int {
    try db.executeUpdate(try deleteSQL(), arguments: Arguments())
  }

  /// Deletes the query's rows and returns them.
  public func deleted(_ db: Database) throws -> [From] {
    try From.fetchAll(db, sql: returning(try deleteSQL()))
  }

  private func returning(_ sql: SQL) -> SQL {
    SQL("", sql, " RETURNING \(From.table.core.sql.columnList)")
  }

  func updateSQL(_ change: (inout Assignments<From>) -> Void) throws -> SQL? {
    let core = From.table.core
    try core.check()
    var assignments = Assignments<From>(select.tables.alias(at: 0))
    change(&assignments)
    guard !assignments.columns.isEmpty else { return nil }
    var pieces = zip(assignments.columns, assignments.values).map {
      SQL("\($0.quotedIdentifier) = ", $1.sql, "")
    }
    if let version = core.sql.version.map({ core.columns[$0] }),
      !assignments.columns.contains(where: { $0.isSame(as: version.name) })
    {
      pieces.append(
        SQL(raw: "\(version.name.quotedIdentifier) = \(RecordSQL.raised(version))"))
    }
    return try changing(SQL("UPDATE \(target) SET ", SQL(pieces, separator: ", "), ""))
  }

  func deleteSQL() throws -> SQL {
    try From.table.core.check()
    return try changing(SQL(raw: "DELETE FROM \(target)"))
  }

  private var target: String { select.tables.text.sql.text }

  /// Adds what tells the rows: the condition or, where they are limited, their keys.
  private func changing(_ statement: SQL) throws -> SQL {
    var sql = statement
    guard !select.isPlain else {
      if let condition = select.condition { sql.append(" WHERE ", condition.sql) }
      return sql
    }
    guard select.groups == nil, select.groupCondition == nil, !select.isDistinct else {
      throw DatabaseError(.misuse, "rows of a grouped or distinct query can't be changed")
    }
    let core = From.table.core
    try core.checkHasKey()
    let key = core.primaryKey.map(\.name.quotedIdentifier).joined(separator: ", ")
    sql.append(" WHERE (\(key)) IN (", select.sql(TextNode(SQL(raw: key))))
    sql.text += ")"
    return sql
  }
}
