import LarderSQLite

// What the compiler finds for a name without a column, or a closure with another number of parameters than
// the query has tables: something that has every member and fits every operator, so that there is one error, at
// once, where the reason is. Without it the compiler, once nothing fits, tries all joins of a chain in all
// combinations, which takes seconds and ends without a place.

/// A table that isn't there.
@dynamicMemberLookup
@_documentation(visibility: internal)
public struct NoSuchTable: Sendable {
  /// Not available.
  @_disfavoredOverload
  public subscript(dynamicMember name: String) -> SQLExpression<NoSuchValue> { .wrong }
}

/// What no query is: its name is for the compiler's message about a closure with too few or too many
/// parameters.
@_documentation(visibility: internal)
public protocol AParameterForEachTable {
  /// What is read from.
  associatedtype Source
}

@available(
  *, unavailable,
  message:
    "a closure over joined tables takes one parameter for each, or a single tuple: $0.0, $0.1"
)
extension Query: AParameterForEachTable {
  /// What is read from.
  @_documentation(visibility: internal)
  public typealias Source = From
}

extension AParameterForEachTable where Source: Joined {
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable) -> Result) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable) -> Result) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
}

extension AParameterForEachTable {
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable, NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>)
    -> Self
  { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func filter(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable, NoSuchTable) -> Result) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> Result) -> Self {
    self
  }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func order<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable, NoSuchTable) -> Result) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> Result) -> Self {
    self
  }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func group<Result>(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> Result
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable, NoSuchTable) -> SQLExpression<Bool>) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(_ closure: (NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>)
    -> Self
  { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) -> SQLExpression<
      Bool
    >
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(
    _ closure: (NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable) ->
      SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
  /// Not available: there are other tables.
  @_disfavoredOverload
  public func having(
    _ closure: (
      NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable, NoSuchTable,
      NoSuchTable
    ) -> SQLExpression<Bool>
  ) -> Self { self }
}

/// What no query is: its name is for the compiler's message about a ninth table.
@_documentation(visibility: internal)
public protocol UpToEightTables {
  /// What is read from.
  associatedtype Source
}

@available(
  *, unavailable,
  message: "a query joins up to eight tables: make a CommonTable of some of them"
)
extension Query: UpToEightTables {}

extension UpToEightTables {
  /// Not available: eight tables are the most.
  @_disfavoredOverload
  public func join<A, B, C, D, E, F, G, H, Other: Record>(
    _ other: Other.Type,
    on condition: (
      A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields, E.QueryFields, F.QueryFields,
      G.QueryFields, H.QueryFields, Other.QueryFields
    ) -> SQLExpression<Bool>
  ) -> Self where Source == Join8<A, B, C, D, E, F, G, H> { self }
}
