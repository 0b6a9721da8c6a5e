/// Which transactions a session sees.
///
/// See [Transaction IDs and
/// Snapshots](https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT).
struct ServerSnapshot {
  private let oldest, next: UInt32
  private let running: Set<UInt32>

  /// The snapshot of a statement, in SQL.
  static let current = "pg_catalog.pg_current_snapshot()::text"

  /// Reads `oldest:next:running,running`, in which numbers have their epochs.
  init(_ text: String?) throws {
    let parts = text?.split(separator: ":", omittingEmptySubsequences: false) ?? []
    guard parts.count == 3, let oldest = UInt64(parts[0]), let next = UInt64(parts[1]) else {
      throw PostgresFailure("08P01", "the server has sent no snapshot", isConnectionLost: true)
    }
    self.oldest = UInt32(truncatingIfNeeded: oldest)
    self.next = UInt32(truncatingIfNeeded: next)
    running = Set(
      parts[2].split(separator: ",").compactMap { UInt64($0) }
        .map { UInt32(truncatingIfNeeded: $0) })
  }

  /// Whether a transaction has ended.
  func sees(_ transaction: UInt32) -> Bool {
    Self.isBefore(transaction, oldest)
      || Self.isBefore(transaction, next) && !running.contains(transaction)
  }

  /// Whether a transaction may still run that another snapshot takes for ended. Those from `next` on aren't listed,
  /// although they run: it follows the last one that has ended.
  func isBehind(_ other: ServerSnapshot) -> Bool {
    running.contains(where: other.sees) || Self.isBefore(next, other.next)
  }

  /// Whether a transaction still runs that is listed in another snapshot as running.
  func hasRunning(of other: ServerSnapshot) -> Bool { !running.isDisjoint(with: other.running) }

  /// Numbers without an epoch are compared as on a circle.
  private static func isBefore(_ one: UInt32, _ other: UInt32) -> Bool {
    Int32(bitPattern: one &- other) < 0
  }
}
