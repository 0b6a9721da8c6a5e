import Larder

/// The rows of a query's tables, in order; nil for one that a left join doesn't find.
typealias TreeRows = [[DatabaseValue]?]

/// Only SQLite knows what an expression is.
struct UnknownValue: Error {}

/// An expression together with what it shall be in each row, computed in Swift.
struct Tree<Value: Sendable>: Sendable {

  let sql: SQLExpression<Value>
  let value: @Sendable (TreeRows) throws -> DatabaseValue

  init(
    _ sql: SQLExpression<Value>,
    _ value: @escaping @Sendable (TreeRows) throws -> DatabaseValue = { _ in throw UnknownValue() }
  ) {
    self.sql = sql
    self.value = value
  }

  /// A column, by the places of its table and its own in it.
  init(_ sql: SQLExpression<Value>, _ table: Int, _ column: Int) {
    self.init(sql) { $0[table].map { $0[column] } ?? .null }
  }

  /// An expression of this one, NULL where this is.
  func map<Other>(
    _ sql: SQLExpression<Other>,
    _ change: @escaping @Sendable (DatabaseValue) throws -> DatabaseValue
  ) -> Tree<Other> {
    Tree<Other>(sql) { [value] rows in
      let value = try value(rows)
      return value.isNull ? .null : try change(value)
    }
  }

  /// An expression of this one and another, NULL where one is.
  func combined<Right, Other>(
    _ other: Tree<Right>, _ sql: SQLExpression<Other>,
    _ combine: @escaping @Sendable (DatabaseValue, DatabaseValue) throws -> DatabaseValue
  ) -> Tree<Other> {
    Tree<Other>(sql) { [value] rows in
      let (left, right) = (try value(rows), try other.value(rows))
      return left.isNull || right.isNull ? .null : try combine(left, right)
    }
  }

  /// Whether this and another are equal, NULL being equal to NULL.
  func equals<Right>(
    _ other: Tree<Right>, _ sql: SQLExpression<Bool>, negated: Bool = false
  ) -> Tree<Bool> {
    Tree<Bool>(sql) { [value] rows in
      .truth((try value(rows).compared(to: try other.value(rows)) == 0) != negated)
    }
  }

  /// The same with a value as it is stored.
  func equals(
    _ stored: DatabaseValue, _ sql: SQLExpression<Bool>, negated: Bool = false
  ) -> Tree<Bool> {
    equals(Tree<Bool>(true) { _ in stored }, sql, negated: negated)
  }

  func compares(
    _ stored: DatabaseValue, _ sql: SQLExpression<Bool>,
    _ holds: @escaping @Sendable (Int) -> Bool
  ) -> Tree<Bool> {
    compares(Tree<Bool>(true) { _ in stored }, sql, holds)
  }

  func compares<Right>(
    _ other: Tree<Right>, _ sql: SQLExpression<Bool>, _ holds: @escaping @Sendable (Int) -> Bool
  ) -> Tree<Bool> {
    combined(other, sql) { .truth(holds(try $0.compared(to: $1))) }
  }
}

extension Tree where Value: DatabaseValueConvertible {
  /// A value on its own.
  static func constant(_ value: Value) -> Tree {
    let stored = try? value.databaseValue
    return Tree(.value(value)) { _ in stored ?? .null }
  }
}

extension DatabaseValue {
  static func truth(_ value: Bool) -> DatabaseValue { .integer(value ? 1 : 0) }

  /// True or false of a condition; nil for NULL.
  var truth: Bool? {
    switch self {
    case .integer(let number): number != 0
    case .real(let number): number != 0
    default: nil
    }
  }

  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  private var bytes: [UInt8] {
    switch self {
    case .text(let text): Array(text.utf8)
    case .blob(let bytes): bytes
    default: []
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// The order of SQLite's: negative if this comes first, 0 if both are the same.
  func compared(to other: DatabaseValue) throws -> Int {
    guard rank == other.rank else { return rank - other.rank }
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
    // Exactly: an integer of 64 bits may lie between two real numbers.
    case (.integer(let left), .real(let right)): return Self.compare(left, right)
    case (.real(let left), .integer(let right)): return -Self.compare(right, left)
    case (.real(let left), .real(let right)): return left < right ? -1 : left > right ? 1 : 0
    default: break
    }
    let (left, right) = (bytes, other.bytes)
    return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  private static func compare(_ left: Int64, _ right: Double) -> Int {
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right)
    if left != whole { return left < whole ? -1 : 1 }
    let rest = right - right.rounded(.towardZero)
    return rest > 0 ? -1 : rest < 0 ? 1 : 0
  }

  /// The number without what stands behind the point, as CAST makes it: the ends of 64 bits beyond them.
  var wholeNumber: DatabaseValue {
    guard case .real(let number) = self else { return self }
    if number >= 0x1p63 { return .integer(.max) }
    return .integer(number < -0x1p63 ? .min : Int64(number))
  }

  /// A sum, difference or product as SQLite has it: a real number if integers overflow.
  func arithmetic(
    _ other: DatabaseValue, _ integers: (Int64, Int64) -> (Int64, Bool),
    _ reals: (Double, Double) -> Double
  ) throws -> DatabaseValue {
    if case .integer(let left) = self, case .integer(let right) = other {
      let (result, overflow) = integers(left, right)
      if !overflow { return .integer(result) }
    }
    guard let left = number, let right = other.number else { throw UnknownValue() }
    let result = reals(left, right)
    return result.isNaN ? .null : .real(result)
  }

  func divided(by other: DatabaseValue) throws -> DatabaseValue {
    if other.number == 0 { return .null }
    if case .integer(let left) = self, case .integer(let right) = other {
      let (result, overflow) = left.dividedReportingOverflow(by: right)
      if !overflow { return .integer(result) }
    }
    guard let left = number, let right = other.number else { throw UnknownValue() }
    let quotient = left / right
    return quotient.isNaN ? .null : .real(quotient)
  }
}

extension Tree where Value == Bool {
  static func && (left: Tree, right: Tree) -> Tree {
    Tree(left.sql && right.sql) { rows in
      let (one, two) = (try left.value(rows).truth, try right.value(rows).truth)
      if one == false || two == false { return .truth(false) }
      return one == nil || two == nil ? .null : .truth(true)
    }
  }

  static func || (left: Tree, right: Tree) -> Tree {
    Tree(left.sql || right.sql) { rows in
      let (one, two) = (try left.value(rows).truth, try right.value(rows).truth)
      if one == true || two == true { return .truth(true) }
      return one == nil || two == nil ? .null : .truth(false)
    }
  }

  static prefix func ! (operand: Tree) -> Tree {
    operand.map(!operand.sql) { .truth($0.truth == false) }
  }
}
