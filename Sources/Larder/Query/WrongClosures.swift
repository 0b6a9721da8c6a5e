import LarderSQLite

// Fallback overloads for a name without a column, or a closure with another number of parameters than the
// query has tables. Their parameters have every member and fit every operator, so that the compiler reports
// one error, at once, at its cause. Without them, once nothing fits, it tries all joins of a chain in all
// combinations, which takes seconds and ends without a location.

/// A placeholder for a table that the query doesn't have.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct NoSuchTable: Sendable {
  /// Not available.
  @_disfavoredOverload
  public subscript(dynamicMember name: String) -> SQLExpression<NoSuchValue> { .wrong }
}

/// A protocol that no query can use. Its name appears in the compiler's message about a closure with too
/// few or too many parameters.
@_documentation(visibility: internal)
public protocol AParameterForEachTable {
  /// The source that the query reads from.
  associatedtype Source
}

@available(
  *, unavailable,
  message:
    "a closure over joined tables takes one parameter for each table, or a single tuple: $0.0, $0.1"
)
extension Query: AParameterForEachTable {
  /// The source that the query reads from.
  @_documentation(visibility: internal)
  public typealias Source = From
}

extension AParameterForEachTable where Source: Joined {
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable) -> Result) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable) -> Result) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
}

extension AParameterForEachTable {
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable, NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>)
    -> Self
  { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable, NoSuchTable) -> Result) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> Result) -> Self {
    self
  }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable, NoSuchTable) -> Result) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> Result) -> Self {
    self
  }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable, NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>)
    -> Self
  { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: the query has another number of tables.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
}

/// A protocol that no query can use. Its name appears in the compiler's message about a ninth table.
@_documentation(visibility: internal)
public protocol UpToEightTables {
  /// The source that the query reads from.
  associatedtype Source
}

@available(
  *, unavailable,
  message: "a query can join at most eight tables: make a CommonTable of some of them"
)
extension Query: UpToEightTables {}

extension UpToEightTables {
  /// Not available: a query joins at most eight tables.
  @_disfavoredOverload
  public func join<A, B, C, D, E, F, G, H, Other: Record>(
    _ other: Other.Type,
    on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, H.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Self where Source == Join8<A, B, C, D, E, F, G, H> { self }
}
