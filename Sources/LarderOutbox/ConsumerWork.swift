import FoundationEssentials
import Larder

/// The statements of a worker on its consumer: it leases the consumer, reads a batch, and moves the position.
///
/// The position is only moved from where the worker has read it, in a statement that also compares the worker's
/// name. So a worker that was held up for longer than its lease changes nothing.
struct ConsumerWork: Sendable {
  let outbox: String
  let consumer: String
  /// A name that no other worker has.
  let worker: String
  let lease: TimeInterval

  /// The messages to be handled next.
  struct Batch: Sendable {
    let from: Int64
    let to: Int64
    let messages: [StoredMessage]
  }

  /// Another worker has the consumer.
  struct Taken: Error {}

  private var row: Query<StoredConsumer> {
    StoredConsumer.filter { $0.outbox == outbox && $0.name == consumer }
  }

  private var own: Query<StoredConsumer> {
    StoredConsumer.filter { $0.outbox == outbox && $0.name == consumer && $0.worker == worker }
  }

  /// The end of a lease that begins now.
  var leaseEnd: Date { Date().addingTimeInterval(lease) }

  /// The state of the consumer, which a worker reads first.
  struct Look: Sendable {
    /// Whether there are messages.
    let hasNews: Bool
    /// The end of another worker's lease; nil without one.
    let taken: Date?
    /// Whether the lease is to be taken or extended.
    let needsLease: Bool
  }

  func look(_ db: Database) throws -> Look {
    // A replica may not have it yet. The attempt to take the lease finds out.
    guard let row = try row.fetchOne(db) else {
      return Look(hasNews: false, taken: nil, needsLease: true)
    }
    let (now, isOwn) = (Date(), row.worker == worker)
    let isTaken = !isOwn && row.worker != nil && row.due > now && row.due < farAhead(of: now)
    return Look(
      hasNews: try hasNews(db, after: row.position), taken: isTaken ? row.due : nil,
      needsLease: !isOwn || row.due < now.addingTimeInterval(lease * 2 / 3)
        || row.due > now.addingTimeInterval(lease * 3 / 2))
  }

  /// A time until which no lease lasts, unless a clock that was ahead has been set back. Workers of other versions of the
  /// program may have longer leases than this one.
  private func farAhead(of now: Date) -> Date { now.addingTimeInterval(lease * 10 + 3_600) }

  private func hasNews(_ db: Database, after position: Int64) throws -> Bool {
    try StoredMessage.after(position, of: outbox).exists(db)
  }

  /// Whether there are messages, for an observer.
  func hasNews(_ db: Database) throws -> Bool {
    try row.fetchOne(db).map { try hasNews(db, after: $0.position) } ?? false
  }

  /// Takes the lease, or extends it. Throws ``Taken`` if another worker has it.
  func takeLease(_ db: Database) throws {
    let (now, end) = (Date(), leaseEnd)
    let ahead = farAhead(of: now)
    // A claim skips a row that a transaction has locked, such as that of a long batch.
    let rows = try row.filter {
      $0.worker == nil || $0.worker == worker || $0.due <= now || $0.due >= ahead
    }.claim(db, limit: 1) {
      $0.worker = .value(worker)
      $0.due = .value(end)
    }
    guard rows.isEmpty else { return }
    guard try row.exists(db) else {
      throw DatabaseError(
        code: .misuse, message: "the outbox “\(outbox)” has no consumer “\(consumer)”")
    }
    throw Taken()
  }

  /// The next messages up to a horizon; nil without any.
  func read(_ db: Database, _ horizon: OutboxHorizon, limit: Int) throws -> Batch? {
    guard let from = try own.fetchOne(db)?.position else { throw Taken() }
    let complete = horizon.complete
    let messages = try StoredMessage.after(from, of: outbox).filter { $0.id <= complete }
      .order { $0.id }.limit(limit).fetchAll(db)
    guard let to = messages.last?.id else { return nil }
    return Batch(from: from, to: to, messages: messages)
  }

  /// Moves the position past a batch, and extends the lease.
  func advance(_ db: Database, past batch: Batch, _ horizon: OutboxHorizon) throws {
    let end = leaseEnd
    let count = try own.filter { $0.position == batch.from }.filter { _ in horizon.condition }
      .update(db) {
        $0.position = .value(batch.to)
        $0.due = .value(end)
      }
    if count != 1 { throw Taken() }
  }

  /// Extends the lease while a batch is handled outside of a transaction.
  func extendLease(_ db: Database) throws {
    let end = leaseEnd
    if try own.update(db, { $0.due = .value(end) }) != 1 { throw Taken() }
  }

  /// Lets another worker take over at once.
  func release(_ db: Database) throws {
    try own.update(db) { $0.worker = .value(nil) }
  }
}
