import LarderSQLite

/// An element of `PostgresPool.notifications(on:)`.
public enum ServerNotification: Hashable, Sendable {
  /// A notification, with the text that was sent with it.
  case payload(String)
  /// Notifications before this one may have been missed: look for what they would have told. It comes first,
  /// once the server has been told to listen; after each time that the connection was lost and made again; and
  /// in place of notifications that the consumer was too slow for.
  case gap
}

extension Database {
  /// Sends a notification to a channel of the database, with the commit of the transaction; at once outside
  /// of one. Equal ones of one transaction are sent once. Those that listen get it by
  /// `PostgresPool.notifications(on:)` or [LISTEN](https://www.postgresql.org/docs/current/sql-listen.html).
  ///
  /// Throws `DatabaseError` for a name that is empty or longer than 63 bytes, and a text of 8,000 bytes or
  /// more; `UnsupportedByEngine` on SQLite.
  public func notify(_ channel: String, _ payload: String = "") throws {
    guard hasEngine else { throw UnsupportedByEngine(engine: "SQLite", feature: "notify") }
    _ = try value("SELECT pg_notify(\(channel), \(payload))::text", as: String?.self)
  }
}

/// The notifications of one channel.
struct NotificationSequence: AsyncSequence, Sendable {
  let listener: ServerListener
  let channel: String
  let limit: Int

  func makeAsyncIterator() -> Iterator {
    Iterator(subscription: Subscription(listener, channel, limit))
  }

  struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription

    mutating func next() async throws -> ServerNotification? { try await subscription.next() }
  }

  /// One consumer, which ends with its iterator.
  final class Subscription {
    private let listener: ServerListener
    private let channel: String
    private let buffer: NotificationBuffer
    private var id: Int?
    private var isOver = false

    init(_ listener: ServerListener, _ channel: String, _ limit: Int) {
      self.listener = listener
      self.channel = channel
      buffer = NotificationBuffer(limit: limit)
    }

    deinit { if let id { listener.unsubscribe(id) } }

    func next() async throws -> ServerNotification? {
      if isOver || Task.isCancelled { return end() }
      do {
        if id == nil {
          id = try listener.subscribe(to: channel) { [buffer] in buffer.receive($0) }
        }
        return try await buffer.next() ?? end()
      } catch {
        _ = end()
        throw error
      }
    }

    private func end() -> ServerNotification? {
      isOver = true
      if let id { listener.unsubscribe(id) }
      id = nil
      return nil
    }
  }
}
