import CSQLite

/// SQL functions for Decimals, which SQLite stores as text and would compare as texts and compute with as
/// real numbers:
///
/// - `larder_decimal(x)`: the number as text, the same text for equal numbers. `x` is a text, an integer,
///   a real number (taken by its shortest decimal form), or a key
/// - `larder_decimal_key(x)`: bytes that sort as the numbers do
/// - `larder_decimal_add(x, y)`, `larder_decimal_subtract(x, y)`, `larder_decimal_multiply(x, y)`
/// - `larder_decimal_sum(x)`: an aggregate, also over windows
///
/// They are exact: a result that no Decimal holds is an error, and so is a value that is no number. NULL
/// gives NULL, and isn't summed.
enum DecimalFunctions {
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_decimal", 1) {
        let call = FunctionCall($0, $1, $2)
        if DecimalFunctions.isPlain(call[0]) { return call.setResult(call[0]) }
        guard let number = DecimalFunctions.number(call[0], call) else { return }
        DecimalFunctions.answer(call, number)
      },
      FunctionEntry("larder_decimal_key", 1) {
        let call = FunctionCall($0, $1, $2)
        guard let number = DecimalFunctions.number(call[0], call) else { return }
        call.setResult(blob: number.key)
      },
      FunctionEntry("larder_decimal_add", 2) {
        DecimalFunctions.answer(FunctionCall($0, $1, $2), +)
      },
      FunctionEntry("larder_decimal_subtract", 2) {
        DecimalFunctions.answer(FunctionCall($0, $1, $2), -)
      },
      FunctionEntry("larder_decimal_multiply", 2) {
        DecimalFunctions.answer(FunctionCall($0, $1, $2), *)
      },
      FunctionEntry(
        "larder_decimal_sum", 1,
        aggregate: .init(
          step: { DecimalSum.add($0) }, inverse: { DecimalSum.add($0, isTaken: true) },
          answer: DecimalSum.answer)),
    ]
  }

  /// Whether a value is NULL, or text exactly as ``DecimalNumber/text`` writes it, with few enough digits
  /// for any Decimal.
  private static func isPlain(_ value: FunctionArgument) -> Bool {
    switch value.type {
    case SQLITE_NULL: return true
    case SQLITE_TEXT: break
    default: return false
    }
    guard var bytes = value.text?[...], bytes.count <= 38 else { return false }
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { bytes.removeFirst() }
    var point: Int?
    for index in bytes.indices where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index])
    {
      guard point == nil, bytes[index] == UInt8(ascii: ".") else { return false }
      point = index
    }
    let whole = bytes[..<(point ?? bytes.endIndex)]
    guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else {
      return false
    }
    guard point == nil else {
      return bytes.last != UInt8(ascii: "0") && bytes.last != UInt8(ascii: ".")
    }
    return !isNegative || first != UInt8(ascii: "0")
  }

  /// The number of a value; nil for NULL, and for an error, which becomes the call's.
  fileprivate static func number(
    _ value: FunctionArgument, _ call: FunctionCall
  ) -> DecimalNumber? {
    var number: DecimalNumber?
    switch value.type {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: number = DecimalNumber(String(value.integer).utf8)
    case SQLITE_FLOAT: number = DecimalNumber(value.real.description.utf8)
    case SQLITE_TEXT:
      guard let text = value.text else {
        call.failForMemory()
        return nil
      }
      number = DecimalNumber(text)
    default: number = value.blob.flatMap { DecimalNumber(key: $0) }
    }
    guard let number else {
      call.fail("the value isn't a decimal number")
      return nil
    }
    guard number.isDecimal else {
      call.fail("the number has more digits than a Decimal holds")
      return nil
    }
    return number
  }

  private static func answer(
    _ call: FunctionCall, _ operation: (DecimalNumber, DecimalNumber) -> DecimalNumber
  ) {
    guard let left = number(call[0], call), let right = number(call[1], call) else { return }
    answer(call, operation(left, right))
  }

  fileprivate static func answer(_ call: FunctionCall, _ number: DecimalNumber) {
    guard number.isDecimal else {
      return call.fail("decimal overflow: the result has more digits than a Decimal holds")
    }
    call.setResult(text: number.text)
  }
}

private final class DecimalSum {
  private var sum = DecimalNumber.zero
  private var count = 0
  private var hasFailed = false

  /// - Parameter isTaken: whether the row leaves the window instead of entering it.
  static func add(_ call: FunctionCall, isTaken: Bool = false) {
    guard let group = call.group({ DecimalSum() }), !call[0].isNull else { return }
    guard let number = DecimalFunctions.number(call[0], call) else {
      group.hasFailed = true
      return
    }
    group.sum = isTaken ? group.sum - number : group.sum + number
    group.count += isTaken ? -1 : 1
  }

  /// A group without numbers has no sum.
  static func answer(_ call: FunctionCall, _ isLast: Bool) {
    guard let group = call.knownGroup(isLast: isLast, as: DecimalSum.self), group.count > 0,
      !group.hasFailed
    else { return }
    DecimalFunctions.answer(call, group.sum)
  }
}
