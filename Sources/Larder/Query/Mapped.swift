import LarderSQLite

/// A statement whose rows a function turns into values of the program's own type: the last step of a query.
///
/// ```swift
/// struct Total { var country: String; var population: Int? }
/// City.all.group { $0.country }.select(Total.init) { ($0.country, $0.population.sum()) }
/// ```
///
/// SQLite doesn't see the function's values. Ordering, filtering and combining rows, and using a selection
/// in another statement, have to come before this step.
public struct Mapped<Statement: QueryStatement>: QueryStatement {
  /// The type of a row.
  public typealias Row = Statement.Row

  // The statement isn't public: its `Row` is the function's result, but its other steps would act on the
  // columns.
  package var statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  /// The statement with its arguments, for reading, logging and tests.
  public var sql: SQL { statement.sql }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { statement.sql(for: db) }

  /// All rows. Throws as the statement's `fetchAll` does.
  public func fetchAll(_ db: Database) throws -> [Row] { try statement.fetchAll(db) }

  /// Calls a closure with each row in turn, without keeping any. Throws as the statement does, and as the
  /// closure does.
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try statement.forEach(db, body)
  }

  /// The statement limited to its first row.
  @_documentation(visibility: internal)
  public var first: Self { Self(statement.first) }

  /// At most `count` rows, after skipping `offset` rows. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    Self(statement.limit(count, offset: offset))
  }

  /// Removes duplicates among the selected rows, whatever the function makes of them.
  public func distinct<Result>() -> Self where Statement == Selection<Result> {
    Self(statement.distinct())
  }
}

extension Mapped: Sendable where Statement: Sendable {}

extension Query {
  /// Selects values of the program's own type instead of records. A function, such as a structure's
  /// memberwise initializer, makes them from expressions. See ``Mapped``.
  public func select<each Value, Row>(
    _ make: @escaping @Sendable (repeat each Value) -> Row,
    @SQLSelection _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Mapped<Selection<Row>> {
    let values = select(expressions)
    let read = values.read
    return Mapped(
      Selection<Row>(values.select, values.columns, values.accesses, paged: values.paged) {
        let values = try read($0)
        return make(repeat each values)
      })
  }
}

extension Compound {
  // Disfavored because a single value fits a pack of one too; with an operator in the closure it doesn't
  // (Swift 6.3).
  /// Turns each row's values into a value of the program's own type by a function.
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

  /// Turns each row's single value into a value of the program's own type by a function.
  public func select<Result>(
    _ make: @escaping @Sendable (Row) -> Result
  ) -> Mapped<Compound<Result>> where Row: DatabaseValueConvertible {
    Mapped(mapped(make))
  }
}

@available(
  *, unavailable,
  message: "combine the selections first, then apply the function: a.union(b).select(function)"
)
extension Mapped: CombinableStatement {
  /// Not available: the function's values aren't what SQLite would combine.
  @_documentation(visibility: internal)
  public var compound: Compound<Row> { .refused }
}

/// A result builder of the expressions that a function makes a row of. It has the compiler type-check them on their own,
/// without the types that the function takes: with them, it tried all operators before it found that one
/// expression has another type, and often gave up.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLSelection {
  /// The expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression<each Value>(
    _ expressions: (repeat SQLExpression<each Value>)
  ) -> (repeat SQLExpression<each Value>) { expressions }

  /// The expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildBlock<each Value>(
    _ expressions: (repeat SQLExpression<each Value>)
  ) -> (repeat SQLExpression<each Value>) { expressions }
}
