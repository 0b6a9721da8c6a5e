import FoundationEssentials
import Larder

/// A log of messages in the database, which consumers follow: each gets all of them, at least once, in the order
/// of their commits.
///
/// ```swift
/// enum OrderEvent: Codable, Sendable { case placed(Int64), paid(Int64) }
/// let events = Outbox<OrderEvent>("orders")
///
/// try pool.inTransaction { db in
///   let order = try Order(id: nil, customer: "Ada").inserted(db)
///   try events.append(db, .placed(order.id))
/// }
/// // elsewhere, until the task is cancelled
/// try await events.follow(pool, as: "statistics") { db, messages in … }
/// ```
///
/// A message is committed or rolled back with the transaction that appends it. Each consumer has a name, and its
/// position in a table. Any number of processes may follow as the same consumer: one of them works, and the
/// others take over if it ends or is killed.
///
/// On SQLite the order is that of the commits. On a server, where transactions run at the same time, it is that
/// in which messages were appended: a transaction that has seen another one's commit comes after it. So append a
/// message after the change that it tells of.
public struct Outbox<Message: Codable & Sendable>: Sendable {
  /// The name, by which messages and consumers in the tables belong to it.
  public let name: String

  /// - Parameter name: tells outboxes of one database apart. It is stored with each message.
  public init(_ name: String) { self.name = name }

  /// Appends a message. Call it in the transaction of the change, after the change.
  ///
  /// Returns the message's position. Throws `DatabaseError`, for instance without the tables of
  /// ``OutboxTables/migrations``, and `EncodingError`.
  @discardableResult
  public func append(_ db: Database, _ message: Message) throws -> Int64 {
    guard db.engine == nil else { return try appendOnServer(db, [stored(message)]) }
    return try stored(message).inserted(db).id ?? 0
  }

  /// Appends messages in their order, as `append` of a single one does.
  public func append(_ db: Database, contentsOf messages: some Sequence<Message>) throws {
    let stored = try messages.map(stored)
    guard !stored.isEmpty else { return }
    guard db.engine == nil else {
      try appendOnServer(db, stored)
      return
    }
    try StoredMessage.insert(db, contentsOf: stored)
  }

  /// Appends messages, and wakes the idle consumers once the transaction is committed.
  @discardableResult
  private func appendOnServer(_ db: Database, _ messages: [StoredMessage]) throws -> Int64 {
    let last = try StoredMessage.append(db, messages)
    try db.signal(OutboxTables.channel, name)
    return last
  }

  private func stored(_ message: Message) throws -> StoredMessage {
    let payload = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
    return StoredMessage(id: nil, outbox: name, payload: payload, appended: Date())
  }
}

/// A message that a consumer gets.
public struct OutboxMessage<Message: Codable & Sendable>: Sendable {
  /// Its position, which increases from message to message, with gaps.
  public let position: Int64
  /// When it was appended, to the millisecond.
  public let appended: Date
  /// The value that was appended.
  public let payload: Message

  /// A text that no other message of this database has: for systems elsewhere that recognize a repeated request by its
  /// key (`Idempotency-Key`). Another database has the same keys: put a text of the program's own before them if both use
  /// one system.
  public var key: String { "larder-outbox-\(position)" }

  init(_ stored: StoredMessage) throws {
    position = stored.id ?? 0
    appended = stored.appended
    payload = try JSONDecoder().decode(Message.self, from: Data(stored.payload.utf8))
  }
}

/// The position at which a new consumer begins.
public enum OutboxStart: Hashable, Sendable {
  /// With the first message that is still there.
  case beginning
  /// With what is committed from now on.
  ///
  /// A transaction that is open on a server meanwhile counts as new. So may some of the last messages.
  case end
  /// With the first message after a position.
  case after(Int64)
}

/// The settings of a consumer's worker.
public struct OutboxOptions: Sendable {
  /// The most messages that are handled together.
  public var batch = 100
  /// How long others wait until they take over from a worker that was killed. Clocks of different machines may
  /// differ by less than half of it.
  public var lease = Duration.seconds(30)
  /// The time between two looks for messages of which no signal tells, and for those of a worker that was killed.
  public var poll = Duration.milliseconds(500)
  /// Receives each failure with the position of the batch's first message, for a log. The position is nil if the
  /// database couldn't be used.
  public var onError: (@Sendable (_ position: Int64?, any Error) -> Void)?

  /// The defaults.
  public init() {}
}
