import LarderSQLite

/// A value for rows of which a condition holds; the first condition that does decides.
///
/// ```swift
/// City.all.select {
///   when($0.population > 10_000_000, then: "huge").when($0.population > 1_000_000, then: "large")
///     .otherwise("small")
/// }
/// // CASE WHEN "city"."population" > ? THEN ? WHEN "city"."population" > ? THEN ? ELSE ? END
/// ```
public func when<Value: DatabaseValueConvertible>(
  _ condition: SQLExpression<Bool>, then value: Value
) -> Case<Value> {
  when(condition, then: .constant(value))
}

/// An expression's value for rows of which a condition holds; see ``when(_:then:)-func``.
@_disfavoredOverload
public func when<Value: Sendable>(
  _ condition: SQLExpression<Bool>, then value: SQLExpression<Value>
) -> Case<Value> {
  Case().when(condition, then: value)
}

/// Conditions with values, of which ``otherwise(_:)-(Value)`` or ``otherwiseNull`` makes an
/// expression.
public struct Case<Value: Sendable>: Sendable {
  private var conditions: [SQLNode] = []
  private var results: [SQLNode] = []

  fileprivate init() {}

  /// An expression's value for rows of which this condition holds, and none of those before.
  @_disfavoredOverload
  public func when(_ condition: SQLExpression<Bool>, then value: SQLExpression<Value>) -> Self {
    var new = self
    new.conditions.append(condition.node)
    new.results.append(value.node)
    return new
  }

  /// The value of an expression for all other rows.
  @_disfavoredOverload
  public func otherwise(_ value: SQLExpression<Value>) -> SQLExpression<Value> {
    let results = results + [value.node]
    return SQLExpression<Value>(
      CaseNode(conditions, results, isNullable: results.contains(where: \.isNullable)))
  }

  /// NULL for all other rows.
  public var otherwiseNull: SQLExpression<Value?> {
    SQLExpression<Value?>(CaseNode(conditions, results, isNullable: true))
  }
}

/// Conditions, each with a result, and perhaps another result for all other rows.
private final class CaseNode: SQLNode, @unchecked Sendable {
  private let conditions: [SQLNode]
  private let results: [SQLNode]

  init(_ conditions: [SQLNode], _ results: [SQLNode], isNullable: Bool) {
    // Values on their own are stored as the expressions among the results are.
    let coding = results.lazy.compactMap(\.coding).first
    let conditions = conditions.map(\.asPart)
    let results = results.map { result in
      guard let coding, result.coding == nil else { return result.asPart }
      return (result.coded(coding.code) ?? result).asPart
    }
    self.conditions = conditions
    self.results = results
    let parts = conditions + results
    // " WHEN ", " THEN " and " ELSE " are of one length.
    let words = "CASE END".utf8.count + parts.count * " WHEN ".utf8.count
    super.init(
      byteCount: parts.reduce(words) { $0 + $1.byteCount },
      valueCount: parts.reduce(0) { $0 + $1.valueCount },
      depth: parts.reduce(0) { max($0, $1.depth) } + 1, .atom, isNullable: isNullable,
      isCacheable: parts.allSatisfy(\.isCacheable), coding: coding)
  }

  /// Calls a closure with each part in order and the word before it.
  private func forEachPart(_ body: (StaticString, SQLNode) throws -> Void) rethrows {
    for (condition, result) in zip(conditions, results) {
      try body(" WHEN ", condition)
      try body(" THEN ", result)
    }
    if results.count > conditions.count, let last = results.last { try body(" ELSE ", last) }
  }

  override func write(to writer: inout TextWriter) {
    writer.append("CASE" as StaticString)
    forEachPart { word, part in
      writer.append(word)
      part.write(to: &writer)
    }
    writer.append(" END" as StaticString)
  }

  override func bind(to writer: inout ArgumentWriter) throws {
    try forEachPart { _, part in try part.bind(to: &writer) }
  }

  override func collect(_ values: inout [(any DatabaseValueConvertible)?]) {
    forEachPart { _, part in part.collect(&values) }
  }

  override func coded(
    _ code: (any DatabaseValueConvertible) -> (any DatabaseValueConvertible)?
  ) -> SQLNode? {
    if coding != nil { return nil }
    return CaseNode(
      conditions, results.map { $0.coded(code) ?? $0 }, isNullable: isNullable)
  }
}

extension Case where Value: DatabaseValueConvertible {
  /// A value for rows of which this condition holds, and none of those before.
  public func when(_ condition: SQLExpression<Bool>, then value: Value) -> Self {
    when(condition, then: .constant(value))
  }

  /// A value for all other rows.
  public func otherwise(_ value: Value) -> SQLExpression<Value> { otherwise(.constant(value)) }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// A value of which it is known whether it can be NULL.
  fileprivate static func constant(_ value: Value) -> Self {
    Self(SQL(bound: value), isNullable: Value.columnType.isNullable)
  }
}
