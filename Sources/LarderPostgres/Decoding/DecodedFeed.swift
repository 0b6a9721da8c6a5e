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
/// `@unchecked Sendable` is sound because the thread alone uses ``assembly`` and ``system`` once it runs, and
/// before it the one task that begins the feed.
final class DecodedFeed: EngineFeed, AccessCompanion, @unchecked Sendable {
  private let plan: FeedPlan
  private let servers: ServerList
  private let configuration: PostgresConfiguration
  private let connections: Connections
  private let buffer: FeedBuffer
  private let interrupts: PostgresInterrupt
  private var assembly: TransactionAssembly
  /// The server's identity and timeline, which a failover changes.
  private var system: [String?]?

  init(
    _ plan: FeedPlan, _ servers: ServerList, _ configuration: PostgresConfiguration,
    _ connections: Connections
  ) throws {
    self.plan = plan
    self.servers = servers
    self.configuration = configuration
    self.connections = connections
    buffer = FeedBuffer(limit: plan.limit, isPatient: plan.slot != nil)
    interrupts = try DatabaseError.converting { try PostgresInterrupt() }
    assembly = TransactionAssembly(
      of: Set(plan.tables.keys), known: plan.slotPosition == nil ? plan.tables : [:]
    ) { [connections] numbers in
      let isKnown = numbers.allSatisfy { ServerType(builtIn: $0) != nil }
      if isKnown { return numbers.map { ServerType(builtIn: $0) } }
      var types: [ServerType?] = []
      try connections.runOnPrimary(.plain, ScopeCall("changes(of:)")) { db in
        let connection = try db.postgres.connection
        types = try DatabaseError.converting {
          try connection.types.types(numbers, on: connection)
        }
      }
      return types
    }
  }

  // MARK: Beginning

  /// Begins, or ends and throws.
  func begin(_ beginning: (@Sendable (Database) throws -> Void)?) async throws {
    do {
      try await beginHere(beginning)
    } catch {
      end()
      guard error is CancellationError, !Task.isCancelled else { throw error }
      throw DatabaseError(.misuse, "database is closed", engine: connections.engine)
    }
  }

  /// Begins: makes the slot, calls `beginning` on the state after which it begins, and starts the thread.
  private func beginHere(_ beginning: (@Sendable (Database) throws -> Void)?) async throws {
    try connections.add(self)
    let isNew = plan.slotPosition == nil
    let (connection, slot) = try await withTaskCancellationHandler {
      try await onOwnThread { try self.connectFirst(exporting: isNew && beginning != nil) }
    } onCancel: {
      end()
    }
    if isNew, let beginning {
      try await connections.performOnPrimary(
        .transaction(.immediate), ScopeCall("changes(of:)")
      ) { db in
        try db.postgres.isolate(.repeatableRead)
        try db.executeUpdate(SQL(raw: "SET TRANSACTION SNAPSHOT \(slot.snapshot.quotedText)"))
        try beginning(db)
      }
    }
    try await onOwnThread { try self.start(connection, slot) }
    // A consumer that has read nothing knows nothing of what was before, which its former slot may have lost.
    if plan.slot != nil, isNew ? beginning == nil : plan.hasOtherTables {
      buffer.appendUnknown()
    }
    DispatchQueue(label: "larder.feed").async { self.run(connection) }
  }

  /// A slot that was made, or that exists.
  private struct Slot: Sendable {
    var name: String
    var position: UInt64
    /// The name of the snapshot after which the slot begins, if it was exported.
    var snapshot = ""
  }

  /// Connects, and makes a slot if there is none, until that succeeds or can't.
  private func connectFirst(
    exporting: Bool
  ) throws -> (ReplicationConnection, Slot) {
    var retry = newRetry()
    while true {
      do {
        return try DatabaseError.converting {
          let connection = try connect()
          system = try identity(connection)
          if let name = plan.slot, let position = plan.slotPosition {
            return (connection, Slot(name: name, position: position))
          }
          return (connection, try makeSlot(connection, exporting: exporting))
        }
      } catch {
        pause(try retry.pause(after: error))
      }
    }
  }

  /// Has a slot last that is to, and begins to receive.
  private func start(_ connection: ReplicationConnection, _ slot: Slot) throws {
    var retry = newRetry()
    while true {
      do {
        try DatabaseError.converting {
          if let name = plan.slot, slot.name != name {
            // Not before `beginning` has succeeded: a slot that lasts says that it did.
            try connection.run(
              "SELECT pg_copy_logical_replication_slot('\(slot.name)', '\(name)', false)")
            try connection.run("DROP_REPLICATION_SLOT \(slot.name)")
          }
          buffer.begin(at: slot.position)
          try receive(connection, plan.slot ?? slot.name, from: slot.position)
        }
        return
      } catch {
        let pause = try retry.pause(after: error)
        guard plan.slotPosition != nil else { throw error }
        self.pause(pause)
      }
    }
  }

  // MARK: The server

  private func connect() throws -> ReplicationConnection {
    let deadline = (MonotonicClock.now + configuration.connectTimeout).inNanoseconds
    let connection = try servers.connectToAny(deadline) { [buffer, interrupts] address, limit in
      try ReplicationConnection(
        address, interrupts: interrupts, isAbandoned: { buffer.isEnded }, deadline: limit)
    }
    // The snapshot's transaction idles while `beginning` reads.
    try connection.run("SET idle_in_transaction_session_timeout = 0")
    let timeout = try connection.run(
      "SELECT setting FROM pg_settings WHERE name = 'wal_sender_timeout'")
    connection.noteTimeout(milliseconds: timeout.first?.first?.flatMap { Int($0) } ?? 0)
    return connection
  }

  private func identity(_ connection: ReplicationConnection) throws -> [String?] {
    Array(try connection.run("IDENTIFY_SYSTEM").first?.prefix(2) ?? [])
  }

  /// Makes a temporary slot, which ends with the connection.
  private func makeSlot(_ connection: ReplicationConnection, exporting: Bool) throws -> Slot {
    let name = "larder_\(UInt32.random(in: 0...UInt32.max))_\(getpid())"
    let kind = exporting ? "EXPORT_SNAPSHOT" : "NOEXPORT_SNAPSHOT"
    let row = try connection.run(
      "CREATE_REPLICATION_SLOT \(name) TEMPORARY LOGICAL pgoutput \(kind)")
    guard let found = row.first, found.count >= 3, let position = found[1].flatMap(Self.position)
    else { throw PostgresFailure(SQLState.wrongState, "the server has made no slot") }
    return Slot(name: name, position: position, snapshot: found[2] ?? "")
  }

  private static func position(_ text: String) -> UInt64? {
    let parts = text.split(separator: "/").map { UInt64($0, radix: 16) }
    guard parts.count == 2, let high = parts[0], let low = parts[1] else { return nil }
    return high << 32 | low
  }

  private func receive(
    _ connection: ReplicationConnection, _ slot: String, from position: UInt64
  ) throws {
    let place = [position >> 32, position & 0xFFFF_FFFF]
      .map { String($0, radix: 16, uppercase: true) }.joined(separator: "/")
    let publication = plan.publication.quotedIdentifier.quotedText
    do {
      try connection.startCopy(
        "START_REPLICATION SLOT \(slot) LOGICAL \(place) "
          + "(proto_version '1', publication_names \(publication), binary 'true')")
    } catch let failure as PostgresFailure where failure.sqlState == SQLState.wrongState {
      // The only state in which a slot of the right kind can't be used.
      throw FeedPlan.lost(slot)
    }
  }

  /// Connects again after a connection was lost.
  private func reconnect() throws -> ReplicationConnection {
    let connection = try connect()
    let found = try identity(connection)
    let isOther = found != system
    if isOther {
      buffer.forgetPositions()
      system = found
    }
    assembly.restart()
    guard let name = plan.slot else {
      let slot = try makeSlot(connection, exporting: false)
      buffer.begin(at: slot.position)
      buffer.appendUnknown()
      try receive(connection, slot.name, from: slot.position)
      return connection
    }
    // The commits of a former primary may be lost that were reported.
    if isOther { buffer.appendUnknown() }
    do {
      try receive(connection, name, from: buffer.received)
    } catch let failure as PostgresFailure where failure.sqlState == "42704" {
      let slot = try connection.run(
        "CREATE_REPLICATION_SLOT \(name) LOGICAL pgoutput NOEXPORT_SNAPSHOT")
      buffer.forgetPositions()
      if !isOther { buffer.appendUnknown() }
      let position = (slot.first?[1]).flatMap { $0.flatMap(Self.position) } ?? 0
      try receive(connection, name, from: position)
    }
    return connection
  }

  // MARK: The thread

  private func newRetry() -> Retry {
    Retry(limit: configuration.retryLimit) { error in
      // A slot is in use for a moment after its connection was lost.
      SQLState.isTransient(error) || error.sqlState == "55006"
    }
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
          var receiving = FeedReceiving(current, buffer)
          try receiving.run(&assembly)
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
    try await buffer.next { [interrupts] in interrupts.wake() }
  }

  func end() {
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
