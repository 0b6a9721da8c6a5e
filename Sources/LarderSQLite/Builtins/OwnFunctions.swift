import CSQLite

/// The functions of this library. Those that a file's schema may call, or that replace SQLite's own, are registered
/// when a connection is opened. The others are only for statements, and are registered before the first statement
/// that calls one: together they would take a twentieth of the time of opening a database.
enum OwnFunctions {
  private static let all =
    LinearSearch.functions + CheckedNumbers.functions + KeptTexts.functions + FoldedTexts.functions
    + DateFunctions.functions + DecimalFunctions.functions + JSONFunctions.functions
  static let ofEachConnection = all.filter { !$0.isOnlyForStatements }
  fileprivate static let ofStatements = all.filter(\.isOnlyForStatements)
}

extension Connection {
  /// Registers the functions that are only for statements, after a statement has failed because it calls one that
  /// there isn't yet. True if the statement should be tried again.
  func hasMissedFunctions(after code: Int32) -> Bool {
    guard code & 0xff == SQLITE_ERROR || code & 0xff == SQLITE_CORRUPT, !hasOwnFunctions,
      let handle,
      case let message = String(cString: sqlite3_errmsg(handle)),
      message.contains("no such function: larder_")
    else { return false }
    hasOwnFunctions = OwnFunctions.ofStatements.allSatisfy { $0.register(on: handle) == SQLITE_OK }
    return hasOwnFunctions
  }
}
