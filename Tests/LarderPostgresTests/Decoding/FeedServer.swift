import Larder
import LarderPostgres
import PostgresSupport
import TestSupport

@testable import LarderSQLite

/// A server that decodes its log, with a database for each test.
struct FeedServer {
  static let shared = Result {
    try PostgresServer(
      [
        "wal_level=logical", "max_replication_slots=100", "max_wal_senders=100",
        "synchronous_commit=on", "max_connections=200", "wal_sender_timeout=30s",
      ].flatMap { ["-c", $0] })
  }

  let address: String
  let pool: PostgresPool

  /// Creates tables.
  ///
  /// - Parameter isWhole: whether `city` reports whole rows as they were.
  init(isWhole: Bool = true) throws {
    address = try Self.shared.get().database()
    pool = try Self.pool(address)
    try pool.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE city (id BIGINT PRIMARY KEY, name TEXT COLLATE "C" NOT NULL);
        CREATE TABLE port (id BIGINT PRIMARY KEY, city BIGINT);
        """)
      if isWhole { try db.executeStatements("ALTER TABLE city REPLICA IDENTITY FULL") }
    }
  }

  static func pool(_ address: String) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    // On a busy machine, a server may take long to come back.
    configuration.retryLimit = .seconds(300)
    configuration.connectTimeout = .seconds(60)
    return try PostgresPool(address, configuration: configuration)
  }

  func run(_ sql: String) throws { try pool.inDatabase { try $0.executeStatements(SQL(raw: sql)) } }

  /// The number of feeds' slots of this database, and the processes that serve them.
  func processes() throws -> [Int] {
    try pool.inDatabase { db in
      try db.fetch(
        Int.self,
        """
        SELECT coalesce(active_pid, 0)::bigint FROM pg_replication_slots
        WHERE database = current_database()
        """)
    }
  }

  /// Ends the connections of the database's feeds.
  func cut() throws {
    try run(
      """
      SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
      WHERE database = current_database() AND active_pid IS NOT NULL
      """)
  }
}

/// A feed whose consumer is a test.
final class ServerFeed<Change: Sendable> {
  private var iterator: ChangeFeed<Change>.AsyncIterator

  /// Begins the feed.
  init(_ feed: ChangeFeed<Change>) async throws {
    iterator = feed.makeAsyncIterator()
    try await iterator.begin()
  }

  func next() async throws -> CommittedChanges<Change>? { try await iterator.next() }
}

extension ServerFeed where Change == RowChange {
  /// The next transaction in short: `+1 a` for an inserted row, `1 a > 1 b` for an updated and `-1 a` for a deleted
  /// one; `?` where the changes are unknown.
  func text() async throws -> String? {
    guard let transaction = try await next() else { return nil }
    if transaction.isFromElsewhere { return "?" }
    func text(_ values: [DatabaseValue]?) -> String {
      (values ?? []).map { value in
        switch value {
        case .null: "–"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text.count > 20 ? "\(text.count) characters" : text
        case .blob(let bytes): "\(bytes.count) bytes"
        }
      }.joined(separator: " ")
    }
    return transaction.changes.map { change in
      switch change.kind {
      case .insert: "+" + text(change.new)
      case .update: "\(text(change.old)) > \(text(change.new))"
      case .delete: "-" + text(change.old)
      }
    }.joined(separator: ", ")
  }
}
