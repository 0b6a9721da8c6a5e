import Synchronization

/// A feed of committed changes, transaction by transaction, in the order of the commits. See
/// `changes(of:)` of a queue or pool.
public struct ChangeFeed<Change: Sendable>: AsyncSequence, Sendable {
  private let access: any DatabaseAccess
  private let tables: [String]
  private let limit: RowLog.Amount
  private let beginning: (@Sendable (Database) throws -> Void)?
  private let decoder: @Sendable (DateFormat) throws -> (RowChange) throws -> Change

  /// - Parameters:
  ///   - tables: the names of tables, with those of their databases before a dot, or without for `main`.
  ///   - decoder: makes what turns rows into changes, for one consumer.
  package init(
    of tables: [String], access: any DatabaseAccess, limit: Int, byteLimit: Int,
    beginning: (@Sendable (Database) throws -> Void)?,
    decoder: @escaping @Sendable (DateFormat) throws -> (RowChange) throws -> Change
  ) {
    self.access = access
    self.tables = tables
    self.limit = RowLog.Amount(changes: limit, bytes: byteLimit)
    self.beginning = beginning
    self.decoder = decoder
  }

  /// Begins to follow, when the first transaction is asked for.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(self))
  }

  /// Transactions one after the other; ends the feed when it is let go of.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription

    /// The next transaction; nil at the end, which is where the task is cancelled or the queue or pool
    /// is closed. Throws ``FeedOverflow`` and what keeps the feed from beginning.
    public mutating func next() async throws -> CommittedChanges<Change>? {
      try await subscription.next()
    }

    /// Begins before the first transaction is asked for.
    func begin() async throws { _ = try await subscription.begin() }
  }

  /// One consumer of the feed.
  fileprivate final class Subscription {
    private let feed: ChangeFeed
    private let observers: Observers
    private var id: Int?
    private var decode: ((RowChange) throws -> Change)?
    private var isOver = false
    private var pace = FetchPace()

    init(_ feed: ChangeFeed) {
      self.feed = feed
      observers = feed.access.connections.observers
    }

    func next() async throws -> CommittedChanges<Change>? {
      if isOver { return nil }
      do {
        let id = try await begin()
        if let item = try await observers.next(of: id, at: &pace), let decode {
          return CommittedChanges(
            number: item.number, changes: try item.changes.map(decode),
            isFromElsewhere: item.isFromElsewhere)
        }
      } catch {
        end()
        if error is CancellationError, Task.isCancelled { return nil }
        throw error
      }
      end()
      return nil
    }

    func begin() async throws -> Int {
      if let id { return id }
      _ = try PreupdateHook.required()
      guard !feed.tables.isEmpty else {
        throw DatabaseError(.misuse, "a feed follows at least one table, by its name")
      }
      for limit in [feed.limit.changes, feed.limit.bytes] where limit <= 0 {
        throw DatabaseError(.misuse, "a feed's limit is at least 1, and not \(limit)")
      }
      let id = observers.addFeed(limit: feed.limit)
      self.id = id
      do {
        try await observers.install(id, following: feed.tables, beginning: feed.beginning)
        decode = try feed.decoder(observers.dateFormat)
      } catch {
        end()
        throw error
      }
      return id
    }

    private func end() {
      isOver = true
      if let id { observers.remove(id) }
      id = nil
    }

    deinit { if let id { observers.remove(id) } }
  }
}

extension DatabaseAccess {
  /// A feed of what is committed to some tables: for each transaction of this queue or pool, the rows that it
  /// has inserted, updated and deleted, with their values before and after.
  ///
  /// ```swift
  /// for try await transaction in pool.changes(of: ["city"]) {
  ///   for change in transaction.changes { print(change.operation, change.new ?? []) }
  /// }
  /// ```
  ///
  /// Transactions come in the order of their commits, once they are as durable as the caller who made them is
  /// told; what was rolled back, also to a savepoint, doesn't come. What triggers and foreign keys change
  /// is there. What can't be told row by row is told by a transaction without changes
  /// (``CommittedChanges/isFromElsewhere``): other processes' transactions, tables that are dropped, renamed, altered
  /// or rebuilt, and values that are written as an open ``Blob``.
  ///
  /// The feed begins when its first transaction is asked for, and ends when its task is cancelled and when the
  /// queue or pool is closed. To begin with what the tables hold, read them in `beginning`.
  ///
  /// - Parameters:
  ///   - tables: the tables' names, which throw when the feed begins if there is no such table, it is
  ///     virtual, or has columns that are computed when they are read; `aux.city` for one of an attached
  ///     database, and `main.a.b` for one of the main database whose name begins as that of a database.
  ///   - limit: how many changes are held for a consumer that doesn't ask, at least 1; with more, and for a
  ///     single transaction with more, the feed throws ``FeedOverflow`` once those of before are delivered.
  ///   - byteLimit: how many bytes of memory these changes may take, likewise; 64 MiB by default.
  ///   - beginning: is called in the scope of the writing connection in which the feed begins: what it reads is
  ///     what the first transaction changes.
  ///
  /// Throws ``UnsupportedByEngine`` where the engine isn't SQLite, and where SQLite was built without its
  /// preupdate hook.
  public func changes(
    of tables: [String], limit: Int = 100_000, byteLimit: Int = 64 << 20,
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) -> ChangeFeed<RowChange> {
    ChangeFeed(
      of: tables, access: self, limit: limit, byteLimit: byteLimit, beginning: beginning
    ) { _ in { $0 } }
  }
}
