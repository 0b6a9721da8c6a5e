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
///
/// The unsafe pointers are sound: SQLite makes them for one call, and no copy outlives it. For each group
/// of an aggregate SQLite keeps room for one pointer, zero at first, in which we own a sum until the end.
enum DecimalFunctions {
  /// Adds the functions to a connection, before it has read its schema. A file can't call them.
  static func install(on handle: OpaquePointer) throws {
    try FunctionEntry("larder_decimal", 1) { context, _, values in
      guard let value = values?[0], !DecimalFunctions.isPlain(value) else {
        sqlite3_result_value(context, values?[0])
        return
      }
      DecimalFunctions.answer(context, value, value) { number, _ in number }
    }.install(on: handle)
    try FunctionEntry("larder_decimal_key", 1) { context, _, values in
      guard let value = values?[0], let number = DecimalFunctions.number(value, context) else {
        return
      }
      number.key.withUnsafeBytes {
        larder_result_blob(context, $0.baseAddress, UInt64($0.count))
      }
    }.install(on: handle)
    try FunctionEntry("larder_decimal_add", 2) { context, _, values in
      DecimalFunctions.answer(context, values?[0], values?[1], +)
    }.install(on: handle)
    try FunctionEntry("larder_decimal_subtract", 2) { context, _, values in
      DecimalFunctions.answer(context, values?[0], values?[1], -)
    }.install(on: handle)
    try FunctionEntry("larder_decimal_multiply", 2) { context, _, values in
      DecimalFunctions.answer(context, values?[0], values?[1], *)
    }.install(on: handle)
    let code = sqlite3_create_window_function(
      handle, "larder_decimal_sum", 1, FunctionEntry.flags, nil,
      { context, _, values in DecimalSum.of(context)?.add(values?[0], context) },
      { context in
        DecimalSum.of(context, isLast: true)?.answer(context)
      },
      { context in DecimalSum.of(context)?.answer(context) },
      { context, _, values in DecimalSum.of(context)?.add(values?[0], context, isTaken: true) }, nil
    )
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }

  /// Whether a value is NULL, or text exactly as ``DecimalNumber/text`` writes it, with few enough digits
  /// for any Decimal.
  private static func isPlain(_ value: OpaquePointer) -> Bool {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return true
    case SQLITE_TEXT: break
    default: return false
    }
    guard let start = sqlite3_value_text(value) else { return false }
    var bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))[...]
    guard bytes.count <= 38 else { return false }
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

  /// The number of a value; nil for NULL, and for an error, which becomes the function's result.
  fileprivate static func number(
    _ value: OpaquePointer?, _ context: OpaquePointer?
  ) -> DecimalNumber? {
    var number: DecimalNumber?
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: number = DecimalNumber(String(sqlite3_value_int64(value)).utf8)
    case SQLITE_FLOAT: number = DecimalNumber(sqlite3_value_double(value).description.utf8)
    case SQLITE_TEXT:
      guard let start = sqlite3_value_text(value) else {
        sqlite3_result_error_nomem(context)
        return nil
      }
      number = DecimalNumber(
        UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
    default:
      if let start = sqlite3_value_blob(value) {
        number = DecimalNumber(
          key: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))))
      }
    }
    guard let number else {
      fail(context, "the value isn't a decimal number")
      return nil
    }
    guard number.isDecimal else {
      fail(context, "the number has more digits than a Decimal holds")
      return nil
    }
    return number
  }

  private static func answer(
    _ context: OpaquePointer?, _ left: OpaquePointer?, _ right: OpaquePointer?,
    _ operation: (DecimalNumber, DecimalNumber) -> DecimalNumber
  ) {
    guard let left = number(left, context), let right = number(right, context) else { return }
    answer(context, operation(left, right))
  }

  fileprivate static func answer(_ context: OpaquePointer?, _ number: DecimalNumber) {
    guard number.isDecimal else {
      return fail(context, "decimal overflow: the result has more digits than a Decimal holds")
    }
    number.text.withUnsafeBytes {
      larder_result_text(context, $0.baseAddress, UInt64($0.count))
    }
  }

  private static func fail(_ context: OpaquePointer?, _ message: String) {
    sqlite3_result_error(context, message, -1)
    sqlite3_result_error_code(context, ResultCode.constraintDatatype.rawValue)
  }
}

/// The sum of a group of rows.
private final class DecimalSum {
  private var sum = DecimalNumber.zero
  private var count = 0
  private var hasFailed = false

  /// - Parameter isLast: whether this is the last call for the group. A group without rows has no sum
  ///   then.
  static func of(_ context: OpaquePointer?, isLast: Bool = false) -> DecimalSum? {
    let size = isLast ? 0 : Int32(MemoryLayout<UnsafeRawPointer?>.size)
    guard
      let room = sqlite3_aggregate_context(context, size)?
        .assumingMemoryBound(to: UnsafeRawPointer?.self)
    else {
      if !isLast { sqlite3_result_error_nomem(context) }
      return nil
    }
    if isLast {
      defer { room.pointee = nil }
      return room.pointee.map { Unmanaged<DecimalSum>.fromOpaque($0).takeRetainedValue() }
    }
    if let known = room.pointee {
      return Unmanaged<DecimalSum>.fromOpaque(known).takeUnretainedValue()
    }
    let sum = DecimalSum()
    room.pointee = UnsafeRawPointer(Unmanaged.passRetained(sum).toOpaque())
    return sum
  }

  /// - Parameter isTaken: whether the row leaves the window instead of entering it.
  func add(_ value: OpaquePointer?, _ context: OpaquePointer?, isTaken: Bool = false) {
    guard sqlite3_value_type(value) != SQLITE_NULL else { return }
    guard let number = DecimalFunctions.number(value, context) else {
      hasFailed = true
      return
    }
    sum = isTaken ? sum - number : sum + number
    count += isTaken ? -1 : 1
  }

  func answer(_ context: OpaquePointer?) {
    if count > 0, !hasFailed { DecimalFunctions.answer(context, sum) }
  }
}
