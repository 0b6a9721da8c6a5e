import LarderSQLite

/// A statement of whose rows a function makes values of a type of one's own: the last step of a query.
///
/// ```swift
/// struct Total { var country: String; var population: Int? }
/// City.all.group { $0.country }.select(Total.init) { ($0.country, $0.population.sum()) }
/// ```
///
/// SQLite knows nothing of what the function makes. What orders, filters and combines rows, or makes a selection
/// a part of another statement, comes before it.
public struct Mapped<Statement: QueryStatement>: QueryStatement {
  /// What a row is.
  public typealias Row = Statement.Row

  // Its `Row` is what the function makes: all that it can do besides would do it with the columns.
  package var statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  /// The statement with its arguments, for reading, logging and tests.
  public var sql: SQL { statement.sql }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { statement.sql(for: db) }

  /// All rows.
  public func fetchAll(_ db: Database) throws -> [Row] { try statement.fetchAll(db) }

  /// Calls a closure with one row after the other, and keeps none.
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try statement.forEach(db, body)
  }

  /// The statement with its first row alone.
  @_documentation(visibility: internal)
  public var first: Self { Self(statement.first) }

  /// No more rows than this, after leaving out some. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    Self(statement.limit(count, offset: offset))
  }

  /// Each row that is selected once, whatever is made of it.
  public func distinct<Result>() -> Self where Statement == Selection<Result> {
    Self(statement.distinct())
  }
}

extension Mapped: Sendable where Statement: Sendable {}

extension Query {
  /// The query with values of a type of one's own instead of records, which a function, such as the
  /// memberwise initializer of a structure, makes of expressions. See ``Mapped``.
  public func select<each Value: DatabaseValueConvertible, Row>(
    _ make: @escaping @Sendable (repeat each Value) -> Row,
    _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Mapped<Selection<Row>> {
    let values = select(expressions)
    let read = values.read
    return Mapped(
      Selection<Row>(values.select, values.columns, values.accesses) {
        let values = try read($0)
        return make(repeat each values)
      })
  }
}

extension Compound {
  // A value alone fits a pack of one too, or, with an operator in the closure (Swift 6.3), doesn't.
  /// The query with values of a type of one's own, which a function makes of each row's values.
  ///
  /// ```swift
  /// City.select { ($0.name, $0.population) }.union(Village.select { ($0.name, $0.people) })
  ///   .select(Place.init)
  /// ```
  @_disfavoredOverload
  public func select<each Value: DatabaseValueConvertible, Result>(
    _ make: @escaping @Sendable (repeat each Value) -> Result
  ) -> Mapped<Compound<Result>> where Row == (repeat each Value) {
    Mapped(mapped { make(repeat each $0) })
  }

  /// The query with values of a type of one's own, which a function makes of each row's value.
  public func select<Result>(
    _ make: @escaping @Sendable (Row) -> Result
  ) -> Mapped<Compound<Result>> where Row: DatabaseValueConvertible {
    Mapped(mapped(make))
  }
}

@available(
  *, unavailable,
  message:
    "combine selections without a function, and give the rows to it: a.union(b).select(function)"
)
extension Mapped: CombinableStatement {
  /// Not available: the function's values aren't what SQLite would combine.
  @_documentation(visibility: internal)
  public var compound: Compound<Row> { .refused }
}
