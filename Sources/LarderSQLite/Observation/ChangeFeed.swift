import Synchronization

/// A feed of committed changes, transaction by transaction, in commit order. See `changes(of:)` of a queue or
/// pool.
public struct ChangeFeed<Change: Sendable>: AsyncSequence, Sendable {
  private let access: any DatabaseAccess
  private let tables: [String]
  private let limit: RowLog.Amount
  private let beginning: (@Sendable (Database) throws -> Void)?
  private let decoder: @Sendable (DateFormat) throws -> (RowChange) throws -> Change

  /// - Parameters:
  ///   - tables: the names of tables, optionally prefixed by that of their database and a dot; `main`
  ///     otherwise.
  ///   - decoder: makes the function that turns rows into changes, once for each consumer.
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

  /// Makes an iterator, which begins to follow when its first transaction is asked for.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(self))
  }

  /// An iterator over transactions. Releasing it ends the feed.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription

    /// The next transaction; nil once the task is cancelled or the queue or pool is closed. Throws
    /// ``FeedOverflow``, and any error that keeps the feed from beginning.
    public mutating func next() async throws -> CommittedChanges<Change>? {
      try await subscription.next()
    }

    /// Begins the feed before the first transaction is asked for.
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
        throw DatabaseError(.misuse, "a feed needs the name of at least one table")
      }
      for limit in [feed.limit.changes, feed.limit.bytes] where limit <= 0 {
        throw DatabaseError(.misuse, "a feed's limit has to be at least 1, not \(limit)")
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
  /// A feed of the changes that are committed to some tables: for each transaction of this queue or pool, the
  /// rows that it has inserted, updated and deleted, with their values before and after.
  ///
  /// ```swift
  /// for try await transaction in pool.changes(of: ["city"]) {
  ///   for change in transaction.changes { print(change.kind, change.new ?? []) }
  /// }
  /// ```
  ///
  /// Transactions arrive in commit order, once they are as durable as their own callers are promised. Changes
  /// that were rolled back, also to a savepoint, are left out; changes by triggers and foreign key actions
  /// are included. Some commits can't be reported row by row, and arrive as a transaction without changes
  /// (``CommittedChanges/isFromElsewhere``): other processes' transactions, tables that are dropped, renamed,
  /// altered or rebuilt, and values that are written through an open ``Blob``.
  ///
  /// The feed begins when its first transaction is asked for. It ends when its task is cancelled or the queue
  /// or pool is closed. To begin with the tables' current rows, read them in `beginning`.
  ///
  /// - Parameters:
  ///   - tables: the tables' names: `city`, `aux.city` for a table of an attached database, or `main.a.b` for
  ///     a table `a.b` of the main database while a database is named `a`. The feed throws when it begins if
  ///     a table doesn't exist, is virtual, or has VIRTUAL generated columns.
  ///   - limit: the maximum number of changes that are held for a consumer that is behind, at least 1. Beyond
  ///     that, also by a single transaction, the feed delivers what it holds and then throws
  ///     ``FeedOverflow``.
  ///   - byteLimit: the maximum memory that these changes may take, in bytes; 64 MiB by default.
  ///   - beginning: a closure that is called on the writing connection, in the scope in which the feed
  ///     begins. The feed's first transaction follows directly on the state that it reads.
  ///
  /// Throws ``UnsupportedByEngine`` if the engine isn't SQLite, or SQLite was built without its preupdate
  /// hook.
  public func changes(
    of tables: [String], limit: Int = 100_000, byteLimit: Int = 64 << 20,
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) -> ChangeFeed<RowChange> {
    ChangeFeed(
      of: tables, access: self, limit: limit, byteLimit: byteLimit, beginning: beginning
    ) { _ in { $0 } }
  }
}
