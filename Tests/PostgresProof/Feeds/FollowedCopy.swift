import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// A copy of the tables of the proof `feed`, which a consumer of a feed keeps.
final class FollowedCopy: Sendable {
  struct State {
    var items: [Int64: [DatabaseValue]] = [:]
    /// How many transactions of each writer there were.
    var tally: [Int64: Int64] = [:]
    /// The position of the last transaction.
    var last = Int.min
    var transactions = 0
    /// Transactions that came again, and unknown ones.
    var (repeats, unknowns) = (0, 0)
    /// Writers' transactions that were passed over, and rows that weren't as the feed said.
    var (missed, misplaced) = (0, 0)
    var latencies: [Duration] = []
    /// The transactions since the tables were read, and what the first misplaced ones are.
    var sinceRead = 0
    var notes: [String] = []
    var readAt = ""

    mutating func note(_ change: RowChange, _ found: String, _ position: Int) {
      misplaced += 1
      guard notes.count < 12 else { return }
      notes.append(
        "\(change.table) \(change.kind) \(change.old ?? []) > \(change.new ?? []) at \(String(position, radix: 16)), the "
          + "\(sinceRead). since reading at \(readAt): it was \(found)")
    }
  }

  let state = Lock(State())

  static let tables = ["item", "tally"]

  /// Reads both tables anew, for a feed that begins. After a failover, its positions may be smaller.
  func read(_ db: Database) throws {
    let items = try Self.items(db)
    let tally = try Self.tally(db)
    let at = try db.value(
      "SELECT concat_ws(' ', pg_current_snapshot(), pg_current_wal_lsn(), clock_timestamp())",
      as: String.self)
    state.withLock {
      ($0.items, $0.tally, $0.last, $0.sinceRead) = (items, tally, .min, 0)
      $0.readAt = at ?? ""
    }
  }

  static func items(_ db: Database) throws -> [Int64: [DatabaseValue]] {
    let rows = try db.executeQuery("SELECT * FROM item").map { row in
      try (0..<row.columnCount).map { try row.get(at: $0, as: DatabaseValue.self) }
    }
    return Dictionary(rows.map { (key($0), $0) }) { first, _ in first }
  }

  static func tally(_ db: Database) throws -> [Int64: Int64] {
    let rows = try db.executeQuery("SELECT writer, n FROM tally").map { row in
      (try row.get(at: 0, as: Int64.self), try row.get(at: 1, as: Int64.self))
    }
    return Dictionary(rows) { first, _ in first }
  }

  private static func key(_ row: [DatabaseValue]) -> Int64 { integer(row.first) }

  private static func integer(_ value: DatabaseValue?) -> Int64 {
    if case .integer(let number)? = value { number } else { -1 }
  }

  /// Does what a transaction has done. One that was done already comes again after a restart, and is left out.
  func apply(_ transaction: CommittedChanges<RowChange>, at now: Double) {
    state.withLock { state in
      guard transaction.number > state.last else { return state.repeats += 1 }
      state.last = transaction.number
      state.transactions += 1
      state.sinceRead += 1
      for change in transaction.changes {
        if change.table == "tally" {
          Self.count(change, &state, at: now)
          continue
        }
        if let old = change.old {
          let found = state.items.removeValue(forKey: Self.key(old))
          if found != old { state.note(change, "\(found as Any)", transaction.number) }
        }
        if let new = change.new, let found = state.items.updateValue(new, forKey: Self.key(new)) {
          state.note(change, "\(found)", transaction.number)
        }
      }
    }
  }

  private static func count(_ change: RowChange, _ state: inout State, at now: Double) {
    guard let new = change.new, new.count == 3 else { return }
    let (writer, number) = (key(new), integer(new[1]))
    let known = state.tally.updateValue(number, forKey: writer) ?? 0
    if number > known + 1 { state.missed += Int(number - known - 1) }
    if number <= known { state.note(change, "\(known)", state.last) }
    if case .real(let time) = new[2] { state.latencies.append(.seconds(now - time)) }
  }
}
