import Synchronization

/// A feed of committed changes, transaction by transaction, in commit order. See `changes(of:)` of a queue or
/// pool.
public struct ChangeFeed<Change: Sendable>: AsyncSequence, Sendable {
  private let access: any DatabaseAccess
  private let tables: [String]
  private let limit: RowLog.Amount
  private let needsWholeRows: Bool
  private var name: String?
  private let beginning: (@Sendable (Database) throws -> Void)?
  private let decoder: @Sendable (DateFormat) throws -> (RowChange) throws -> Change

  /// - Parameters:
  ///   - tables: the names of tables, optionally prefixed by that of their database and a dot; `main`
  ///     otherwise.
  ///   - needsWholeRows: whether the decoder can't make a change of a part of a row, which is all that some
  ///     engines report.
  ///   - decoder: makes the function that turns rows into changes, once for each consumer.
  package init(
    of tables: [String], access: any DatabaseAccess, limit: Int, byteLimit: Int,
    needsWholeRows: Bool, beginning: (@Sendable (Database) throws -> Void)?,
    decoder: @escaping @Sendable (DateFormat) throws -> (RowChange) throws -> Change
  ) {
    self.access = access
    self.tables = tables
    self.limit = RowLog.Amount(changes: limit, bytes: byteLimit)
    self.needsWholeRows = needsWholeRows
    self.beginning = beginning
    self.decoder = decoder
  }

  /// The same feed with a name under which a server remembers the consumer's position, so that the feed goes on
  /// there in another process or after a restart. It is a logical replication slot of PostgreSQL.
  ///
  /// ```swift
  /// for try await transaction in pool.changes(of: City.self).lasting(as: "search") { … }
  /// ```
  ///
  /// A transaction counts as handled when the consumer asks for the next one, so that each arrives at least
  /// once. Only a feed that is new to the server calls `beginning`, or, without one, begins with a transaction
  /// whose changes are unknown. The server keeps its log for the feed while nobody follows it; see
  /// <doc:Observing#On-a-server>.
  ///
  /// The feed throws `ResultCode.misuse` for a name of other characters than `a` to `z`, digits and `_`, and
  /// ``UnsupportedByEngine`` on SQLite.
  public func lasting(as name: String) -> ChangeFeed {
    var copy = self
    copy.name = name
    return copy
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
    func begin() async throws { try await subscription.begin() }
  }

  /// One consumer of the feed.
  fileprivate final class Subscription {
    private let feed: ChangeFeed
    private let connections: Connections
    /// The feed's number among SQLite's observers; nil before it begins, and on another engine.
    private var id: Int?
    private var engineFeed: (any EngineFeed)?
    private var decode: ((RowChange) throws -> Change)?
    private var isOver = false
    private var pace = FetchPace()

    init(_ feed: ChangeFeed) {
      self.feed = feed
      connections = feed.access.connections
    }

    func next() async throws -> CommittedChanges<Change>? {
      if isOver { return nil }
      do {
        try await begin()
        if let transaction = try await nextRows(), let decode {
          return CommittedChanges(
            number: transaction.number, changes: try transaction.changes.map(decode),
            isFromElsewhere: transaction.isFromElsewhere)
        }
      } catch {
        end()
        if error is CancellationError, Task.isCancelled { return nil }
        throw error
      }
      end()
      return nil
    }

    private func nextRows() async throws -> CommittedChanges<RowChange>? {
      if let engineFeed { return try await engineFeed.next() }
      guard let id, let item = try await connections.observers.next(of: id, at: &pace) else {
        return nil
      }
      return CommittedChanges(
        number: item.number, changes: item.changes, isFromElsewhere: item.isFromElsewhere)
    }

    func begin() async throws {
      if id != nil || engineFeed != nil { return }
      let engineFeeds = connections.engineFeeds
      if engineFeeds == nil { _ = try PreupdateHook.required() }
      guard !feed.tables.isEmpty else {
        throw DatabaseError(.misuse, "a feed needs the name of at least one table")
      }
      for limit in [feed.limit.changes, feed.limit.bytes] where limit <= 0 {
        throw DatabaseError(.misuse, "a feed's limit has to be at least 1, not \(limit)")
      }
      do {
        if let engineFeeds {
          engineFeed = try await engineFeeds.begin(feed.wish, on: connections)
          decode = try feed.decoder(connections.configuration.dateFormat)
        } else {
          try await beginHere()
        }
      } catch {
        end()
        throw error
      }
    }

    private func beginHere() async throws {
      guard feed.name == nil else {
        throw UnsupportedByEngine(
          engine: connections.engine,
          feature: "feeds that outlive their process (lasting(as:)): use an outbox")
      }
      let observers = connections.observers
      let id = observers.addFeed(limit: feed.limit)
      self.id = id
      try await observers.install(id, following: feed.tables, beginning: feed.beginning)
      decode = try feed.decoder(observers.dateFormat)
    }

    private func end() {
      isOver = true
      engineFeed?.end()
      engineFeed = nil
      if let id { connections.observers.remove(id) }
      id = nil
    }

    deinit { if id != nil || engineFeed != nil { end() } }
  }

  private var wish: FeedWish {
    FeedWish(
      tables: tables, changeLimit: limit.changes, byteLimit: limit.bytes, name: name,
      needsWholeRows: needsWholeRows, beginning: beginning)
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
  /// On PostgreSQL the feed follows everybody's commits; what it needs of the server is in
  /// <doc:Observing#On-a-server>. Throws ``UnsupportedByEngine`` if the server's `wal_level` isn't `logical`, or
  /// SQLite was built without its preupdate hook.
  public func changes(
    of tables: [String], limit: Int = 100_000, byteLimit: Int = 64 << 20,
    beginning: (@Sendable (Database) throws -> Void)? = nil
  ) -> ChangeFeed<RowChange> {
    ChangeFeed(
      of: tables, access: self, limit: limit, byteLimit: byteLimit, needsWholeRows: false,
      beginning: beginning
    ) { _ in { $0 } }
  }
}
