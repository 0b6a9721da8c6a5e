import LarderSQLite

/// A query of a record's table or of several joined ones: a value that is made step by step, and
/// runs when it is asked for rows.
///
/// ```swift
/// let large = try City
///   .filter { $0.population > 1_000_000 && $0.country == "CN" }
///   .order { $0.population.desc }
///   .limit(10)
///   .fetchAll(db)
/// // SELECT … FROM "city" WHERE "city"."population" > ? AND "city"."country" = ?
/// // ORDER BY "city"."population" DESC LIMIT ?
/// ```
///
/// Named parts of queries are plain functions:
///
/// ```swift
/// extension City {
///   static func of(_ country: Country) -> Query<City> { filter { $0.country == country.code } }
/// }
/// ```
public struct Query<From: QuerySource>: Sendable {
  @usableFromInline var select: Select

  @usableFromInline
  init(_ select: Select) { self.select = select }

  /// The columns as expressions, under the names that their tables have here.
  @inlinable var fields: From.QueryFields {
    var names = QueryNames(select.tables)
    return From.queryTables(&names)
  }

  /// What a closure makes of the columns. What begins inside of it gets names of its own.
  @inlinable
  func scoped<T>(_ body: (From.QueryFields) -> T) -> T { Self.scoped(select.tables, body) }

  @inlinable
  static func scoped<T>(_ tables: QueryTables, _ body: (From.QueryFields) -> T) -> T {
    var names = QueryNames(tables)
    let fields = From.queryTables(&names)
    return QueryScope.run(tables) { body(fields) }
  }

  /// What makes rows, and the list of the columns that it makes them of.
  @inlinable var reader: (read: (QueryCursor) throws -> From.QueryRow, columns: SQLFragment) {
    var columns = QueryColumns(select.tables, areCompared: select.isDistinct)
    let read = From.queryReader(&columns)
    return (read, columns.list)
  }

  /// The SELECT statement with its arguments, for reading, logging and tests.
  public var sql: SQL { select.sql(columns) }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { sql(in: db.dialect) }

  package func sql(in dialect: (any Dialect)?) -> SQL { select.sql(columns, in: dialect) }

  private var columns: SQLFragment {
    (select.isDistinct ? nil : select.tables.ownColumns) ?? reader.columns
  }

  // The frequent steps consume the query and hand its clauses on, so that those that are nobody's any more are
  // changed in place. To change `self` or a variable and return it copies it in the caller, which counts a
  // reference for each clause.

  /// Only rows for which a condition holds, besides those that were named before.
  @inlinable
  public consuming func filter(
    @SQLCondition _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    var query = consume self
    query.select.moveIntoScope()
    return Self.filtered((consume query).select, condition)
  }

  /// A query that was begun in this scope, with one condition more.
  @inlinable
  static func filtered(
    _ select: consuming Select, _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    let node = scoped(select.tables) { condition($0).node }
    return Query(select.adding(condition: node))
  }

  /// In the order of an expression, where the terms that were named before are equal.
  @inlinable
  public consuming func order<Value>(
    _ term: (From.QueryFields) -> SQLExpression<Value>
  ) -> Self {
    let node = scoped { term($0).term }
    return Query(select.adding(order: node))
  }

  /// In the order of a term, where those that were named before are equal.
  @inlinable
  public consuming func order(_ term: (From.QueryFields) -> OrderingTerm) -> Self {
    select.add(order: scoped { term($0).node })
    return self
  }

  /// In the order of several terms, where those that were named before are equal.
  @inlinable
  public consuming func order(_ terms: (From.QueryFields) -> [OrderingTerm]) -> Self {
    for term in scoped(terms) { select.add(order: term.node) }
    return self
  }

  /// In the order of several terms or expressions, where those that were named before are equal.
  ///
  /// ```swift
  /// City.all.order { ($0.country, $0.population.desc) }
  /// ```
  public consuming func order<each Term: OrderTerm>(
    _ terms: (From.QueryFields) -> (repeat each Term)
  ) -> Self {
    var list: [SQLFragment] = []
    scoped { repeat list.append((each terms($0)).orderingTerm.node) }
    for term in list { select.add(order: term) }
    return self
  }

  /// No more rows than this, after leaving out some. A negative number counts as zero.
  @inlinable
  public consuming func limit(_ count: Int, offset: Int = 0) -> Self {
    Query(select.setting(limit: count, offset: offset))
  }

  /// Each row once.
  public consuming func distinct() -> Self {
    select.isDistinct = true
    return self
  }

  /// One row for all that have the same value of an expression, besides those named before.
  @inlinable
  public consuming func group<Value>(
    _ term: (From.QueryFields) -> SQLExpression<Value>
  ) -> Self {
    select.add(group: scoped { term($0).term })
    return self
  }

  /// One row for all that have the same values of several expressions, besides those named before.
  public consuming func group<each Value>(
    _ terms: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Self {
    var list: [SQLFragment] = []
    scoped { repeat list.append((each terms($0)).term) }
    for term in list { select.add(group: term) }
    return self
  }

  /// Only groups for which a condition holds, besides those that were named before.
  @inlinable
  public consuming func having(
    @SQLCondition _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    select.add(groupCondition: scoped { condition($0).node })
    return self
  }

  /// Whether the query has rows, as a condition of another query.
  public var exists: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment("\(select.exists)", isNullable: false))
  }
}

// MARK: Beginnings

extension Record {
  /// All rows of the table.
  @inlinable public static var all: Query<Self> { Query(table.core.allRows) }

  /// All rows of the table, which has another name in the query: for a query inside of a query of
  /// the same table.
  public static func aliased(_ name: String) -> Query<Self> {
    Query(Select(QueryTables(table.core.reference(as: name), [QueryAlias(name)])))
  }

  /// See ``Query/filter(_:)``.
  @inlinable
  public static func filter(
    @SQLCondition _ condition: (RecordFields<Self>) -> SQLExpression<Bool>
  ) -> Query<Self> {
    Query.filtered(table.core.allRows, condition)
  }

  /// See `Query.order`.
  @inlinable
  public static func order<Value>(
    _ term: (RecordFields<Self>) -> SQLExpression<Value>
  ) -> Query<Self> {
    all.order(term)
  }

  /// See `Query.order`.
  @inlinable
  public static func order(
    _ term: (RecordFields<Self>) -> OrderingTerm
  ) -> Query<Self> {
    all.order(term)
  }

  /// See ``Query/limit(_:offset:)``.
  @inlinable
  public static func limit(_ count: Int, offset: Int = 0) -> Query<Self> {
    all.limit(count, offset: offset)
  }
}
