/// Reasons why a connection can't be used for now. Each is set and cleared independently of the
/// others, from any thread.
struct BlockedReasons: OptionSet {
  let rawValue: Int
  /// The task of the running scope was cancelled.
  static let cancellation = BlockedReasons(rawValue: 1)
  /// A backup is being written into the database.
  static let backup = BlockedReasons(rawValue: 2)
  /// A transaction could not be rolled back; the rollback is still owed.
  static let rollback = BlockedReasons(rawValue: 4)
  /// A transaction could not be rolled back, and the code that runs next believes to be in it
  /// still.
  static let innerRollback = BlockedReasons(rawValue: 8)
  /// Settings that a scope has changed could not be put back yet.
  static let settings = BlockedReasons(rawValue: 16)
  /// A hook runs, which SQLite doesn't allow to use the connection.
  static let hook = BlockedReasons(rawValue: 32)
  /// Somebody has asked for the connection's memory, which only its user can measure.
  static let measurement = BlockedReasons(rawValue: 64)
}

extension Connection {
  /// Whether a transaction is open only because it could not be rolled back yet.
  var owesRollback: Bool { !reasons.isDisjoint(with: [.rollback, .innerRollback]) }

  /// Blocks the connection until the transaction is rolled back.
  func oweRollback(isInner: Bool) { block(isInner ? .innerRollback : .rollback) }

  /// Stops reporting a lost transaction, once its owner knows of it or is gone.
  func forgetLostTransaction() {
    if reasons.contains(.innerRollback), !hasTransaction { unblock(.innerRollback) }
  }
}
