import CSQLite
import FoundationEssentials

/// The settings of a connection that its custom functions need, to read their arguments and give results.
struct FunctionFormat {
  private let storage: StorageFormat
  private let showsArguments: Bool

  init(_ connection: Connection) {
    storage = connection.storageFormat
    showsArguments = connection.reporting.showsArguments
  }

  func arguments(of call: FunctionCall) throws -> [DatabaseValue] {
    try (0..<call.count).map {
      try DatabaseValue(column: ColumnReader(value: call[$0].value, format: storage))
    }
  }

  func setResult(_ result: (any DatabaseValueConvertible)?, of call: FunctionCall) throws {
    if let date = result as? Date {
      return call.setResult(try storage.dateFormat.databaseValue(of: date))
    }
    let value = try result?.databaseValue ?? .null
    if case .real(let number) = value, number.isNaN {
      throw ConversionError(.notANumber, Double.self)
    }
    call.setResult(value)
  }

  /// Makes the statement fail with the error's message, without the arguments' values, and with its code if
  /// it is a ``DatabaseError``.
  func setError(_ error: any Error, arguments: [DatabaseValue] = [], of call: FunctionCall) {
    let failure = FunctionFailure(error, arguments: showsArguments ? [] : arguments)
    call.fail(failure.message, failure.code)
  }
}

/// The number of arguments and the flags of a custom function, as SQLite knows them.
struct FunctionSignature {
  let argumentCount: Int32
  let flags: Int32

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
    self.argumentCount = argumentCount.map { Int32($0) } ?? -1
    flags =
      SQLITE_UTF8 | (deterministic ? SQLITE_DETERMINISTIC : 0)
      | (directOnly ? SQLITE_DIRECTONLY : 0)
  }
}

extension Connection {
  /// Registers a custom function, or removes the one that has no callbacks.
  func register(_ function: FunctionEntry) throws {
    let handle = try sqlite()
    // The replaced function is released in this call, which may run any code.
    try whileCalling {
      let code = function.register(on: handle)
      guard code == SQLITE_OK else { throw error(code) }
      if function.hasObject { forgetSchema() }
    }
  }
}
