import Larder
import LarderSQLite

// Savepoints, which cost no round trip of their own if nothing fails.

extension PostgresEngine {
  private static let savepointName = TransactionControl.savepointName.quotedIdentifier
  private static let beginning = "SAVEPOINT \(savepointName)"

  /// Whether the innermost savepoint is still to be sent with the next statement, so that nothing has been
  /// done in it.
  private var isSavepointEmpty: Bool { connection.deferred.last == Self.beginning }

  func savepoint() throws {
    if !hasTransaction {
      try begin(beginning)
      isSavepointOutermost = true
    }
    try putOff(Self.beginning)
    savepointCount += 1
  }

  func release() throws {
    savepointCount -= 1
    if savepointCount <= 0, isSavepointOutermost {
      isSavepointOutermost = false
      return try commit()
    }
    if isSavepointEmpty {
      connection.deferred.removeLast()
    } else {
      try putOff("RELEASE SAVEPOINT \(Self.savepointName)")
    }
  }

  func rollbackToSavepoint() throws {
    if isSavepointEmpty { return }
    hasLostLocks = true
    try connection.endRows()
    try connection.run("ROLLBACK TO SAVEPOINT \(Self.savepointName)")
  }

  /// Defers a statement, which is sent with the next one. Throws in a transaction that has failed.
  func putOff(_ sql: String) throws {
    if connection.status == .failedTransaction {
      try perform(sql, until: soon) { _ = try connection.run(sql) }
    } else {
      connection.deferred.append(sql)
    }
  }
}
