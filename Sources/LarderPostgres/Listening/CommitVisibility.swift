import LarderSQLite

/// The commits that were decoded, but that other sessions may not see yet.
struct CommitVisibility {
  var pending: [LoggedCommit] = []
  /// Whether commits may have been missed.
  var isUnknown = false
  /// Whether a stream has begun. Commits that were logged before it, but that nobody saw yet, aren't decoded:
  /// they are among the transactions that run after it has begun.
  var isStartingAnew = false
  /// When to look at what is pending, in nanoseconds of the `MonotonicClock`.
  var nextLook = 0
  /// The time until the next look, in nanoseconds.
  private var pause = shortestPause

  private static let shortestPause = 1_000_000
  private static let longestPause = 100_000_000

  enum Work {
    case nothing, unknown, anew
    case commits([LoggedCommit])
  }

  var due: Int { isUnknown || isStartingAnew ? 0 : pending.isEmpty ? .max : nextLook }

  /// Takes out what is to be done now.
  mutating func take() -> Work {
    guard due <= MonotonicClock.nanoseconds else { return .nothing }
    if isStartingAnew {
      // What is pending runs still, or is seen by whoever looks from now on.
      (isStartingAnew, isUnknown, pending) = (false, false, [])
      return .anew
    }
    if isUnknown {
      isUnknown = false
      return .unknown
    }
    defer { pending = [] }
    return .commits(pending)
  }

  /// Takes back what isn't seen yet.
  ///
  /// - Parameter seen: whether others were seen.
  mutating func giveBack(_ commits: [LoggedCommit], seen: Bool) {
    pause = seen ? Self.shortestPause : min(2 * pause, Self.longestPause)
    // Those that have come meanwhile are looked at next.
    if pending.isEmpty { nextLook = MonotonicClock.nanoseconds + pause }
    pending += commits
  }
}

/// A session that is asked which transactions have ended.
final class VisibilitySession {
  private let connection: PostgresConnection
  private let timeout: Duration
  private var statements: [String: PostgresStatement] = [:]

  init(_ connection: PostgresConnection, timeout: Duration) {
    self.connection = connection
    self.timeout = timeout
  }

  func snapshot() throws -> ServerSnapshot {
    try ServerSnapshot(text("SELECT \(ServerSnapshot.current)"))
  }

  /// The transactions that others don't see yet: each holds a lock on its own number until they do.
  func running() throws -> [LoggedCommit] {
    try text(
      """
      SELECT coalesce(string_agg(transactionid::text, ','), '') FROM pg_catalog.pg_locks
      WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
      """
    ).split(separator: ",").compactMap { UInt32($0) }
      .map { LoggedCommit(transaction: $0, tables: nil) }
  }

  private func text(_ sql: String) throws -> String {
    connection.deadline = (MonotonicClock.now + timeout).inNanoseconds
    let statement = try statements[sql] ?? connection.prepare(sql, parameterCount: 0)
    statements[sql] = statement
    try statement.execute()
    var text = ""
    while try statement.next() {
      text = String(decoding: statement.column(0).bytes, as: UTF8.self)
    }
    try statement.reset()
    return text
  }
}
