import LarderSQLite

// Steps that compound queries don't have, for the compiler's messages about what to write. The closures'
// parameters have every property, so that there is one error; see WrongSteps.swift.

/// The steps that compound queries don't have, but the queries that they combine.
@_documentation(visibility: internal)
public protocol StepsBelongToTheCombinedQueries: Reason {}

extension Compound: StepsBelongToTheCombinedQueries {}

@available(
  *, unavailable,
  message: """
    filter and group the queries before they are combined; a compound query is ordered by the numbers of its \
    columns, order(byColumn: 2)
    """
)
extension Compound: Mistake {}

extension StepsBelongToTheCombinedQueries where Refusal: Reason {
  /// Not available for compound queries.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchParameter) -> Result) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchParameter, NoSuchParameter) -> Result) -> Self {
    self
  }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchParameter) -> Result) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchParameter, NoSuchParameter) -> Result) -> Self {
    self
  }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) -> Result
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchParameter) -> SQLExpression<Bool>) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>) -> Self {
    self
  }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchParameter) -> SQLExpression<Bool>) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>) -> Self {
    self
  }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available for compound queries.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchParameter, NoSuchParameter, NoSuchParameter, NoSuchParameter) ->
      SQLExpression<Bool>
  ) -> Self { self }
}

extension Compound {
  /// Not available: `union` removes duplicate rows itself.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "union removes duplicate rows, union(all:) keeps them")
  public func distinct() -> Self { self }
  /// Not available: the rows of several queries have no common key.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "rows of a compound query have no key to read pages by: limit(_:offset:)"
  )
  public func page(_ db: Database, after cursor: String? = nil, limit: Int) throws -> Page<Row> {
    Page(rows: [], next: nil)
  }
}
