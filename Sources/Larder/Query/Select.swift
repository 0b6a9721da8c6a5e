import LarderSQLite

/// A table's name in a query.
@usableFromInline
final class QueryAlias: Sendable {
  let name: String
  /// The name quoted, with the dot.
  let prefix: String
  /// How the columns are stored, where the table is no record's.
  let codings: [ExpressionCoding?]

  @usableFromInline static let none = QueryAlias("")

  init(_ name: String, codings: [ExpressionCoding?] = []) {
    self.name = name
    self.codings = codings
    prefix = name.quotedIdentifier + "."
  }

  /// The table with this name, as it stands behind FROM.
  func definition(of table: String) -> String {
    let quoted = table.quotedIdentifier
    return name.isSame(as: table) ? quoted : "\(quoted) AS \(name.quotedIdentifier)"
  }
}

/// The tables of a query.
@usableFromInline
final class QueryTables: Sendable {
  /// The tables with their joins, as they stand behind FROM.
  let text: SQLNode
  /// The tables' names in order.
  @usableFromInline let aliases: [QueryAlias]
  /// All columns, where a record's table under its own name is the only one.
  @usableFromInline let ownColumns: SQLNode?

  init(_ text: SQLNode, _ aliases: [QueryAlias], ownColumns: SQLNode? = nil) {
    self.text = text
    self.aliases = aliases
    self.ownColumns = ownColumns
  }

  /// The name of a table; an empty one where somebody asks for more tables than there are.
  @inlinable
  func alias(at index: Int) -> QueryAlias {
    index < aliases.count ? aliases[index] : .none
  }

  /// A name for another table that none of these has.
  func newAlias(for table: String, _ codings: [ExpressionCoding?]) -> QueryAlias {
    var alias = table
    var number = 2
    let taken = Set(aliases.map(\.name.foldedName))
    while taken.contains(alias.foldedName) {
      alias = "\(table)_\(number)"
      number += 1
    }
    return QueryAlias(alias, codings: codings)
  }
}

/// The clauses of a SELECT apart from its columns.
@usableFromInline
struct Select: Sendable {
  @usableFromInline var tables: QueryTables
  var condition: SQLNode?
  /// The terms of GROUP BY.
  var groups: SQLNode?
  var groupCondition: SQLNode?
  /// The terms of ORDER BY.
  var order: SQLNode?
  var limit: Int?
  var offset = 0
  var isDistinct = false

  /// A query of one table, under its own name or another.
  init(table: String, as alias: String? = nil) {
    let alias = QueryAlias(alias ?? table)
    self.init(QueryTables(TextNode(SQL(raw: alias.definition(of: table))), [alias]))
  }

  init(_ tables: QueryTables) {
    self.tables = tables
  }

  // MARK: The statement

  /// Calls a closure with each clause in order: its words, and what follows them.
  @inline(__always)
  private func forEachClause(
    _ columns: SQLNode, _ body: (StaticString, SQLNode?) throws -> Void
  ) rethrows {
    try body(isDistinct ? "SELECT DISTINCT " : "SELECT ", columns)
    try body(" FROM ", tables.text)
    // Not by `if let`, which would count a reference.
    if condition != nil { try body(" WHERE ", condition) }
    if groups != nil { try body(" GROUP BY ", groups) }
    if groupCondition != nil { try body(" HAVING ", groupCondition) }
    if order != nil { try body(" ORDER BY ", order) }
    if isLimited { try body(" LIMIT ?", nil) }
    if offset > 0 { try body(" OFFSET ?", nil) }
  }

  /// How many rows to make room for: as many as a limit allows, if those are few.
  @usableFromInline var expectedRowCount: Int { limit.map { min($0, 64) } ?? 0 }

  private var isLimited: Bool { limit != nil || offset > 0 }

  /// What is known of the statement before it is written.
  func measured(_ columns: SQLNode) -> AssembledSQL {
    var byteCount = 0
    var valueCount = (isLimited ? 1 : 0) + (offset > 0 ? 1 : 0)
    var isCacheable = true
    forEachClause(columns) { words, part in
      byteCount += words.byteCount + (part?.byteCount ?? 0)
      valueCount += part?.valueCount ?? 0
      isCacheable = isCacheable && part?.isCacheable ?? true
    }
    return AssembledSQL(byteCount: byteCount, valueCount: valueCount, isCacheable: isCacheable)
  }

  func write(_ columns: SQLNode, to writer: inout TextWriter) {
    forEachClause(columns) { words, part in
      writer.append(words)
      part?.write(to: &writer)
    }
  }

  func bind(_ columns: SQLNode, to writer: inout ArgumentWriter) throws {
    try forEachClause(columns) { _, part in try part?.bind(to: &writer) }
    if isLimited { try writer.append(limit ?? -1) }
    if offset > 0 { try writer.append(offset) }
  }

  func collect(_ columns: SQLNode, _ values: inout [(any DatabaseValueConvertible)?]) {
    forEachClause(columns) { _, part in part?.collect(&values) }
    if isLimited { values.append(limit ?? -1) }
    if offset > 0 { values.append(offset) }
  }

  /// The whole statement.
  @usableFromInline
  func sql(_ columns: SQLNode) -> SQL {
    let size = measured(columns)
    var sql = SQL(raw: TextWriter.text(byteCount: size.byteCount) { write(columns, to: &$0) })
    sql.values.reserveCapacity(size.valueCount)
    collect(columns, &sql.values)
    sql.isCacheable = size.isCacheable
    return sql
  }

  /// The compiled statement with its values, which the caller gives back.
  @usableFromInline
  func statement(_ columns: SQLNode, _ db: Database) throws -> PreparedStatement {
    try db.take(measured(columns)) {
      write(columns, to: &$0)
    } bind: {
      try bind(columns, to: &$0)
    }
  }

  // MARK: Parts of other statements

  /// Whether its rows are neither grouped nor limited nor made distinct.
  var isPlain: Bool {
    groups == nil && groupCondition == nil && limit == nil && offset == 0 && !isDistinct
  }

  /// The number of rows.
  func rowCount(_ columns: @autoclosure () -> SQLNode) -> SQL {
    var counted = self
    counted.order = nil
    if isPlain { return counted.sql(TextNode(SQL(raw: "count(*)"))) }
    if limit != nil || offset > 0 { counted.order = order }
    return SQL("SELECT count(*) FROM (", counted.sql(columns()), ")")
  }

  /// Whether there is a row.
  var exists: SQL {
    var any = self
    if limit == nil { any.order = nil }
    return SQL("EXISTS (", any.sql(TextNode(SQL(raw: "1"))), ")")
  }

  // MARK: Steps

  @usableFromInline
  mutating func add(order term: consuming SQLNode) {
    if let order { self.order = .list(order, term) } else { order = term }
  }

  @usableFromInline
  mutating func add(group term: SQLNode) { groups = .list(groups, term) }

  @usableFromInline
  mutating func set(limit count: Int, offset: Int) {
    limit = max(0, count)
    self.offset = max(0, offset)
  }

  @usableFromInline
  mutating func add(condition new: consuming SQLNode) {
    if let condition {
      self.condition = condition.infix(" AND ", new, .and)
    } else {
      condition = new.precedence > .or ? new : new.inside(.or)
    }
  }

  @usableFromInline
  mutating func add(groupCondition new: SQLNode) {
    groupCondition = groupCondition?.infix(" AND ", new, .and) ?? new.inside(.or)
  }

  /// Joins another table, under a name that no other has in the query.
  mutating func join(
    _ kind: StaticString, _ table: String, codings: [ExpressionCoding?] = [],
    _ definition: (QueryAlias) -> SQL,
    on condition: (QueryNames) -> SQLExpression<Bool>
  ) {
    let alias = tables.newAlias(for: table, codings)
    let aliases = tables.aliases + [alias]
    let joined = InfixNode(tables.text, kind, TextNode(definition(alias)), .lowest)
    let names = QueryNames(QueryTables(joined, aliases))
    tables = QueryTables(
      InfixNode(joined, " ON ", condition(names).node.inside(.or), .lowest), aliases)
  }
}
