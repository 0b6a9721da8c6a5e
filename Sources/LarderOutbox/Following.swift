import FoundationEssentials
import Larder
import Synchronization

extension Outbox {
  /// Handles messages in transactions of the database, until the task is cancelled: **exactly once**, as far as
  /// the closure's changes in this database go.
  ///
  /// ```swift
  /// try await events.follow(pool, as: "statistics") { db, messages in
  ///   for message in messages { try Statistics.count(message.payload, db) }
  /// }
  /// ```
  ///
  /// The transaction that runs the closure also moves the consumer's position. It may be rolled back and run
  /// again. If the closure throws, nothing has changed, and the same messages are handled again, one by one and
  /// after longer and longer pauses: no message is passed over. The database may be away for a while, too.
  ///
  /// - Parameters:
  ///   - store: the database with the outbox.
  ///   - consumer: the consumer's name.
  ///   - start: where it begins if it is new.
  ///   - options: how many messages are handled together, and the times that the worker keeps to.
  ///   - body: handles messages in the order of their positions.
  ///
  /// Throws `DatabaseError` if the first look at the tables fails, for instance without them, and
  /// `ResultCode.misuse` later, as after `close()` or ``removeConsumer(_:_:)``.
  public func follow(
    _ store: any DatabaseAccess, as consumer: String, from start: OutboxStart = .beginning,
    options: OutboxOptions = .init(),
    _ body: @escaping @Sendable (Database, [OutboxMessage<Message>]) throws -> Void
  ) async throws {
    try await work(store, consumer, start, options, .inTransaction(body))
  }

  /// Handles messages outside of any transaction, until the task is cancelled: **at least once**.
  ///
  /// ```swift
  /// try await events.deliver(pool, as: "mail") { messages in
  ///   for message in messages { try await mailer.send(message.payload, key: message.key) }
  /// }
  /// ```
  ///
  /// The consumer's position is moved once the closure has returned. If the process is killed before, or if the
  /// closure throws, the messages are handled again: use ``OutboxMessage/key``. The worker extends its lease
  /// while the closure runs, so that no other one has the same messages. Cancelling the task cancels the
  /// closure's; what it has returned from counts, unless the database can't be used until the lease is over.
  ///
  /// The parameters and errors are those of ``follow(_:as:from:options:_:)``.
  public func deliver(
    _ store: any DatabaseAccess, as consumer: String, from start: OutboxStart = .beginning,
    options: OutboxOptions = .init(),
    _ body: @escaping @Sendable ([OutboxMessage<Message>]) async throws -> Void
  ) async throws {
    try await work(store, consumer, start, options, .outside(body))
  }

  private func work(
    _ store: any DatabaseAccess, _ consumer: String, _ start: OutboxStart,
    _ options: OutboxOptions, _ handler: OutboxWorker<Message>.Handler
  ) async throws {
    let worker = OutboxWorker(name, consumer, store, options, handler)
    // Its calls of the database have to go on after the cancellation.
    let task = Task {
      try await addConsumer(store, consumer, from: start) { worker.isEnding }
      try await worker.run()
    }
    let watch = Mutex<Task<Void, Never>?>(nil)
    defer { watch.withLock { $0?.cancel() } }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      worker.end()
      watch.withLock { $0 = Task { await worker.cancel(task) } }
    }
  }

  /// Adds a consumer, unless it is there. Messages that it hasn't handled aren't removed from then on.
  ///
  /// A worker adds its consumer itself. Call this before, to note where the consumer begins: what is committed
  /// after the return is handled, what is committed before can be read from the tables that the messages tell of.
  ///
  /// On a server ``OutboxStart/end`` waits for the transactions that are open. Throws `DatabaseError`.
  public func addConsumer(
    _ store: any DatabaseAccess, _ consumer: String, from start: OutboxStart
  ) async throws {
    try await addConsumer(store, consumer, from: start) { Task.isCancelled }
  }

  private func addConsumer(
    _ store: any DatabaseAccess, _ consumer: String, from start: OutboxStart,
    _ isOver: @Sendable () -> Bool
  ) async throws {
    let outbox = name
    let isThere = try await store.read { db in
      try StoredConsumer.filter { $0.outbox == outbox && $0.name == consumer }.exists(db)
    }
    if isThere { return }
    var horizon = OutboxHorizon(isServer: store.isServer)
    while !isOver() {
      let (isAdded, advanced) = try await store.inTransaction { [horizon] db in
        try db.relaxIsolation()
        let advanced = try start == .end ? horizon.advanced(db) : horizon
        if advanced.waits { return (false, advanced) }
        let position: Int64 =
          switch start {
          case .beginning: 0
          case .after(let position): position
          case .end: try advanced.last(db)
          }
        var row = StoredConsumer(
          outbox: outbox, name: consumer, position: position, worker: nil, due: Date())
        try row.insert(db, or: .ignore)
        return (true, advanced)
      }
      if isAdded { return }
      horizon = advanced
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
