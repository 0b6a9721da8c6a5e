import LarderSQLite

/// The clauses of a SELECT apart from its columns.
@usableFromInline
struct Select: Sendable {
  /// The tables with their joins, as they stand behind FROM.
  var from: SQLNode
  /// The tables' names in the query, in order.
  var names: [String]
  /// The same, quoted, each with a dot.
  @usableFromInline var prefixes: [String]
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
    let alias = alias ?? table
    let quoted = table.quotedIdentifier
    from = TextNode(SQL(raw: alias == table ? quoted : "\(quoted) AS \(alias.quotedIdentifier)"))
    names = [alias]
    prefixes = [alias.quotedIdentifier + "."]
  }

  // MARK: The statement

  /// Calls a closure with each clause in order: its words, and what follows them.
  @inline(__always)
  private func forEachClause(
    _ columns: SQLNode, _ body: (StaticString, SQLNode?) throws -> Void
  ) rethrows {
    try body(isDistinct ? "SELECT DISTINCT " : "SELECT ", columns)
    try body(" FROM ", from)
    if let condition { try body(" WHERE ", condition) }
    if let groups { try body(" GROUP BY ", groups) }
    if let groupCondition { try body(" HAVING ", groupCondition) }
    if let order { try body(" ORDER BY ", order) }
    if isLimited { try body(" LIMIT ?", nil) }
    if offset > 0 { try body(" OFFSET ?", nil) }
  }

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
  mutating func add(order term: SQLNode) { order = .list(order, term) }

  @usableFromInline
  mutating func add(group term: SQLNode) { groups = .list(groups, term) }

  @usableFromInline
  mutating func set(limit count: Int, offset: Int) {
    limit = max(0, count)
    self.offset = max(0, offset)
  }

  @usableFromInline
  mutating func add(condition new: SQLNode) {
    condition = condition?.infix(" AND ", new, .and) ?? new.inside(.or)
  }

  @usableFromInline
  mutating func add(groupCondition new: SQLNode) {
    groupCondition = groupCondition?.infix(" AND ", new, .and) ?? new.inside(.or)
  }

  /// Joins another table, under a name that no other has in the query.
  mutating func join(
    _ kind: String, _ table: String, on condition: (QueryNames) -> SQLExpression<Bool>
  ) {
    var alias = table
    var number = 2
    let taken = Set(names.map { $0.lowercased() })
    while taken.contains(alias.lowercased()) {
      alias = "\(table)_\(number)"
      number += 1
    }
    names.append(alias)
    prefixes.append(alias.quotedIdentifier + ".")
    let quoted = table.quotedIdentifier
    let named = alias == table ? quoted : "\(quoted) AS \(alias.quotedIdentifier)"
    from = TextNode(
      SQL(
        from.sql, " \(kind) \(named) ON ",
        condition(QueryNames(prefixes: prefixes)).inside(.or)))
  }
}
