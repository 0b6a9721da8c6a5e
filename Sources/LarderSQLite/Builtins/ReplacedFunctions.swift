import CSQLite

/// Calls SQLite's own functions for those that have replaced them on a connection. They run on another
/// connection, in memory, which the first call opens.
///
/// The unsafe pointers are sound: statements are finalized with the object, before their connection is closed.
final class ReplacedFunctions {
  private var handle: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  func answer(_ call: FunctionCall, _ name: String) {
    evaluate(name, call, call.arguments) { result in
      call.setResult(result)
      if result.isJSON { call.markAsJSON() }
    }
  }

  /// Calls the function of this name, and a closure with its result. If it fails, so does the call that is
  /// given.
  ///
  /// - Parameter asText: whether the arguments are taken as texts, whatever they are.
  func evaluate(
    _ name: String, _ call: FunctionCall, _ arguments: [FunctionArgument], asText: Bool = false,
    _ body: (FunctionArgument) -> Void
  ) {
    let parameters = arguments.map { asText ? "CAST(? AS TEXT)" : $0.isJSON ? "json(?)" : "?" }
    let sql = "SELECT \(name.quotedIdentifier)(\(parameters.joined(separator: ",")))"
    guard let statement = statement(sql, like: call.database) else { return call.failForMemory() }
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, argument) in arguments.enumerated() {
      let code = sqlite3_bind_value(statement, Int32(index + 1), argument.value)
      guard code == SQLITE_OK else { return call.fail(ResultCode(rawValue: code)) }
    }
    switch sqlite3_step(statement) {
    case SQLITE_ROW: body(FunctionArgument(value: sqlite3_column_value(statement, 0)))
    case let code: call.fail(String(cString: sqlite3_errmsg(handle)), ResultCode(rawValue: code))
    }
  }

  private func statement(_ sql: String, like caller: OpaquePointer?) -> OpaquePointer? {
    if handle == nil {
      sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    }
    guard let handle, let caller else { return nil }
    for limit in [SQLITE_LIMIT_LENGTH, SQLITE_LIMIT_LIKE_PATTERN_LENGTH] {
      sqlite3_limit(handle, limit, sqlite3_limit(caller, limit, -1))
    }
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    statements[sql] = statement
    return statement
  }
}
