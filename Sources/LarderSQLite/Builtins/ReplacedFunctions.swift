import CSQLite

/// Calls SQLite's own functions for those that have replaced them on a connection. They run on another
/// connection, in memory, which the first call opens.
///
/// The unsafe pointers are sound: arguments are valid for one call, and no copy outlives it; statements are
/// finalized with the object, before their connection is closed.
final class ReplacedFunctions {
  private var handle: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]

  /// The subtype of results of SQLite's JSON functions, so that a nested one isn't taken for a text.
  private static let json = UInt32(UInt8(ascii: "J"))

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Calls the function of this name, and gives its result to the call that has the context.
  func call(_ name: String, _ context: OpaquePointer?, _ arguments: [OpaquePointer?]) {
    evaluate(name, context, arguments) { result in
      sqlite3_result_value(context, result)
      let mark = sqlite3_value_subtype(result)
      if mark != 0 { sqlite3_result_subtype(context, mark) }
    }
  }

  /// Calls the function of this name, and a closure with its result. An error is given to the call that has
  /// the context instead.
  ///
  /// - Parameter asText: whether the arguments are taken as texts, whatever they are.
  func evaluate(
    _ name: String, _ context: OpaquePointer?, _ arguments: [OpaquePointer?], asText: Bool = false,
    _ body: (OpaquePointer?) -> Void
  ) {
    let parameters = arguments.map { value in
      if asText { return "CAST(? AS TEXT)" }
      return sqlite3_value_subtype(value) == Self.json ? "json(?)" : "?"
    }
    let sql = "SELECT \(name.quotedIdentifier)(\(parameters.joined(separator: ",")))"
    guard let statement = statement(sql, like: sqlite3_context_db_handle(context)) else {
      sqlite3_result_error_nomem(context)
      return
    }
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in arguments.enumerated() {
      let code = sqlite3_bind_value(statement, Int32(index + 1), value)
      guard code == SQLITE_OK else {
        sqlite3_result_error_code(context, code)
        return
      }
    }
    switch sqlite3_step(statement) {
    case SQLITE_ROW: body(sqlite3_column_value(statement, 0))
    case let code:
      sqlite3_result_error(context, sqlite3_errmsg(handle), -1)
      sqlite3_result_error_code(context, code)
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
    sqlite3_prepare_v3(
      handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    statements[sql] = statement
    return statement
  }
}
