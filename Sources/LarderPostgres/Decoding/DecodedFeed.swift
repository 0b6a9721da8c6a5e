import CLibPQ
import Dispatch
import Glibc
import LarderSQLite

/// A feed of what a server decodes of its log (logical decoding): of everybody's commits, in their order.
///
/// A thread of the feed's own receives, decodes, and tells the server how far the consumer has come, in time
/// also while the consumer is slow. If the connection is lost, it connects again: a feed that lasts goes on
/// where it was; any other one gets a new slot, and a transaction whose changes are unknown.
///
/// `@unchecked Sendable` is sound because the thread alone uses ``consumer`` and ``system`` once it runs, and
/// before it the one task that begins the feed.
final class DecodedFeed: EngineFeed, AccessCompanion, @unchecked Sendable {
  private let plan: FeedPlan
  private let servers: ServerList
  private let configuration: PostgresConfiguration
  private let connections: Connections
  private let buffer: FeedBuffer
  private let interrupts: PostgresInterrupt
  private var consumer: FeedConsumer
  /// The server's identity and timeline, which a failover changes.
  private var system: [String?]?
  /// The position from which the slot goes on that lasts; nil if there is none yet.
  private var slotPosition: UInt64?
  /// Whether the server was asked for the slot that lasts, so that it may be there although the answer was lost.
  private var mayHaveSlot = false
  /// How often the consumer has asked for a transaction.
  private let asked = Lock(0)
  /// Looks now and then whether the tables are still followed.
  private let watch = Lock<Task<Void, Never>?>(nil)

  init(
    _ plan: FeedPlan, _ servers: ServerList, _ configuration: PostgresConfiguration,
    _ connections: Connections
  ) throws {
    self.plan = plan
    self.servers = servers
    self.configuration = configuration
    self.connections = connections
    slotPosition = plan.slotPosition
    buffer = FeedBuffer(limit: plan.limit, isPatient: plan.slot != nil)
    interrupts = try DatabaseError.converting { try PostgresInterrupt() }
    func ask<T>(_ question: (Database) throws -> T) throws -> T {
      var answer: T?
      try connections.runOnPrimary(.plain, ScopeCall("changes(of:)")) { answer = try question($0) }
      guard let answer else { throw PostgresFailure("08006", "the connection was lost") }
      return answer
    }
    let assembly = TransactionAssembly(
      of: plan.tables, known: plan.knownColumns, needsWholeRows: plan.needsWholeRows,
      lookUp: { numbers in
        let isKnown = numbers.allSatisfy { ServerType(builtIn: $0) != nil }
        if isKnown { return numbers.map { ServerType(builtIn: $0) } }
        return try ask { db in
          let connection = try db.postgres.connection
          return try DatabaseError.converting {
            try connection.types.types(numbers, on: connection)
          }
        }
      },
      part: { number in try ask { try plan.part(number, $0) } })
    consumer = FeedConsumer(buffer: buffer, assembly: assembly)
  }

  // MARK: Beginning

  /// Begins, or ends and throws. Begins again if a connection is lost meanwhile: then `beginning` is called once
  /// more, unless the slot already lasts.
  func begin(_ beginning: (@Sendable (Database) throws -> Void)?) async throws {
    do {
      try connections.add(self)
      var retry = newRetry()
      while true {
        do {
          try await beginOnce(beginning)
          return watchTables()
        } catch let error as BeginningError {
          throw error.error
        } catch let error as DatabaseError where error.sqlState == "42704" && slotPosition != nil {
          // A server that has just taken over doesn't have the former one's slots: the feed begins anew.
          slotPosition = nil
        } catch {
          try await Task.sleep(for: retry.pause(after: error))
        }
      }
    } catch {
      end()
      guard error is CancellationError, !Task.isCancelled else { throw error }
      throw DatabaseError(.misuse, "database is closed", engine: connections.engine)
    }
  }

  /// Ends the feed with an error if a table is dropped, also one that is made anew under its name: the server tells
  /// nothing of either.
  private func watchTables() {
    let task = Task { [plan, connections, buffer, interrupts] in
      while (try? await Task.sleep(for: .seconds(5))) != nil, !buffer.isEnded {
        do {
          try await connections.performOnPrimary(.plain, ScopeCall("changes(of:)")) {
            try plan.checkTables($0)
          }
        } catch let error as DatabaseError where error.sqlState == SQLState.wrongState {
          buffer.end(.failure(error))
          interrupts.wake()
        } catch {}  // A server that is away is noticed by what receives.
      }
    }
    watch.withLock { $0 = task }
    if buffer.isEnded { task.cancel() }
  }

  /// The error of `beginning`, whose transaction was retried already.
  private struct BeginningError: Error {
    let error: any Error
  }

  /// Makes the slot, calls `beginning` on the state after which it begins, and starts the thread.
  private func beginOnce(_ beginning: (@Sendable (Database) throws -> Void)?) async throws {
    let isNew = slotPosition == nil
    let (connection, slot) = try await withTaskCancellationHandler {
      try await onOwnThread {
        try DatabaseError.converting {
          try self.connectFirst(exporting: isNew && beginning != nil)
        }
      }
    } onCancel: {
      end()
    }
    if isNew, let beginning { try await call(beginning, on: slot.snapshot, connection) }
    try await onOwnThread {
      try DatabaseError.converting { try self.start(connection, slot) }
    }
    // A consumer that has read nothing knows nothing of what was before, which its former slot may have lost.
    if plan.slot != nil, isNew ? beginning == nil : plan.hasOtherTables {
      buffer.appendUnknown()
    }
    DispatchQueue(label: "larder.feed").async { self.run(connection) }
  }

  /// Calls a closure in a transaction that sees an exported snapshot.
  private func call(
    _ beginning: @escaping @Sendable (Database) throws -> Void, on snapshot: String,
    _ connection: ReplicationConnection
  ) async throws {
    struct SnapshotIsGone: Error {}
    do {
      try await connections.performOnPrimary(
        .transaction(.immediate), ScopeCall("changes(of:)")
      ) { db in
        try db.postgres.isolate(.repeatableRead)
        do {
          try db.executeUpdate(SQL(raw: "SET TRANSACTION SNAPSHOT \(snapshot.quotedText)"))
        } catch let error as DatabaseError where !SQLState.isTransient(error) {
          // It went with the connection that has exported it.
          throw SnapshotIsGone()
        }
        let seen = try db.value(
          "SELECT \(SQL(raw: ServerSnapshot.current))", as: String.self)
        do {
          try connection.awaitCommits(in: ServerSnapshot(seen))
        } catch { throw SnapshotIsGone() }
        try beginning(db)
      }
    } catch is SnapshotIsGone {
      throw DatabaseError.ofFeed(SQLState.connectionFailure, "the connection was lost")
    } catch {
      throw BeginningError(error: error)
    }
  }

  /// Connects, and makes a slot if there is none.
  private func connectFirst(
    exporting: Bool
  ) throws -> (ReplicationConnection, ReplicationSlot) {
    let connection = try connect()
    system = try identity(connection)
    if let name = plan.slot, let slotPosition {
      return (connection, ReplicationSlot(name: name, position: slotPosition))
    }
    let slot = try connection.makeSlot(exporting: exporting)
    // With a snapshot this waits for the transactions that it has.
    if !exporting { try connection.awaitRunning() }
    return (connection, slot)
  }

  /// Has a slot last that is to, and begins to receive.
  private func start(_ connection: ReplicationConnection, _ slot: ReplicationSlot) throws {
    if let name = plan.slot, slot.name != name {
      // Not before `beginning` has succeeded: a slot that lasts says that it did.
      if mayHaveSlot {
        // It is that of a former attempt, before what `beginning` has read by now.
        try connection.run(
          "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '\(name)'"
        )
      }
      mayHaveSlot = true
      try connection.run(
        "SELECT pg_copy_logical_replication_slot('\(slot.name)', '\(name)', false)")
      slotPosition = slot.position
      try connection.run("DROP_REPLICATION_SLOT \(slot.name)")
    }
    buffer.begin(at: slot.position)
    try receive(connection, plan.slot ?? slot.name, from: slot.position)
  }

  // MARK: The server

  private func connect() throws -> ReplicationConnection {
    let connection = try servers.connectForLog(configuration, interrupts) { [buffer] in
      buffer.isEnded
    }
    // The snapshot's transaction idles while `beginning` reads.
    try connection.run("SET idle_in_transaction_session_timeout = 0")
    return connection
  }

  private func identity(_ connection: ReplicationConnection) throws -> [String?] {
    Array(try connection.run("IDENTIFY_SYSTEM").first?.prefix(2) ?? [])
  }

  private func receive(
    _ connection: ReplicationConnection, _ slot: String, from position: UInt64
  ) throws {
    do {
      try connection.startReceiving(slot, from: position, [plan.publication])
    } catch let failure as PostgresFailure where failure.sqlState == SQLState.wrongState {
      let lost = try connection.run(
        "SELECT 1 FROM pg_replication_slots WHERE slot_name = '\(slot)' AND wal_status = 'lost'")
      guard lost.isEmpty else { throw FeedPlan.lost(slot) }
      throw failure
    }
  }

  /// Connects again after a connection was lost.
  private func reconnect() throws -> ReplicationConnection {
    let connection = try connect()
    let found = try identity(connection)
    let isOther = found != system
    if isOther { buffer.forgetPositions() }
    consumer.assembly.restart()
    guard let name = plan.slot else {
      let slot = try connection.makeSlot(exporting: false)
      try connection.awaitRunning()
      buffer.begin(at: slot.position)
      buffer.appendUnknown()
      try receive(connection, slot.name, from: slot.position)
      system = found
      return connection
    }
    do {
      try receive(connection, name, from: buffer.received)
      // Commits of the former primary may be lost that were reported.
      if isOther { buffer.appendUnknown() }
    } catch let failure as PostgresFailure where failure.sqlState == "42704" && isOther {
      // The new primary doesn't have the former one's slots.
      try remake(connection)
    }
    system = found
    return connection
  }

  /// Makes a slot that lasts in place of one that a failover has lost. The consumer reads anew after it was made,
  /// and so misses nothing.
  ///
  /// It doesn't last before the consumer has done that: whoever begins the feed then takes it for one that was
  /// handled up to there.
  private func remake(_ connection: ReplicationConnection) throws {
    let slot = try connection.makeSlot(exporting: false)
    try connection.awaitRunning()
    buffer.begin(at: slot.position)
    buffer.appendUnknown()
    while !buffer.isEnded, !buffer.isWaitedFor { pause(.milliseconds(10)) }
    if !buffer.isEnded { try start(connection, slot) }
  }

  // MARK: The thread

  private func newRetry() -> Retry {
    Retry(limit: configuration.retryLimit, isTransient: Self.isTransient)
  }

  /// Whether beginning again may help. A slot is in use as long as another consumer has it, and for a moment after its
  /// connection was lost.
  @Sendable static func isTransient(_ error: DatabaseError) -> Bool {
    SQLState.isTransient(error) || error.sqlState == "55006"
  }

  private func pause(_ time: Duration) {
    let end = MonotonicClock.now + time
    while !buffer.isEnded, MonotonicClock.now < end {
      var file = pollfd(fd: interrupts.file, events: Int16(POLLIN), revents: 0)
      let left = (end - MonotonicClock.now).inNanoseconds / 1_000_000 + 1
      if poll(&file, 1, Int32(clamping: left)) > 0 { _ = interrupts.take() }
    }
  }

  /// Receives until the feed ends.
  private func run(_ first: ReplicationConnection) {
    var connection: ReplicationConnection? = first
    var retry = newRetry()
    while !buffer.isEnded {
      do {
        try DatabaseError.converting {
          let current = try connection ?? reconnect()
          connection = nil
          retry = newRetry()
          defer { current.close() }
          var receiving = FeedReceiving<FeedConsumer>(current)
          try receiving.run(&consumer)
        }
      } catch {
        guard !buffer.isEnded else { break }
        do { pause(try retry.pause(after: error)) } catch { buffer.end(.failure(error)) }
      }
    }
    connection?.close()
    connections.remove(self)
  }

  // MARK: The consumer

  func next() async throws -> CommittedChanges<RowChange>? {
    // The consumer asks for another one, and so has handled the first, which has told it.
    if plan.hasOtherTables, isAskedAgain() {
      try? await connections.performOnPrimary(.plain, ScopeCall("changes(of:)")) { [plan] in
        try plan.noteColumns($0)
      }
    }
    return try await buffer.next { [interrupts] in interrupts.wake() }
  }

  /// Whether the consumer asks for its second transaction.
  private func isAskedAgain() -> Bool {
    asked.withLock { asked in
      asked += 1
      return asked == 2
    }
  }

  func end() {
    watch.withLock { $0?.cancel() }
    buffer.end(.success(()))
    interrupts.wake()
    connections.remove(self)
  }

  // MARK: The pool

  func pause() { end() }
  func resume() {}
  func abandon() { end() }
  var currentWork: (label: String, since: Duration)? { nil }
}
