import LarderSQLite

// How an expression is assigned to a column: with its coding, and as a number that the property holds.

extension ColumnStorage {
  /// The expression as an assignment to this column writes it.
  func assigned(_ value: SQLFragment) -> SQLFragment {
    let form = expressionCoding?.form ?? .own
    let value = (value.coded { definition.code?($0) } ?? value).dateText(in: form).matching(form)
    guard value.kind != .value, definition.code == nil else { return value }
    // The most frequent types first: looking up a type's conformance takes time at each call.
    if Value.self == Int.self || Value.self == Int64.self {
      return .integer(value, in: .min ... .max)
    }
    // A Bool conforms to it too as the program runs: the conformance is only unavailable to the compiler.
    guard Value.self != Bool.self, Value.self != Bool?.self,
      let number = (Value.self as? any NumberValue.Type)?.number
    else { return value }
    if number == Float.self { return value.float }
    return (number as? any FixedWidthInteger.Type).map { .integer(value, in: $0.storedRange) }
      ?? value
  }
}

extension NumberValue {
  fileprivate static var number: any Any.Type { Number.self }
}

extension FixedWidthInteger {
  fileprivate static var storedRange: ClosedRange<Int64> {
    Int64(clamping: min)...Int64(clamping: max)
  }
}

extension SQLFragment {
  /// An integer, or an error if it is outside a range. An engine with columns of as many bits checks that.
  static func integer(_ value: SQLFragment, in range: ClosedRange<Int64>) -> SQLFragment {
    let operand = value.parenthesized(in: .lowest)
    let isWhole = range == .min ... .max
    let bounds =
      isWhole ? [] : [range.lowerBound, range.upperBound].map { SQLFragment(text: "\($0)") }
    let call = SQLFragment(.call("larder_integer", [operand] + bounds))
    return SQLFragment(.form(.integer, [operand] + bounds, call), isNullable: value.isNullable)
  }
}
