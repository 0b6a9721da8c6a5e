import CLibPQ
import Glibc
import LarderSQLite

/// One connection to a server, by libpq, for one thread at a time.
///
/// libpq runs non-blocking, and all waiting is done here (``wait(for:)``): each wait ends at the deadline, or
/// when it is interrupted, whatever the server does. A stopped server held calls for 12 seconds in spite of
/// `tcp_user_timeout`, keepalives and `statement_timeout`.
///
/// Safety: the unsafe pointer is nil from the moment the connection is given up, and every use begins with
/// ``begin()``, which refuses another process than the one that connected.
final class PostgresConnection {
  /// The state of a connection.
  enum Status {
    case idle
    /// A statement's rows are on the way.
    case active
    /// A transaction is open, or its BEGIN waits for the first statement.
    case transaction
    /// A transaction in which a statement has failed: only ROLLBACK is possible.
    case failedTransaction
    /// The connection is closed or lost.
    case unknown
  }

  /// A statement that was asked to stop, and hasn't yet.
  private struct Stopping {
    let reason: String
    /// The time at which the connection is given up, in nanoseconds of `MonotonicClock`.
    let limit: Int
    let request: CancelRequest
  }

  @exclusivity(unchecked) private(set) var handle: OpaquePointer?
  let configuration: PostgresConfiguration
  let interrupts: PostgresInterrupt
  /// The time at which waiting ends, in nanoseconds of `MonotonicClock`; nil for never. The caller that runs
  /// a statement sets it.
  @exclusivity(unchecked) var deadline: Int?
  @exclusivity(unchecked) private var stopping: Stopping?
  /// Whether the statement that runs was asked to stop.
  var isStopping: Bool { stopping != nil }
  /// Whether a statement is stopped by giving the connection up at once, instead of asking the server to
  /// cancel it. A COMMIT that is cancelled while it waits for synchronous standbys is committed nonetheless,
  /// and they may not have it.
  @exclusivity(unchecked) var isDroppedToStop = false
  /// A flag that is set when a commit has stopped waiting for standbys. It lives as long as the handle.
  private let warning: UnsafeMutablePointer<CInt> = {
    let warning = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
    warning.initialize(to: 0)
    return warning
  }()
  /// Whether the server has accepted the connection.
  var isConnected = false
  private let generation = ProcessGeneration.watch()

  /// Deferred statements, which are sent with the next one: a BEGIN if no transaction is open yet, and ends
  /// and beginnings of savepoints. None of them fails by itself.
  @exclusivity(unchecked) var deferred: [String] = []
  /// The names of the prepared statements on the server.
  @exclusivity(unchecked) var names = StatementNames()
  /// The types that aren't the server's own, as far as the connection has met them.
  @exclusivity(unchecked) var types = ServerTypes()
  /// Whether prepared statements stay with the connections of this address.
  let keeping: StatementKeeping
  /// Whether a statement has run that may have left something with the session.
  @exclusivity(unchecked) var isAltered = false
  /// Whether SQL has made the server forget prepared statements, as DISCARD ALL does. A transaction that is
  /// retried would do so again.
  @exclusivity(unchecked) var losesNames = false
  /// Whether the server's process isn't the one that libpq was told of, as behind a pooler.
  private(set) var isBehindPooler = false
  /// Whether the last round trip is in a transaction.
  @exclusivity(unchecked) var isInTransaction = false
  /// Whether the end of the round trip has been read.
  @exclusivity(unchecked) var hasReadSync = false
  /// How many round trips there were since this was last set to 0.
  @exclusivity(unchecked) var roundTripCount = 0
  /// How many of the statements that were sent together last the server has confirmed.
  @exclusivity(unchecked) var confirmedCount = 0
  /// The notifications that have arrived; nil if the connection doesn't listen.
  @exclusivity(unchecked) var received: [(channel: String, payload: String)]?
  /// The COPY whose rows are being written. Nothing else runs meanwhile.
  @exclusivity(unchecked) var copying: ObjectIdentifier?
  /// The statement whose rows are on the way. Unretained: the statement clears it before it is deallocated.
  @exclusivity(unchecked) unowned(unsafe) var streaming: PostgresStatement?

  /// Connects to one server.
  ///
  /// - Parameters:
  ///   - address: the server's address.
  ///   - configuration: its settings for a single connection apply.
  ///   - keeping: whether the address keeps prepared statements, as far as its connections have found out.
  ///   - deadline: when to give up, in nanoseconds of `MonotonicClock`. The look-up of a host name isn't
  ///     interrupted, since the C library can't do that; `hostaddr=` avoids it.
  init(
    _ address: ServerAddress, _ configuration: PostgresConfiguration,
    interrupts: PostgresInterrupt?, keeping: StatementKeeping, deadline: Int?
  ) throws {
    self.configuration = configuration
    self.keeping = keeping
    self.interrupts = try interrupts ?? PostgresInterrupt()
    self.deadline = deadline
    handle = try address.start(warning: warning)
    do {
      try connect()
      let row = try run(all: [configuration.sessionSQL(of: self)])
      isBehindPooler = row?.first != Int64(process)
    } catch {
      drop()
      throw error
    }
    self.deadline = nil
  }

  deinit {
    close()
    warning.deallocate()
  }

  /// Closes the connection properly, without waiting for anything. In a child process, where the connection
  /// is the parent's, only the descriptor is closed: the rest of the handle is leaked on purpose.
  func close() {
    guard let closing = handle else { return }
    handle = nil
    if generation == ProcessGeneration.current {
      PQfinish(closing)
    } else {
      Glibc.close(PQsocket(closing))
    }
  }

  /// Drops the connection without telling the server, which may not listen.
  private func drop() {
    guard let handle, generation == ProcessGeneration.current else { return }
    if PQsocket(handle) >= 0 { shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }
    stopping = nil
    close()
  }

  // MARK: State

  /// Takes the warning: returns whether a commit has stopped waiting for standbys, and clears it.
  func takeWarning() -> Bool {
    defer { warning.pointee = 0 }
    return warning.pointee != 0
  }

  /// The server's process id, as the server has told it.
  var process: Int32 { handle.map(PQbackendPID) ?? 0 }

  /// Whether the connection can be used: it is neither closed, nor lost, nor the parent process's.
  var isOpen: Bool { handle != nil && generation == ProcessGeneration.current }

  var status: Status {
    guard let handle, isOpen else { return .unknown }
    if let streaming { return streaming.isUnwanted ? .transaction : .active }
    switch PQtransactionStatus(handle) {
    case PQTRANS_IDLE: return deferred.isEmpty ? .idle : .transaction
    case PQTRANS_INTRANS: return .transaction
    case PQTRANS_INERROR: return .failedTransaction
    case PQTRANS_ACTIVE: return .active
    default: return .unknown
    }
  }

  /// Whether the server has no transaction open.
  var isIdle: Bool { handle.map(PQtransactionStatus) == PQTRANS_IDLE }

  /// Whether no input from the server is unread. Unread input may say that the server closes the connection.
  var isQuiet: Bool {
    guard let handle, isOpen else { return false }
    var file = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return poll(&file, 1, 0) == 0
  }

  /// Throws if the server has closed the connection. The server is asked only if it has sent something.
  func checkAlive() throws { if !isQuiet { try run("") } }

  // MARK: Operations

  /// Begins an operation. Returns the handle, and throws if the connection can't be used.
  func begin() throws -> OpaquePointer {
    guard let handle else { throw Self.closed }
    guard isOpen else {
      throw PostgresFailure(
        SQLState.connectionFailure,
        "the connection belongs to the process that forked this process",
        isConnectionLost: true)
    }
    guard copying == nil else {
      throw PostgresFailure(
        SQLState.wrongState, "the connection can't run anything else while rows are copied")
    }
    if let streaming { try streaming.takeRest() }
    // An interruption that was asked for while nothing waited is dropped.
    if interrupts.isRequested.load(ordering: .relaxed) { _ = interrupts.take() }
    if let deadline, MonotonicClock.nanoseconds >= deadline {
      throw PostgresFailure(SQLState.canceled, Self.deadlineReason)
    }
    return handle
  }

  /// Ends an operation whose results were all read. A request to cancel that is under way must not hit the
  /// next operation.
  func end() {
    while let stopping, handle != nil {
      if stopping.request.isAnswered {
        self.stopping = nil
      } else if (try? isReady(for: 0, until: stopping.limit)) != true {
        drop()
      }
      _ = interrupts.take()
    }
    takeNotifications()
  }

  /// Ends the statement whose remaining rows are unwanted: by reading them or, if that takes too long, by
  /// cancelling it, which aborts its transaction.
  func endRows() throws {
    guard let streaming, streaming.isUnwanted else { return }
    let own = deadline
    defer { deadline = own }
    deadline = min(own ?? .max, MonotonicClock.nanoseconds + 50_000_000)
    do { try streaming.readToEnd() } catch let failure as PostgresFailure {
      guard failure.sqlState == SQLState.canceled, isOpen else { throw failure }
    }
  }

  private static let deadlineReason = "the statement ran longer than its deadline"
  private static let interruptReason = "the statement was interrupted"

  /// The failure of a result. If the statement was stopped here, the message says why.
  func failure(
    _ result: OpaquePointer, sql: String?, hasValues: Bool = false,
    copyingInto relation: String? = nil
  ) -> PostgresFailure {
    var failure = PostgresFailure(result, sql: sql, hasValues: hasValues, copyingInto: relation)
    if let stopping, failure.sqlState == SQLState.canceled { failure.message = stopping.reason }
    if failure.isConnectionLost { drop() }
    return failure
  }

  /// Gives the connection up because libpq couldn't continue, and returns the reason.
  func lost() -> PostgresFailure {
    guard let handle else { return Self.closed }
    var failure = PostgresFailure(
      SQLState.connectionFailure,
      PostgresFailure.line(String(cString: PQerrorMessage(handle))))
    // The server's last message says more than that the connection is closed.
    while PQstatus(handle) == CONNECTION_BAD, let result = PQgetResult(handle) {
      if PQresultErrorField(result, Int32(LARDER_PG_SQLSTATE)) != nil {
        failure = PostgresFailure(result, sql: nil)
      }
      PQclear(result)
    }
    failure.isConnectionLost = true
    drop()
    return failure
  }

  private static let closed = PostgresFailure(
    SQLState.connectionFailure, "the connection is closed", isConnectionLost: true)

  /// Gives the connection up in a state from which libpq can't continue.
  func abandon(_ sqlState: String, _ message: String) -> PostgresFailure {
    drop()
    return PostgresFailure(sqlState, message, isConnectionLost: true)
  }

  // MARK: Waiting

  /// Waits until the socket is ready for one of these events. At the deadline, or when interrupted, the
  /// server is asked to cancel, and gets a short time to answer.
  func wait(for events: Int32) throws {
    while try !isReady(for: events, until: stopping?.limit ?? deadline) {
      guard let stopping else {
        try stop(Self.deadlineReason)
        continue
      }
      throw abandon(SQLState.canceled, stopping.reason + ", and the server didn't answer")
    }
  }

  /// Stops the statement at the deadline, or when interrupted, also while rows have arrived already and
  /// nothing waits.
  func stopIfDue() throws {
    guard stopping == nil, isConnected else { return }
    if interrupts.isRequested.load(ordering: .relaxed), interrupts.take() {
      return try stop(Self.interruptReason)
    }
    if let deadline, MonotonicClock.nanoseconds >= deadline { try stop(Self.deadlineReason) }
  }

  /// Whether the socket gets ready before a time. Without events, waits only for an interruption or a
  /// wake-up.
  private func isReady(for events: Int32, until limit: Int?) throws -> Bool {
    guard let handle else { throw Self.closed }
    return try withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { files in
      while true {
        let socket = events == 0 ? -1 : PQsocket(handle)
        files.initializeElement(at: 0, to: pollfd(fd: socket, events: Int16(events), revents: 0))
        files.initializeElement(
          at: 1, to: pollfd(fd: interrupts.file, events: Int16(POLLIN), revents: 0))
        let left = limit.map { max(0, $0 - MonotonicClock.nanoseconds) }
        let milliseconds = left.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
        let count = Glibc.poll(files.baseAddress, 2, milliseconds)
        if count == 0 { return false }
        guard count > 0 else {
          if errno == EINTR { continue }
          throw lost()
        }
        if files[1].revents != 0 {
          if events == 0 { return true }
          if interrupts.take(), stopping == nil { try stop(Self.interruptReason) }
        }
        if files[0].revents != 0 { return true }
        // A request to cancel sets another limit.
        if let stopping, limit != stopping.limit {
          return try isReady(for: events, until: stopping.limit)
        }
      }
    }
  }

  /// Asks the server to cancel what it runs, or gives the connection up.
  private func stop(_ reason: String) throws {
    guard isConnected else {
      let isLate = reason == Self.deadlineReason
      throw abandon(
        isLate ? SQLState.cannotConnect : SQLState.canceled,
        isLate ? "there was no connection before the deadline" : "connecting was interrupted")
    }
    guard !isDroppedToStop, let handle, PQstatus(handle) == CONNECTION_OK,
      let request = CancelRequest(handle, waking: interrupts)
    else { throw abandon(SQLState.canceled, reason) }
    let limit = MonotonicClock.nanoseconds + configuration.cancellationPatience.inNanoseconds
    stopping = Stopping(reason: reason, limit: limit, request: request)
  }
}
