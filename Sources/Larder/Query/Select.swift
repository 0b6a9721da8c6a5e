import LarderSQLite

/// The clauses of a SELECT apart from its columns; see
/// [SELECT](https://www.sqlite.org/lang_select.html).
@usableFromInline
struct Select: Sendable {
  @usableFromInline var tables: QueryTables
  var condition: SQLFragment?
  /// The terms of GROUP BY.
  var groups: SQLFragment?
  var groupCondition: SQLFragment?
  /// The terms of ORDER BY.
  var order: SQLFragment?
  var limit: Int?
  var offset = 0
  @usableFromInline var isDistinct = false

  /// A query of one table, under its own name or another.
  init(table: String, as alias: String? = nil) {
    let alias = QueryAlias(alias ?? table, of: table)
    self.init(QueryTables(alias.definition(of: table), [alias]))
  }

  @usableFromInline
  init(_ tables: QueryTables) {
    self.tables = tables
  }

  // MARK: The statement

  /// Writes the text or binds the values, depending on the writer, clause by clause.
  func write<W: SQLWriter>(_ columns: SQLFragment, to writer: inout W) throws(W.Failure) {
    writer.append(word: isDistinct ? "SELECT DISTINCT " : "SELECT ")
    try columns.write(to: &writer)
    writer.append(word: " FROM ")
    try tables.text.write(to: &writer)
    try write(
      " WHERE ", W.hasDialect ? condition.map(writer.conditionally) : condition, to: &writer)
    try write(
      " GROUP BY ", W.hasDialect ? groups?.naming(columns).groupingTerms : groups, to: &writer)
    try write(
      " HAVING ", W.hasDialect ? groupCondition.map(writer.conditionally) : groupCondition,
      to: &writer)
    try write(" ORDER BY ", W.hasDialect ? order(of: columns) : order, to: &writer)
    if limit != nil || offset > 0 { try writer.append(limit: limit, offset: offset) }
  }

  @inline(__always)
  private func write<W: SQLWriter>(
    _ words: StaticString, _ clause: SQLFragment?, to writer: inout W
  ) throws(W.Failure) {
    guard let clause else { return }
    writer.append(word: words)
    try clause.write(to: &writer)
  }

  /// The whole statement, as a part of others.
  func fragment(_ columns: SQLFragment) -> SQLFragment {
    func clause(_ words: SQLFragment, _ part: SQLFragment?) -> SQLFragment? {
      part.map { "\(words)\($0)" }
    }
    let verb: SQLFragment = isDistinct ? "SELECT DISTINCT " : "SELECT "
    let filter = clause(" WHERE ", condition.map { SQLFragment(.condition, $0) })
    let groups = clause(" GROUP BY ", groups?.naming(columns).groupingTerms)
    let having = clause(" HAVING ", groupCondition.map { SQLFragment(.condition, $0) })
    let order = clause(" ORDER BY ", order(of: columns))
    return """
      \(verb)\(columns) FROM \(tables.text)\(filter)\(groups)\(having)\(order)\(limitClause)
      """
  }

  /// The terms of ORDER BY for other dialects, where grouped and distinct rows are ordered by selected
  /// terms.
  private func order(of columns: SQLFragment) -> SQLFragment? {
    (groups == nil && !isDistinct ? order : order?.naming(columns))?.orderingTerms
  }

  var limitClause: SQLFragment? {
    limit == nil && offset == 0 ? nil : SQLFragment(.limit(limit, offset: offset))
  }

  /// The statement's text and values.
  func sql(_ columns: SQLFragment) -> SQL { SQL { write(columns, to: &$0) } }

  /// The statement's text and values, for SQLite or another engine.
  func sql(_ columns: SQLFragment, in dialect: (any Dialect)?) -> SQL {
    guard let dialect else { return sql(columns) }
    return SQL(in: dialect) { write(columns, to: &$0) }
  }

  /// The compiled statement with its values bound. The caller has to give it back.
  @usableFromInline
  func statement(_ columns: SQLFragment, _ db: Database) throws -> PreparedStatement {
    func tables() -> [any ExpectedTable] { TableCollector.tables { write(columns, to: &$0) } }
    if let dialect = db.dialect {
      return try db.take(in: dialect, tables) { write(columns, to: &$0) }
    }
    return try db.take(for: [], tables) {
      write(columns, to: &$0)
    } bind: {
      try write(columns, to: &$0)
    }
  }

  /// The number of rows to reserve capacity for: the limit, but at most 64.
  @usableFromInline var expectedRowCount: Int { limit.map { min($0, 64) } ?? 0 }

  // MARK: Parts of other statements

  /// Whether the query is neither grouped nor limited nor distinct.
  var isPlain: Bool {
    groups == nil && groupCondition == nil && limit == nil && offset == 0 && !isDistinct
  }

  /// The statement that counts the rows.
  func rowCount(_ columns: @autoclosure () -> SQLFragment) -> SQLFragment {
    var counted = self
    counted.order = nil
    if isPlain { return counted.fragment(.call("count", "*")) }
    if limit != nil || offset > 0 { counted.order = order }
    // A server doesn't select all columns of a group.
    let isGrouped = (groups != nil || groupCondition != nil) && !isDistinct
    return counted.fragment(isGrouped ? "1" : columns()).rowCount
  }

  /// The EXISTS expression: whether there is a row.
  var exists: SQLFragment {
    var any = self
    if limit == nil { any.order = nil }
    return "EXISTS (\(any.fragment("1")))"
  }

  // MARK: Steps

  @usableFromInline
  mutating func add(order terms: consuming SQLFragment) {
    // An array of terms can be empty.
    if order != nil || !terms.isEmptyList { order = terms.added(to: order) }
  }

  @usableFromInline
  mutating func add(group term: SQLFragment) { groups = term.added(to: groups) }

  @usableFromInline
  mutating func add(condition new: consuming SQLFragment) {
    condition =
      if let condition = condition.take() {
        condition.logical(.and, new)
      } else {
        new.asCondition().parenthesized(in: .or)
      }
  }

  @usableFromInline
  mutating func add(groupCondition new: SQLFragment) {
    let new = new.asCondition()
    groupCondition = groupCondition?.infix(.and, new) ?? new.parenthesized(in: .or)
  }

  // The same steps, consuming the query. Never inlined, because the caller would then copy the clauses.

  @inline(never)
  @usableFromInline
  consuming func adding(order term: consuming SQLFragment) -> Select {
    var select = consume self
    select.add(order: term)
    return select
  }

  @inline(never)
  @usableFromInline
  consuming func adding(condition term: consuming SQLFragment) -> Select {
    var select = consume self
    select.add(condition: term)
    return select
  }

  @inline(never)
  @usableFromInline
  consuming func setting(limit count: Int, offset: Int) -> Select {
    var select = consume self
    select.limit = max(0, count)
    select.offset = max(0, offset)
    return select
  }

  /// Joins another table, under a name that no other table of the query has.
  mutating func join(
    _ kind: SQLOperator, _ table: QueryTableDefinition,
    on condition: (QueryNames) -> SQLExpression<Bool>
  ) {
    let alias = tables.newAlias(for: table.name, table.codings, source: table.columns)
    let aliases = tables.aliases + [alias]
    let joined = SQLFragment(tables.text, kind, table.named(alias.name))
    let tables = QueryTables(joined, aliases)
    let condition = QueryScope.run(tables) { condition(QueryNames(tables)).node.asCondition() }
    self.tables = QueryTables(SQLFragment(joined, .on, condition.parenthesized(in: .or)), aliases)
  }
}

extension TableCore {
  /// A query of all rows. Never inlined, because the compiler copies clauses whose values it knows.
  @inline(never)
  @usableFromInline var allRows: Select { Select(queryTables) }
}

extension SQLFragment {
  /// A statement that counts the rows of this one.
  var rowCount: SQLFragment { "SELECT count(*) FROM (\(self)) AS counted" }
}
