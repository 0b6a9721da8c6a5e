import LarderSQLite

/// The clauses of a SELECT apart from its columns.
@usableFromInline
struct Select: Sendable {
  /// The tables with their joins, as they stand behind FROM.
  var from: SQL
  /// The tables' names in the query, in order.
  var names: [String]
  /// The same, quoted, each with a dot.
  @usableFromInline var prefixes: [String]
  var condition: SQL?
  var groups: [SQL] = []
  var groupCondition: SQL?
  var order: [SQL] = []
  var limit: Int?
  var offset = 0
  var isDistinct = false

  /// A query of one table, under its own name or another.
  init(table: String, as alias: String? = nil) {
    let alias = alias ?? table
    let quoted = table.quotedIdentifier
    from = SQL(raw: alias == table ? quoted : "\(quoted) AS \(alias.quotedIdentifier)")
    names = [alias]
    prefixes = [alias.quotedIdentifier + "."]
  }

  /// The whole statement.
  @usableFromInline
  func sql(_ columns: SQL) -> SQL {
    var sql = SQLPieces()
    sql.append(isDistinct ? "SELECT DISTINCT " : "SELECT ", columns)
    sql.append(" FROM ", from)
    if let condition { sql.append(" WHERE ", condition) }
    sql.append(" GROUP BY ", groups)
    if let groupCondition { sql.append(" HAVING ", groupCondition) }
    sql.append(" ORDER BY ", order)
    if limit != nil || offset > 0 { sql.append(" LIMIT ?", value: limit ?? -1) }
    if offset > 0 { sql.append(" OFFSET ?", value: offset) }
    return sql.sql
  }

  /// Whether its rows are neither grouped nor limited nor made distinct.
  var isPlain: Bool {
    groups.isEmpty && groupCondition == nil && limit == nil && offset == 0 && !isDistinct
  }

  /// The number of rows.
  func rowCount(_ columns: @autoclosure () -> SQL) -> SQL {
    var counted = self
    counted.order = []
    if isPlain { return counted.sql(SQL(raw: "count(*)")) }
    if limit != nil || offset > 0 { counted.order = order }
    return SQL("SELECT count(*) FROM (", counted.sql(columns()), ")")
  }

  /// Whether there is a row.
  var exists: SQL {
    var any = self
    if limit == nil { any.order = [] }
    return SQL("EXISTS (", any.sql(SQL(raw: "1")), ")")
  }

  @usableFromInline
  mutating func add(order term: SQL) { order.append(term) }

  @usableFromInline
  mutating func add(group term: SQL) { groups.append(term) }

  @usableFromInline
  mutating func set(limit count: Int, offset: Int) {
    limit = max(0, count)
    self.offset = max(0, offset)
  }

  @usableFromInline
  mutating func add(condition new: SQLExpression<Bool>) {
    condition = condition.map { SQL($0, " AND ", new.inside(.and)) } ?? new.inside(.or)
  }

  @usableFromInline
  mutating func add(groupCondition new: SQLExpression<Bool>) {
    groupCondition = groupCondition.map { SQL($0, " AND ", new.inside(.and)) } ?? new.inside(.or)
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
    from.append(" \(kind) \(named) ON ", condition(QueryNames(prefixes: prefixes)).inside(.or))
  }
}

/// The clauses of a statement, to be put together at once.
private struct SQLPieces {
  private var texts: [String] = []
  private var values: [(any DatabaseValueConvertible)?] = []
  private var isCacheable = true

  init() {
    texts.reserveCapacity(16)
    values.reserveCapacity(4)
  }

  var sql: SQL {
    var sql = SQL(raw: String(concatenating: texts))
    sql.values = values
    sql.isCacheable = isCacheable
    return sql
  }

  mutating func append(_ clause: String, _ piece: SQL) {
    texts.append(clause)
    texts.append(piece.text)
    if !piece.values.isEmpty { values += piece.values }
    isCacheable = isCacheable && piece.isCacheable
  }

  /// A clause with its terms, unless there are none.
  mutating func append(_ clause: String, _ terms: [SQL]) {
    var infix = clause
    for term in terms {
      append(infix, term)
      infix = ", "
    }
  }

  mutating func append(_ clause: String, value: Int) {
    texts.append(clause)
    values.append(value)
  }
}
