import LarderSQLite

// Declarations that the compiler finds for misused columns, for their messages; see WrongExpressions.swift.

/// For the compiler's message about a name without a column. No record's columns conform to it.
@_documentation(visibility: internal)
public protocol NoSuchColumn {}

@available(
  *, unavailable,
  message: """
    the record's Columns has no property of this name, or an operand beside it has another type: numbers are \
    converted with .real or .integer
    """
)
extension RecordFields: NoSuchColumn {}

@available(
  *, unavailable,
  message: """
    the record's Columns has no property of this name, or an operand beside it has another type: numbers are \
    converted with .real or .integer
    """
)
extension OptionalFields: NoSuchColumn {}

extension NoSuchColumn {
  /// Not available: there is no such column. The result fits beside any operator, but can't be selected:
  /// otherwise each member of a selection would have two meanings, and the compiler would try all
  /// combinations. Its name isn't a String so that, for an existing column beside an operand of another type, the
  /// compiler prefers the message about the types: a literal of another type than usual counts as a fault. (So does
  /// a result that is implicitly unwrapped, but then everything is tried twice.)
  @_disfavoredOverload
  public subscript(dynamicMember name: NameOfNoColumn) -> SQLExpression<NoSuchValue> { .wrong }
}

/// A name that no column has.
@_documentation(visibility: internal)
public struct NameOfNoColumn: ExpressibleByStringLiteral {
  /// The name.
  @_documentation(visibility: internal)
  public init(stringLiteral value: String) {}
}

/// For the compiler's message about a column that is no condition. No record's columns conform to it.
@_documentation(visibility: internal)
public protocol NotACondition {
  /// The record.
  associatedtype Source: Record
}

@available(*, unavailable, message: "a condition has to be true or false: compare the column")
extension RecordFields: NotACondition {
  /// The record.
  @_documentation(visibility: internal)
  public typealias Source = R
}

@available(*, unavailable, message: "a condition has to be true or false: compare the column")
extension OptionalFields: NotACondition {
  /// The record.
  @_documentation(visibility: internal)
  public typealias Source = R
}

extension NotACondition {
  /// Not available: the column is no condition.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember column: KeyPath<Source.Columns, Column<Source, Value>>
  ) -> SQLExpression<Bool> { .wrong }
}

extension ColumnOption {
  /// Not available: the default has to be of the column's type.
  @_disfavoredOverload
  @available(*, unavailable, message: "the default has another type than the column")
  public static func `default`<Other: DatabaseValueConvertible>(_ value: Other) -> Self {
    Self { _ in }
  }
}

extension TableConstraint where R: Record {
  /// Not available: a record's columns are named by its `Columns`.
  @_disfavoredOverload
  @available(
    *, unavailable, message: "name the record's columns: .index(columns.country, columns.name)"
  )
  public static func index(
    _ columns: String..., unique: Bool = false, where condition: SQL? = nil, name: String? = nil
  ) -> Self { Self(definition: .unique(columns)) }

  /// Not available: a record's columns are named by its `Columns`.
  @_disfavoredOverload
  @available(
    *, unavailable, message: "name the record's columns: .unique(columns.country, columns.name)"
  )
  public static func unique(_ columns: String...) -> Self { Self(definition: .unique(columns)) }
}

extension Column {
  /// Not available: nothing says how the type is stored.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      nothing says how the type is stored: write as: .json, or conform it to DatabaseValueConvertible
      """
  )
  public init(
    _ name: String, _ keyPath: KeyPath<R, Value> & Sendable, _ options: ColumnOption<Value>...
  ) {
    let error = ConversionError(.malformed, Value.self)
    let coding = ColumnCoding<Value>(
      encode: { _ throws -> Int in throw error },
      decode: { (_: Int) throws -> Value in throw error })
    self.init(name, keyPath, as: coding)
  }
}
