import LarderSQLite

/// The expressions of a `select`.
///
/// A protocol with the row as an associated type, so that the compiler doesn't take the row's type from what stands
/// behind the selection, such as a literal or the names of a tuple's parts, before it looks at the expressions.
@_documentation(visibility: internal)
public protocol SelectedExpressions {
  /// The type of a row: a tuple, or a single value.
  associatedtype Row
  /// The expressions, and how a row of them is read.
  var row: SelectedRow<Row> { get }
}

/// The expressions of a `select`, and the function that reads a row of their values.
@_documentation(visibility: internal)
public struct SelectedRow<Row>: SelectedExpressions {
  @usableFromInline let builder: SelectionBuilder
  @usableFromInline let read: @Sendable (RecordRow) throws -> Row

  @usableFromInline
  init(_ builder: SelectionBuilder, read: @escaping @Sendable (RecordRow) throws -> Row) {
    self.builder = builder
    self.read = read
  }

  /// The row itself.
  @_documentation(visibility: internal)
  @inlinable
  public var row: Self { self }

  /// One expression.
  @inlinable
  init(_ expression: SQLExpression<Row>) where Row: Sendable {
    var builder = SelectionBuilder()
    builder.add(expression)
    self.init(builder) { row in
      try withUnsafeTemporaryAllocation(of: Row.self, capacity: 1) { memory in
        guard let value = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: UnsafeMutableRawPointer(value))
        return value.move()
      }
    }
  }

  /// Several expressions, which the builder has.
  @inlinable
  init<each Value>(several builder: SelectionBuilder) where Row == (repeat each Value) {
    // The closure captures nothing, so that it is specialized at the query's call site.
    self.init(builder) { row in
      try withUnsafeTemporaryAllocation(
        byteCount: max(1, MemoryLayout<(repeat each Value)>.size),
        alignment: MemoryLayout<(repeat each Value)>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: memory)
        // The layout has just initialized the memory, at the offsets of a tuple's elements.
        return memory.assumingMemoryBound(to: (repeat each Value).self).move()
      }
    }
  }

  /// A row without expressions, of closures that don't compile.
  init(refused: Row) {
    var builder = SelectionBuilder()
    builder.add(.misuse("the selection has no expressions"), .value(Int64.self))
    self.init(builder) { _ in throw DatabaseError(.misuse, "the selection has no expressions") }
  }
}

/// A result builder of the expressions of a `select`.
///
/// The compiler finishes a builder's closure before it looks at the steps behind it. In a plain closure, one
/// mistake in a later step makes it try every meaning of every literal and operator again, for seconds.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLSelection {
  /// Several expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression<each Value>(
    _ expressions: (repeat SQLExpression<each Value>)
  ) -> SelectedRow<(repeat each Value)> {
    var builder = SelectionBuilder()
    repeat builder.add(each expressions)
    return SelectedRow(several: builder)
  }

  /// One expression.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression<Value>(
    _ expression: SQLExpression<Value>
  ) -> SelectedRow<Value> {
    SelectedRow(expression)
  }

  /// Not available: only expressions can be selected.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: """
      select takes an expression, or several in parentheses, and a constant as .value(5): \
      { ($0.name, .value(5)) }
      """
  )
  public static func buildExpression<Other>(_ other: Other) -> SelectedRow<Void> {
    SelectedRow(refused: ())
  }

  // A statement without a value would fit the empty pack, and select nothing.
  /// Not available: only expressions can be selected.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "select takes an expression: { $0.name }")
  public static func buildBlock(_ nothing: Void) -> SelectedRow<Void> { SelectedRow(refused: ()) }

  /// A statement without a value.
  @_documentation(visibility: internal)
  public static func buildExpression(_ nothing: Void) {}

  /// The expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildBlock<Row>(_ row: SelectedRow<Row>) -> SelectedRow<Row> { row }

  /// The expressions of an `if` in Swift, which decides while the query is made.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither<Row>(first row: SelectedRow<Row>) -> SelectedRow<Row> { row }

  /// The expressions of an `else`.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither<Row>(second row: SelectedRow<Row>) -> SelectedRow<Row> { row }
}
