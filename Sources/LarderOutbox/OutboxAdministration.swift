import FoundationEssentials
import Larder

/// A consumer, and how far it is behind.
public struct OutboxConsumer: Hashable, Sendable {
  /// Its name.
  public let name: String
  /// The position of the last message that it has handled.
  public let position: Int64
  /// How many messages it hasn't handled.
  public let waiting: Int
  /// The time since the first of these was appended, in seconds; 0 if there is none.
  public let age: TimeInterval
  /// Whether a worker has it.
  public let isFollowed: Bool
}

extension Outbox {
  /// The consumers, in the order of their names. Counts the messages that each hasn't handled.
  ///
  /// Raise an alarm if one's `age` is greater than messages may wait, or if it isn't followed.
  ///
  /// - Throws: `DatabaseError`.
  public func consumers(_ db: Database) throws -> [OutboxConsumer] {
    let now = Date()
    return try StoredConsumer.filter { $0.outbox == name }.order { $0.name }.fetchAll(db).map {
      row in
      let waiting = StoredMessage.after(row.position, of: name)
      let first = try waiting.order { $0.id }.select { $0.appended }.fetchOne(db)
      return OutboxConsumer(
        name: row.name, position: row.position, waiting: try waiting.fetchCount(db),
        age: first.map { max(0, now.timeIntervalSince($0)) } ?? 0,
        isFollowed: row.worker != nil && row.due > now)
    }
  }

  /// Removes a consumer. Those that follow as it throw.
  ///
  /// Together with ``addConsumer(_:_:from:)`` it moves a consumer to another position. Returns whether it was
  /// there. Throws `DatabaseError`.
  @discardableResult
  public func removeConsumer(_ db: Database, _ consumer: String) throws -> Bool {
    try StoredConsumer.filter { $0.outbox == name && $0.name == consumer }.delete(db) > 0
  }

  /// Removes messages that all consumers have handled, in transactions of a thousand each. Without a consumer
  /// it removes none.
  ///
  /// Call it now and then. A consumer that nobody follows any more keeps messages until it is removed.
  ///
  /// - Parameters:
  ///   - store: the database with the outbox.
  ///   - age: how long ago messages were appended at least, for consumers that are added later.
  /// - Returns: How many that are.
  /// - Throws: `DatabaseError`, and `CancellationError` between two transactions.
  @discardableResult
  public func clean(
    _ store: any DatabaseAccess, olderThan age: Duration = .zero
  ) async throws -> Int {
    let (name, limit) = (name, 1_000)
    let before = Date().addingTimeInterval(-(age / .seconds(1)))
    var count = 0
    while true {
      let removed = try await store.inTransaction { db in
        try db.relaxIsolation()
        let position = try StoredConsumer.filter { $0.outbox == name }
          .select { $0.position.min() }.fetchOne(db)
        guard let position = position ?? nil else { return 0 }
        // Ends at the first one that isn't old enough, so that it doesn't read past those that are kept.
        let first = try StoredMessage.filter { $0.outbox == name && $0.id <= position }
          .order { $0.id }.limit(limit).select { ($0.id, $0.appended) }.fetchAll(db)
        guard let last = first.prefix(while: { $0.1 <= before }).last?.0 else { return 0 }
        return try StoredMessage.filter { $0.outbox == name && $0.id <= last }.delete(db)
      }
      count += removed
      if removed < limit { return count }
      try Task.checkCancellation()
    }
  }
}
