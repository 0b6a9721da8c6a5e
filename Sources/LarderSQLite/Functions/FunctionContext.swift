import CSQLite
import FoundationEssentials

/// SQLite's side of one call of a custom function: its arguments, and the place for its result.
///
/// Pointer safety: SQLite makes the pointers for one call, and no copy outlives it.
struct FunctionContext {
  let context: OpaquePointer?
  let format: FunctionFormat

  func arguments(
    _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) throws -> [DatabaseValue] {
    try UnsafeBufferPointer(start: values, count: Int(count)).map {
      try DatabaseValue(column: ColumnReader(value: $0, format: format.storage))
    }
  }

  func setResult(_ result: (any DatabaseValueConvertible)?) throws {
    switch try value(of: result) {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .text(var value):
      value.withUTF8 { larder_result_text(context, $0.baseAddress, UInt64($0.count)) }
    case .blob(let value):
      // An empty blob may have a nil pointer, which would make it NULL.
      value.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
          sqlite3_result_zeroblob(context, 0)
          return
        }
        larder_result_blob(context, start, UInt64(bytes.count))
      }
    }
  }

  private func value(of result: (any DatabaseValueConvertible)?) throws -> DatabaseValue {
    if let date = result as? Date { return try format.storage.dateFormat.databaseValue(of: date) }
    let value = try result?.databaseValue ?? .null
    if case .real(let number) = value, number.isNaN {
      throw ConversionError(.notANumber, Double.self)
    }
    return value
  }

  /// Makes the statement fail with the error's message, without the arguments' values, and with its code if
  /// it is a ``DatabaseError``.
  func setError(_ error: any Error, arguments: [DatabaseValue] = []) {
    let failure = FunctionFailure(error, arguments: format.showsArguments ? [] : arguments)
    sqlite3_result_error(context, failure.message, -1)
    if let code = failure.code { sqlite3_result_error_code(context, code.rawValue) }
  }
}

/// The settings of a connection that its functions need.
struct FunctionFormat {
  let storage: StorageFormat
  let showsArguments: Bool

  init(_ connection: Connection) {
    storage = connection.storageFormat
    showsArguments = connection.reporting.showsArguments
  }
}

/// A function's name, number of arguments and SQLite flags.
struct FunctionSignature {
  let name: String
  let argumentCount: Int32
  let flags: Int32
  /// Whether CHECK constraints could call the function although it is direct-only: SQLite marks their calls
  /// as the schema's only if the function is deterministic.
  let needsGuard: Bool

  /// Throws for a name or a number of arguments that SQLite doesn't allow.
  init(_ name: String, _ argumentCount: Int?, deterministic: Bool, directOnly: Bool) throws {
    guard !name.isEmpty, !name.utf8.contains(0), name.utf8.count <= 255 else {
      throw DatabaseError(
        .misuse, "a function's name needs 1 to 255 bytes, and none may be NUL")
    }
    guard (0...127).contains(argumentCount ?? 0) else {
      throw DatabaseError(
        .misuse, "a function's argument count is from 0 to 127, or nil for any number")
    }
    self.name = name
    self.argumentCount = argumentCount.map { Int32($0) } ?? -1
    needsGuard = directOnly && !deterministic
    flags =
      SQLITE_UTF8 | (deterministic ? SQLITE_DETERMINISTIC : 0)
      | (directOnly ? SQLITE_DIRECTONLY : 0)
  }
}

extension Connection {
  typealias FunctionCallback =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

  /// Registers a function or an aggregate, or removes it. SQLite owns the object from now on and releases it,
  /// even if this call fails.
  func register(
    _ signature: FunctionSignature, _ function: AnyObject?, call: FunctionCallback? = nil,
    step: FunctionCallback? = nil, final: (@convention(c) (OpaquePointer?) -> Void)? = nil,
    value: (@convention(c) (OpaquePointer?) -> Void)? = nil, inverse: FunctionCallback? = nil
  ) throws {
    let handle = try sqlite()
    // The replaced function is released in this call, which may run any code.
    callDepth += 1
    defer { callDepth -= 1 }
    let data = function.map { Unmanaged.passRetained($0).toOpaque() }
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
      data.map { Unmanaged<AnyObject>.fromOpaque($0).release() }
    }
    let code =
      inverse == nil
      ? sqlite3_create_function_v2(
        handle, signature.name, signature.argumentCount, signature.flags, data, call, step, final,
        release)
      : sqlite3_create_window_function(
        handle, signature.name, signature.argumentCount, signature.flags, data, step, final, value,
        inverse, release)
    guard code == SQLITE_OK else { throw error(code) }
    if function != nil { forgetSchema() }
  }
}
