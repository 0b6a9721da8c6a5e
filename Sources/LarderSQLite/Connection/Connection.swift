import CSQLite
import Glibc
import Synchronization

/// SQLite's handle, and who may use it: what statements and databases share.
///
/// What makes the unsafe pointer sound: it is nil from the moment the handle is closed, and every
/// use first asks ``check()``, which refuses other threads and other processes than the ones that
/// hold the connection.
@usableFromInline
final class Connection {
  /// Nil once closed.
  @exclusivity(unchecked) private(set) var handle: OpaquePointer?
  private var isReporting = false
  let dateFormat: DateFormat
  let reporting: Reporting
  /// Whether the database stores text as UTF-16.
  @exclusivity(unchecked) var isUTF16 = false
  /// Whether the schema has to be read anew, see ``forgetSchema()``.
  @exclusivity(unchecked) var isSchemaStale = false
  /// Whether statements are timed for the trace.
  let measures: Bool
  let interruptHandle: InterruptHandle
  let busyHandler: BusyHandler
  let deadlines = DeadlineHandler()
  let authorizer = AuthorizerHandler()

  /// How many calls of `sqlite3_step` and the like are under way: more than one where a custom
  /// function runs statements, and not none where it tries to close the database.
  @exclusivity(unchecked) @usableFromInline var callDepth = 0

  /// What the scope that uses the connection rules out.
  @exclusivity(unchecked) var restrictions: Restrictions = []
  /// What makes every call throw for now.
  let obstacle = Atomic<Int>(Obstacle.none.rawValue)

  enum Obstacle: Int {
    case none
    /// The task of the running scope was cancelled, on whatever thread.
    case cancellation
    /// A backup is being written into the database.
    case backup
    /// A transaction could not be rolled back, which has to be made up for.
    case rollback
    /// The same, where whoever goes on believes to be in the transaction still.
    case innerRollback
  }

  /// Whether the database is in memory or in a temporary file, where no other connection sees it.
  private let isPrivate: Bool

  /// Whether no other connection can write what this one reads.
  var isAlone: Bool { isPrivate && larder_has_attached(handle) == 0 }

  private let processGeneration = ProcessGeneration.watch()
  /// The thread that may use the connection; the largest number stands for any.
  private let owner = Atomic<UInt>(UInt.max)

  init(
    handle: OpaquePointer, isPrivate: Bool, busyTimeout: Duration, dateFormat: DateFormat,
    reporting: Reporting
  ) {
    self.handle = handle
    self.isPrivate = isPrivate
    self.dateFormat = dateFormat
    self.reporting = reporting
    measures = reporting.trace != nil
    interruptHandle = InterruptHandle(handle)
    busyHandler = BusyHandler(
      timeout: busyTimeout, interrupts: interruptHandle, deadlines: deadlines)
    busyHandler.install(on: handle)
  }

  /// The handle, if it is open and this thread and process may use it.
  @inline(__always)
  func check() throws -> OpaquePointer {
    guard let handle, isAccessible, obstacle.load(ordering: .relaxed) == 0 else {
      return try checkAgain()
    }
    return handle
  }

  /// Makes up for a rollback, if that is what is in the way.
  private func checkAgain() throws -> OpaquePointer {
    guard let handle, isAccessible, owesRollback else { throw accessError() }
    if sqlite3_get_autocommit(handle) == 0 {
      let code = sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
      guard sqlite3_get_autocommit(handle) != 0 else { throw error(code, sql: "ROLLBACK") }
    }
    let former = obstacle.exchange(Obstacle.none.rawValue, ordering: .relaxed)
    guard former != Obstacle.innerRollback.rawValue else {
      throw DatabaseError(.abort, "a savepoint could not be undone, so all was rolled back")
    }
    return handle
  }

  /// Whether a transaction is open only because it could not be rolled back yet.
  var owesRollback: Bool {
    let obstacle = obstacle.load(ordering: .relaxed)
    return obstacle == Obstacle.rollback.rawValue || obstacle == Obstacle.innerRollback.rawValue
  }

  /// Lets nothing be done until the transaction is rolled back.
  func oweRollback(isInner: Bool) {
    let owed: Obstacle = isInner ? .innerRollback : .rollback
    obstacle.store(owed.rawValue, ordering: .relaxed)
  }

  /// The same without an error, for properties that have a neutral value.
  var usableHandle: OpaquePointer? { isAccessible ? handle : nil }

  @inline(__always)
  var isAccessible: Bool {
    Self.isOwn(currentOwner) && processGeneration == ProcessGeneration.current
  }

  /// Gives the connection to this thread, for a scope.
  func takeOver() { owner.store(UInt(pthread_self()), ordering: .relaxed) }

  /// Leaves the connection to nobody until the next scope.
  func leave() { owner.store(0, ordering: .relaxed) }

  /// Whether the connection belongs to scopes rather than to whoever has it.
  var isScoped: Bool { currentOwner != UInt.max }

  /// The thread that may use the connection, for ``isOwn(_:)``.
  @inline(__always)
  var currentOwner: UInt { owner.load(ordering: .relaxed) }

  /// Whether this thread is the one, or any may use the connection. That is all that reading a
  /// value of the current row needs, which touches no file.
  @inlinable @inline(__always)
  static func isOwn(_ owner: UInt) -> Bool {
    owner == UInt.max || owner == UInt(pthread_self())
  }

  /// Whether this process opened the connection.
  var isOfThisProcess: Bool { processGeneration == ProcessGeneration.current }

  private func accessError() -> DatabaseError {
    if !isOfThisProcess {
      return DatabaseError(
        .misuse, "the connection was opened before a fork; open another one in this process")
    }
    if handle == nil { return DatabaseError(.misuse, "database is closed") }
    if isAccessible {
      return obstacle.load(ordering: .relaxed) == Obstacle.backup.rawValue
        ? DatabaseError(.busy, "a backup is being written into the database")
        : DatabaseError(.interrupt, "the task was cancelled")
    }
    return DatabaseError(
      .misuse, "the database is used after its scope, or on another thread than its scope's")
  }

  /// Closes the handle. No statement may be left.
  ///
  /// In a forked process the handle is given up instead: closing would write to the file of a
  /// process that goes on using it.
  func close() {
    interruptHandle.invalidate()
    guard let closing = handle else { return }
    handle = nil
    if isOfThisProcess { sqlite3_close_v2(closing) }
  }

  deinit { close() }

  /// The error for a result code, with what SQLite says of the last call, after telling the log.
  func error(_ code: Int32, sql: String? = nil, statement: OpaquePointer? = nil) -> DatabaseError {
    var extended = ResultCode(rawValue: code)
    let message: String
    var offset: Int?
    if extended == .busy, let reason = busyHandler.takeInterruption() {
      extended = .interrupt
      message = reason
    } else if let handle, sqlite3_errcode(handle) & 0xff == code & 0xff {
      message =
        deadlines.message(for: extended)
        ?? hidingArguments(of: statement, in: String(cString: sqlite3_errmsg(handle)))
      offset = sql == nil ? nil : Int(larder_error_offset(handle))
    } else {
      message = String(cString: sqlite3_errstr(code))
    }
    let constraint = ConstraintViolation(code: extended, message: message) { table, column in
      guard let handle else { return false }
      return sqlite3_table_column_metadata(handle, nil, table, column, nil, nil, nil, nil, nil)
        == SQLITE_OK
    }
    let error = DatabaseError(
      extended, message, sql: sql, offset: offset.flatMap { $0 < 0 ? nil : $0 },
      constraint: constraint,
      expandedSQL: reporting.showsArguments ? Self.expandedSQL(of: statement) : nil)
    report(error)
    return error
  }

  /// Tells the log. What it does with this connection meanwhile isn't told again.
  private func report(_ error: DatabaseError) {
    guard let log = reporting.log, !isReporting else { return }
    whileReporting { log(error) }
  }

  /// Tells the trace. What it does with this connection meanwhile isn't told again.
  func report(_ event: TraceEvent) {
    guard let trace = reporting.trace, !isReporting else { return }
    whileReporting { trace(event) }
  }

  private func whileReporting(_ body: () -> Void) {
    isReporting = true
    callDepth += 1
    body()
    callDepth -= 1
    isReporting = false
  }

  /// The text of a statement with its arguments written out.
  static func expandedSQL(of statement: OpaquePointer?) -> String? {
    guard let statement, let expanded = sqlite3_expanded_sql(statement) else { return nil }
    defer { sqlite3_free(expanded) }
    return String(cString: expanded)
  }
}
