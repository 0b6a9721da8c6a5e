import CSQLite

/// The failure to report to SQLite when a custom function has thrown.
struct FunctionFailure {
  let code: ResultCode?
  let message: String

  /// - Parameter arguments: the values to hide in the message.
  init(_ error: any Error, arguments: [DatabaseValue]) {
    let databaseError = error as? DatabaseError
    message = Redaction.hide(
      arguments, in: DatabaseError.cut(databaseError?.message ?? String(describing: error)))
    // Success, "row" and "done" are no errors: SQLite would take the statement for finished.
    code = databaseError?.extendedCode.isError == true ? databaseError?.extendedCode : nil
  }
}

extension ResultCode {
  fileprivate var isError: Bool {
    rawValue > 0 && primary.rawValue > 0 && ![SQLITE_ROW, SQLITE_DONE].contains(primary.rawValue)
  }
}
