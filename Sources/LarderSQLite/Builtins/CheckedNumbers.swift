import CSQLite

/// SQL functions that wrap assigned expressions, so that no column gets a number that its property
/// can't have: SQLite computes with 64 bits whatever the property's type, and goes on with real numbers
/// after an overflow.
///
/// `larder_integer(x)` and `larder_integer(x, least, greatest)` return an integer as it is, and fail for
/// any other value, as a STRICT table does for a value of another type. `larder_float(x)` rounds to what
/// a Float holds. NULL stays NULL.
///
/// The unsafe pointers are sound: SQLite makes them for one call, and no copy outlives it.
enum CheckedNumbers {
  /// Adds the functions to a connection, before it has read its schema. A file can't call them.
  static func install(on handle: OpaquePointer) throws {
    try FunctionEntry("larder_integer", 1) { context, _, values in
      guard let value = values?[0] else { return }
      CheckedNumbers.check(value, .min, .max, context)
    }.install(on: handle)
    try FunctionEntry("larder_integer", 3) { context, _, values in
      guard let values, let value = values[0] else { return }
      CheckedNumbers.check(
        value, sqlite3_value_int64(values[1]), sqlite3_value_int64(values[2]), context)
    }.install(on: handle)
    try FunctionEntry("larder_float", 1) { context, _, values in
      guard let value = values?[0] else { return }
      switch sqlite3_value_type(value) {
      case SQLITE_INTEGER, SQLITE_FLOAT:
        sqlite3_result_double(context, Double(Float(sqlite3_value_double(value))))
      default: sqlite3_result_value(context, value)
      }
    }.install(on: handle)
  }

  private static func check(
    _ value: OpaquePointer, _ least: Int64, _ greatest: Int64, _ context: OpaquePointer?
  ) {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER where (least...max(least, greatest)).contains(sqlite3_value_int64(value)),
      SQLITE_NULL:
      sqlite3_result_value(context, value)
    case SQLITE_INTEGER, SQLITE_FLOAT:
      sqlite3_result_error(
        context, "integer overflow: the number is not from \(least) to \(greatest)", -1)
      sqlite3_result_error_code(context, ResultCode.constraintDatatype.rawValue)
    default:
      sqlite3_result_error(context, "the value isn't an integer", -1)
      sqlite3_result_error_code(context, ResultCode.constraintDatatype.rawValue)
    }
  }
}

/// A stateless SQL function of this library: equal arguments give equal results. The schema can't
/// call it, unless it was made with `isInSchema`.
struct FunctionEntry {
  typealias Callback =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  private let name: StaticString
  private let argumentCount: Int32
  private let isInSchema: Bool
  private let call: Callback

  /// - Parameter isInSchema: whether indexes, constraints and generated columns can call it, also those of a
  ///   file from elsewhere. It has to be harmless then.
  init(
    _ name: StaticString, _ argumentCount: Int32, isInSchema: Bool = false,
    _ call: @escaping Callback
  ) {
    self.name = name
    self.argumentCount = argumentCount
    self.isInSchema = isInSchema
    self.call = call
  }

  static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY

  func install(on handle: OpaquePointer) throws {
    let flags =
      isInSchema ? SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS : Self.flags
    let code = name.withUTF8Buffer { name in
      name.withMemoryRebound(to: CChar.self) {
        sqlite3_create_function_v2(
          handle, $0.baseAddress, argumentCount, flags, nil, call, nil, nil, nil)
      }
    }
    guard code == SQLITE_OK else {
      throw DatabaseError(ResultCode(rawValue: code), "out of memory")
    }
  }
}
