import CLibPQ
import Glibc
import LarderSQLite

/// A connection on which the server sends what it decodes of its log, by its replication protocol.
///
/// libpq runs non-blocking, and all waiting is done here, with an eventfd for which poll waits too: so another
/// thread can wake this one, and the server gets its answers in time.
///
/// See [Streaming Replication Protocol](https://www.postgresql.org/docs/current/protocol-replication.html).
///
/// `@unchecked Sendable` is sound because one thread at a time uses it: that which begins the feed, and then
/// the feed's own.
///
/// Safety: the pointer is nil from the moment the connection is closed. In a forked process, which has no
/// such thread, nothing is closed, since the connection is the parent's.
final class ReplicationConnection: @unchecked Sendable {
  private var handle: OpaquePointer?
  private let address: ServerAddress
  private let interrupts: PostgresInterrupt
  private let isAbandoned: @Sendable () -> Bool
  private let generation = ProcessGeneration.watch()
  /// Whether some of what is to be sent is still here.
  private var hasUnsent = false
  /// How long the server may go without an answer, in nanoseconds: a third of the time after which it ends the
  /// connection (`wal_sender_timeout`).
  private(set) var statusInterval = 10_000_000_000
  private let warning: UnsafeMutablePointer<CInt> = {
    let warning = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
    warning.initialize(to: 0)
    return warning
  }()

  /// Connects to one server, until a time in nanoseconds of `MonotonicClock`.
  ///
  /// - Parameters:
  ///   - interrupts: wakes the thread that waits here.
  ///   - isAbandoned: whether the feed has ended, so that waiting throws.
  init(
    _ address: ServerAddress, interrupts: PostgresInterrupt,
    isAbandoned: @escaping @Sendable () -> Bool, deadline: Int
  ) throws {
    self.address = address
    self.interrupts = interrupts
    self.isAbandoned = isAbandoned
    let handle = try address.replicating.start(warning: warning)
    self.handle = handle
    var state = PGRES_POLLING_WRITING
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD else {
        throw PostgresConnection.connectionFailure(String(cString: PQerrorMessage(handle)))
      }
      guard MonotonicClock.nanoseconds < deadline else {
        throw PostgresFailure(
          SQLState.cannotConnect, "there was no connection before the deadline",
          isConnectionLost: true)
      }
      try checkAbandoned()
      wait(for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
      state = PQconnectPoll(handle)
    }
    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    guard PQsetnonblocking(handle, 1) == 0 else { throw lost() }
  }

  deinit {
    close()
    warning.deallocate()
  }

  func close() {
    guard let handle, generation == ProcessGeneration.current else { return }
    PQfinish(handle)
    self.handle = nil
  }

  private func checkAbandoned() throws {
    guard isAbandoned() else { return }
    if let handle, PQtransactionStatus(handle) == PQTRANS_ACTIVE {
      // A server that waits for transactions doesn't notice that nobody waits for it.
      _ = CancelRequest(handle, waking: interrupts)
    }
    throw CancellationError()
  }

  /// Whether the server accepts no connections, as it does while it stops. Waits for its answer, for seconds.
  var isServerStopping: Bool { address.ping() == PQPING_REJECT }

  /// Notes the server's `wal_sender_timeout`; 0 for none.
  func noteTimeout(milliseconds: Int) {
    guard milliseconds > 0 else { return }
    statusInterval = min(statusInterval, milliseconds * 1_000_000 / 3)
  }

  // MARK: Commands

  /// Runs a command of the replication protocol, or one statement. Returns its rows as text.
  @discardableResult
  func run(_ command: String) throws -> [[String?]] {
    let handle = try send(command)
    var rows: [[String?]] = []
    var failure: PostgresFailure?
    while let result = try nextResult(handle) {
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK:
        rows = (0..<PQntuples(result)).map { row in
          (0..<PQnfields(result)).map { column in
            PQgetisnull(result, row, column) == 1
              ? nil : String(cString: PQgetvalue(result, row, column))
          }
        }
      case PGRES_COMMAND_OK: break
      default: failure = failure ?? PostgresFailure(result, sql: nil)
      }
    }
    if let failure { throw failure }
    return rows
  }

  /// Has the server send what it decodes: begins to receive.
  func startCopy(_ command: String) throws {
    let handle = try send(command)
    guard let result = try nextResult(handle) else { throw lost() }
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COPY_BOTH else {
      let failure = PostgresFailure(result, sql: nil)
      while let rest = try nextResult(handle) { PQclear(rest) }
      throw failure
    }
  }

  private func send(_ command: String) throws -> OpaquePointer {
    guard let handle, PQsendQuery(handle, command) == 1 else { throw lost() }
    return handle
  }

  private func nextResult(_ handle: OpaquePointer) throws -> OpaquePointer? {
    while PQisBusy(handle) == 1 {
      try flush(handle)
      try checkAbandoned()
      wait(for: hasUnsent ? POLLIN | POLLOUT : POLLIN, until: nil)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle)
  }

  private func flush(_ handle: OpaquePointer) throws {
    let code = PQflush(handle)
    guard code >= 0 else { throw lost() }
    hasUnsent = code == 1
  }

  // MARK: Receiving

  /// Calls a closure with the next message, if it has arrived as a whole. Returns nil if it hasn't. Throws if
  /// the connection is lost, or the server has ended it.
  func receive<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
    guard let handle else { throw lost() }
    var buffer: UnsafeMutablePointer<CChar>?
    let count = PQgetCopyData(handle, &buffer, 1)
    guard count >= 0 else {
      if count == -1, let result = PQgetResult(handle) {
        defer { PQclear(result) }
        if PQresultStatus(result) == PGRES_FATAL_ERROR {
          throw PostgresFailure(result, sql: nil)
        }
        throw PostgresFailure(
          SQLState.connectionFailure, "the server has ended the feed", isConnectionLost: true)
      }
      throw lost()
    }
    guard let buffer, count > 0 else { return nil }
    defer { PQfreemem(buffer) }
    return try body(UnsafeRawBufferPointer(start: buffer, count: Int(count)))
  }

  /// Waits until something has arrived, the thread is woken, or a time.
  ///
  /// - Parameter isReading: whether what arrives matters now.
  func await(isReading: Bool, until limit: Int) throws {
    guard let handle else { throw lost() }
    if hasUnsent { try flush(handle) }
    let reading = isReading ? POLLIN : 0
    guard wait(for: hasUnsent ? reading | POLLOUT : reading, until: limit) else { return }
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    try flush(handle)
  }

  /// Sends a message; drops it if the server doesn't take any now.
  func send(_ message: [UInt8]) throws {
    guard let handle else { throw lost() }
    let code = message.withUnsafeBytes { bytes in
      PQputCopyData(
        handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard code >= 0 else { throw lost() }
    try flush(handle)
  }

  /// Ends receiving, and waits until the server has noticed: then its slot is free for another.
  func endCopy(until limit: Int) {
    guard let handle, PQputCopyEnd(handle, nil) >= 0 else { return }
    while MonotonicClock.nanoseconds < limit, (try? flush(handle)) != nil {
      var buffer: UnsafeMutablePointer<CChar>?
      let count = PQgetCopyData(handle, &buffer, 1)
      if let buffer { PQfreemem(buffer) }
      if count < 0 { return }
      if count > 0 { continue }
      wait(for: hasUnsent ? POLLIN | POLLOUT : POLLIN, until: limit)
      guard PQconsumeInput(handle) == 1 else { return }
    }
  }

  /// Waits until the socket is ready, the thread is woken, or a time. Returns whether the socket is ready.
  @discardableResult
  private func wait(for events: Int32, until limit: Int?) -> Bool {
    guard let handle else { return false }
    return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { files in
      let socket = events == 0 ? -1 : PQsocket(handle)
      files.initializeElement(at: 0, to: pollfd(fd: socket, events: Int16(events), revents: 0))
      files.initializeElement(
        at: 1, to: pollfd(fd: interrupts.file, events: Int16(POLLIN), revents: 0))
      let left = limit.map { max(0, $0 - MonotonicClock.nanoseconds) }
      let milliseconds = left.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
      guard Glibc.poll(files.baseAddress, 2, milliseconds) > 0 else { return false }
      if files[1].revents != 0 { _ = interrupts.take() }
      return files[0].revents != 0
    }
  }

  private func lost() -> PostgresFailure {
    let message = handle.map { PostgresFailure.line(String(cString: PQerrorMessage($0))) } ?? ""
    return PostgresFailure(
      SQLState.connectionFailure, message.isEmpty ? "the connection is closed" : message,
      isConnectionLost: true)
  }
}
