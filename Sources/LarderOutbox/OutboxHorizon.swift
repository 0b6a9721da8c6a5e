import Larder

/// The position up to which an outbox is complete: no message will ever be committed at or before it.
///
/// SQLite has one writer, so each message that can be seen is such a position. On a server a transaction takes
/// the position 5, another one takes 6 and commits, and the first one commits later. A consumer that has gone on
/// to 6 meanwhile never sees 5.
///
/// So a worker there notes the last position that it sees, and *then* has the server give its own transaction an
/// id. Each transaction that has taken a smaller position has had its id before (``StoredMessage/append(_:_:)``
/// sees to that), and ids are given in ascending order: its id is smaller than the worker's. All of these
/// transactions have ended once `pg_snapshot_xmin`, the smallest id of those that run, is greater than the
/// worker's. Then the positions up to the noted one are complete, and can be read in their order.
///
/// That order is better than one by the transactions' ids: a transaction that has had its id for long, then waits
/// for another one's commit and changes the same row, appends after it, and comes after it. And a position means
/// the same on another server, whose ids of transactions are others.
///
/// Any open transaction of the server that has changed something holds the consumers up, even one of another
/// database. They go on when it ends.
struct OutboxHorizon: Sendable {
  private(set) var complete: Int64
  /// A position that will be complete once the transactions up to an id have ended.
  private var next: (position: Int64, transaction: Int64)?
  /// The server that all this holds for: the time at which it was started, or has begun anew. One that takes over after
  /// a loss may give positions anew.
  private(set) var server: String?

  /// - Parameter isServer: whether the database isn't SQLite's.
  init(isServer: Bool) { complete = isServer ? 0 : .max }

  /// Whether it waits for transactions.
  var waits: Bool { next != nil }

  /// The horizon as of now. On a server, `db` has to be in a transaction that has done nothing yet, and each of
  /// whose statements sees the newest commits.
  func advanced(_ db: Database) throws -> OutboxHorizon {
    guard db.engine != nil else { return self }
    var horizon = self
    let look = try db.fetch(Look.self, Self.look).first
    guard let look else { return horizon }
    if look.server != server {
      horizon = OutboxHorizon(isServer: true)
      horizon.server = look.server
    }
    if let next = horizon.next, next.transaction < look.oldest {
      horizon.complete = next.position
      horizon.next = nil
    }
    if let last = look.last, last > horizon.complete, horizon.next == nil {
      let sql: SQL = "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)"
      if let own = try db.value(sql, as: Int64.self) { horizon.next = (last, own) }
    }
    return horizon
  }

  /// The last position of all messages that are there.
  func last(_ db: Database) throws -> Int64 {
    guard db.engine == nil else { return complete }
    let last = try StoredMessage.all.order { $0.id.desc }.select { $0.id }.fetchOne(db) ?? nil
    return last ?? 0
  }

  /// True on the server that the horizon holds for.
  var condition: SQLExpression<Bool> {
    guard let server else { return SQLExpression(sql: "1 = 1") }
    return SQLExpression(sql: "\(Self.started) = \(server)")
  }

  private struct Look: Decodable {
    let last: Int64?
    let oldest: Int64
    let server: String
  }

  /// A server one of whose processes was killed begins anew with the start that it had, and without the commits that
  /// `synchronous_commit = off` hasn't written. Its statistics begin then, too. Version 14 would read these from a file
  /// that another process has to write first.
  private static let started: SQL = """
    concat(extract(epoch FROM pg_postmaster_start_time()), ' ', \
    CASE WHEN CAST(current_setting('server_version_num') AS INTEGER) >= 150000 \
    THEN (SELECT extract(epoch FROM "stats_reset") FROM pg_stat_bgwriter) END)
    """
  private static let look: SQL = """
    SELECT (SELECT max("id") FROM "larder_outbox") AS "last", \
    CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS "oldest", \
    \(started) AS "server"
    """
}

extension DatabaseAccess {
  /// Whether the database isn't SQLite's.
  var isServer: Bool { connections.engine != "SQLite" }
}
