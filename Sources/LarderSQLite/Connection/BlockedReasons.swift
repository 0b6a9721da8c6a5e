/// What keeps a connection from being used for now. Each is a fact of its own, set and taken back
/// without regard to the others, from whatever thread.
struct BlockedReasons: OptionSet {
  let rawValue: Int
  /// The task of the running scope was cancelled.
  static let cancellation = BlockedReasons(rawValue: 1)
  /// A backup is being written into the database.
  static let backup = BlockedReasons(rawValue: 2)
  /// A transaction could not be rolled back, which has to be made up for.
  static let rollback = BlockedReasons(rawValue: 4)
  /// The same, where whoever goes on believes to be in the transaction still.
  static let innerRollback = BlockedReasons(rawValue: 8)
  /// Settings that a scope has changed could not be put back yet.
  static let settings = BlockedReasons(rawValue: 16)
  /// A hook runs, which SQLite doesn't allow to use the connection.
  static let hook = BlockedReasons(rawValue: 32)
}

extension Connection {
  /// Whether a transaction is open only because it could not be rolled back yet.
  var owesRollback: Bool { !reasons.isDisjoint(with: [.rollback, .innerRollback]) }

  /// Lets nothing be done until the transaction is rolled back.
  func oweRollback(isInner: Bool) { block(isInner ? .innerRollback : .rollback) }

  /// Doesn't tell of a transaction that was lost, once its owner knows, or is gone.
  func forgetLostTransaction() {
    if reasons.contains(.innerRollback), !hasTransaction { unblock(.innerRollback) }
  }
}
