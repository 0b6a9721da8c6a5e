/// When a transaction takes its locks; see [Transactions](https://www.sqlite.org/lang_transaction.html).
public enum TransactionKind: Hashable, Sendable {
  /// Takes its locks when it first reads, and again when it first writes, which can fail.
  case deferred
  /// Takes the lock for writing at once: the usual choice.
  case immediate
  /// Takes all locks at once; in write-ahead mode the same as ``immediate``.
  case exclusive

  var control: TransactionControl {
    switch self {
    case .deferred: .beginDeferred
    case .immediate: .beginImmediate
    case .exclusive: .beginExclusive
    }
  }
}

package enum TransactionControl: Int, CaseIterable {
  case beginDeferred, beginImmediate, beginExclusive, beginReading, commit, rollback
  case savepoint, release, rollbackTo

  /// The name of the scopes' savepoints. Other SQL that uses it is refused.
  package static let savepointName = "larder scope"

  package var sql: String {
    switch self {
    case .beginDeferred, .beginReading: "BEGIN DEFERRED"
    case .beginImmediate: "BEGIN IMMEDIATE"
    case .beginExclusive: "BEGIN EXCLUSIVE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    // The innermost of several savepoints with the same name counts.
    case .savepoint: #"SAVEPOINT "larder scope""#
    case .release: #"RELEASE "larder scope""#
    case .rollbackTo: #"ROLLBACK TO "larder scope""#
    }
  }
}
