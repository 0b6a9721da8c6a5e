import LarderSQLite

/// A query of a record's table or of several joined tables: a value that is built step by step, and runs
/// when rows are fetched from it.
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
/// Reusable parts of queries are plain functions:
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

  /// The columns as expressions, qualified by their tables' names in this query.
  @inlinable var fields: From.QueryFields {
    var names = QueryNames(select.tables)
    return From.queryTables(&names)
  }

  /// The result of a closure over the columns. Queries that begin inside the closure get table names of
  /// their own.
  @inlinable
  package func scoped<T>(_ body: (From.QueryFields) -> T) -> T { Self.scoped(select.tables, body) }

  @inlinable
  static func scoped<T>(_ tables: QueryTables, _ body: (From.QueryFields) -> T) -> T {
    var names = QueryNames(tables)
    let fields = From.queryTables(&names)
    return QueryScope.run(tables) { body(fields) }
  }

  /// The function that makes a row, and the list of columns that it reads.
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

  // The frequent steps consume the query and pass its clauses on, so that clauses without other references
  // are changed in place. Changing `self` or a variable and returning it would copy the query in the
  // caller, with a reference count for each clause.

  /// Keeps only rows that satisfy the condition, in addition to any earlier ones.
  @inlinable
  public consuming func filter(
    @SQLCondition _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    var query = consume self
    query.select.moveIntoScope()
    return Self.filtered((consume query).select, condition)
  }

  /// A query with one more condition. The query has to be one that was begun in this scope.
  @inlinable
  static func filtered(
    _ select: consuming Select, _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    let node = scoped(select.tables) { condition($0).node }
    return Query(select.adding(condition: node))
  }

  /// Orders rows by an expression, a term, or several of them in parentheses. Earlier terms take precedence.
  ///
  /// ```swift
  /// City.all.order { ($0.country, $0.population.desc) }
  /// ```
  @inlinable
  public consuming func order<Terms: OrderTerms>(
    @SQLOrder _ terms: (From.QueryFields) -> Terms
  ) -> Self {
    let node = scoped { terms($0).orderingTerms.node }
    return Query(select.adding(order: node))
  }

  /// At most `count` rows, after skipping `offset` rows. A negative number counts as zero: in SQL it means no
  /// limit, and a number that came with a request would fetch the whole table.
  @inlinable
  public consuming func limit(_ count: Int, offset: Int = 0) -> Self {
    Query(select.setting(limit: count, offset: offset))
  }

  /// Removes duplicate rows (SELECT DISTINCT).
  public consuming func distinct() -> Self {
    select.isDistinct = true
    return self
  }

  /// Groups rows by an expression, or several in parentheses, in addition to any earlier ones: each group
  /// becomes one row.
  public consuming func group<Terms: GroupTerms>(
    @SQLGroup _ terms: (From.QueryFields) -> Terms
  ) -> Self {
    let terms = scoped { terms($0).groupTerms }
    for term in terms.terms { select.add(group: term) }
    return self
  }

  /// Keeps only groups that satisfy the condition, in addition to any earlier ones (HAVING).
  @inlinable
  public consuming func having(
    @SQLCondition _ condition: (From.QueryFields) -> SQLExpression<Bool>
  ) -> Self {
    select.add(groupCondition: scoped { condition($0).node })
    return self
  }

  /// Keeps only groups that satisfy a condition without columns: `having { count() > 1 }`.
  public consuming func having(@SQLCondition _ condition: () -> SQLExpression<Bool>) -> Self {
    having { _ in condition() }
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

  /// All rows of the table under another name, for a query inside a query of the same table.
  public static func aliased(_ name: String) -> Query<Self> {
    Query(Select(QueryTables(table.core.reference(as: name), [QueryAlias(name, of: table.name)])))
  }

  /// See ``Query/filter(_:)``.
  @inlinable
  public static func filter(
    @SQLCondition _ condition: (RecordFields<Self>) -> SQLExpression<Bool>
  ) -> Query<Self> {
    Query.filtered(table.core.allRows, condition)
  }

  /// See ``Query/order(_:)``.
  @inlinable
  public static func order<Terms: OrderTerms>(
    @SQLOrder _ terms: (RecordFields<Self>) -> Terms
  ) -> Query<Self> {
    all.order(terms)
  }

  /// See ``Query/limit(_:offset:)``.
  @inlinable
  public static func limit(_ count: Int, offset: Int = 0) -> Query<Self> {
    all.limit(count, offset: offset)
  }
}
