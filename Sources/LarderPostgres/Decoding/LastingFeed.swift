import Larder
import LarderSQLite

/// A feed that a server remembers by a name, whether or not somebody follows it: see `ChangeFeed.lasting(as:)`.
///
/// While nobody does, the server keeps its log for it, which may fill the disk. Alert on ``keptBytes``, and set
/// the server's `max_slot_wal_keep_size`, beyond which it gives the feed up.
///
/// ```swift
/// for feed in try pool.inDatabase({ db in try LastingFeed.all(db) }) where feed.isLost {
///   try pool.inDatabase { db in try LastingFeed.remove(db, feed.name) }
/// }
/// ```
public struct LastingFeed: Hashable, Sendable {
  /// The feed's name.
  public let name: String
  /// Whether somebody follows the feed now.
  public let isActive: Bool
  /// The size of the log that the server keeps because of the feed, in bytes.
  public let keptBytes: Int
  /// How many more bytes of log the server may write before it gives the feed up; nil without such a limit.
  public let remainingBytes: Int?
  /// Whether the server has given the feed up, so that changes are missing. Only removing it is possible.
  public let isLost: Bool

  /// The database's feeds, by their names. Throws ``LarderSQLite/UnsupportedByEngine`` on SQLite.
  public static func all(_ db: Database) throws -> [LastingFeed] {
    try checkEngine(db)
    let prefix = try FeedPlan.slotName("x", in: db).dropLast()
    let rows = try db.executeQuery(
      """
      SELECT slot_name::text, active, coalesce(CASE WHEN pg_is_in_recovery()
          THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - restart_lsn, 0)::bigint,
        safe_wal_size, wal_status IS NOT DISTINCT FROM 'lost'
      FROM pg_catalog.pg_replication_slots
      WHERE database = current_database() AND NOT temporary ORDER BY slot_name
      """)
    defer { rows.close() }
    var feeds: [LastingFeed] = []
    while try rows.next() {
      let slot = try rows.get(at: 0, as: String.self)
      guard slot.hasPrefix(prefix) else { continue }
      feeds.append(
        LastingFeed(
          name: String(slot.dropFirst(prefix.count)), isActive: try rows.get(at: 1, as: Bool.self),
          keptBytes: try rows.get(at: 2, as: Int.self),
          remainingBytes: try rows.get(at: 3, as: Int?.self),
          isLost: try rows.get(at: 4, as: Bool.self)))
    }
    return feeds
  }

  /// Has the server forget a feed: drops its slot, with the log that is kept for it, and its publication.
  /// Returns whether there was one.
  ///
  /// It waits for the transactions that have written to the feed's tables, for up to five seconds, and others wait
  /// behind it meanwhile: without that lock PostgreSQL would fail their writes.
  ///
  /// Throws `DatabaseError` with `sqlState` 55006 while somebody follows the feed, with 55P03 if transactions have
  /// written for too long, and ``LarderSQLite/UnsupportedByEngine`` on SQLite.
  @discardableResult
  public static func remove(_ db: Database, _ name: String) throws -> Bool {
    try checkEngine(db)
    let slot = try FeedPlan.slotName(name, in: db)
    let end = MonotonicClock.now + .seconds(5)
    while true {
      do {
        return try db.inTransaction { db in
          try FeedPublication.drop(FeedPublication.name(ofFeed: name), in: db)
          // It isn't rolled back, and so it is last.
          let count = try db.value(
            """
            SELECT count(pg_drop_replication_slot(slot_name)) FROM pg_catalog.pg_replication_slots
            WHERE slot_name = \(slot)
            """, as: Int.self)
          return count ?? 0 > 0
        }
      } catch let error as DatabaseError where error.sqlState == "55P03" {
        guard MonotonicClock.now < end else { throw error }
        BusyHandler.sleep(.milliseconds(50))
      }
    }
  }

  private static func checkEngine(_ db: Database) throws {
    guard db.engine is PostgresEngine else {
      throw UnsupportedByEngine(engine: db.engineName, feature: "feeds that last")
    }
  }
}
