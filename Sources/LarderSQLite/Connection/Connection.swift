import CSQLite
import Glibc
import Synchronization

/// A connection's handle and the right to use it, which its database and statements share.
///
/// The unsafe pointer is sound: it is nil from the moment the handle is closed, and every use first
/// calls ``check()``, which refuses threads and processes other than the ones that hold the
/// connection.
@usableFromInline
package final class Connection {
  /// SQLite's handle; nil once it is closed, and for another engine.
  @exclusivity(unchecked) package private(set) var handle: OpaquePointer?
  /// The connection of another engine; nil for SQLite.
  let engine: (any EngineConnection)?
  /// True while the closure of the log or the trace runs.
  @exclusivity(unchecked) var isReporting = false
  let dateFormat: DateFormat
  @exclusivity(unchecked) var reporting: Reporting
  /// The effects of another engine's statements that haven't been handled yet.
  @exclusivity(unchecked) var engineEffects: EngineEffects = []
  /// Whether the database stores text as UTF-16.
  @exclusivity(unchecked) var isUTF16 = false
  package var storageFormat: StorageFormat {
    engine == nil
      ? StorageFormat(dateFormat: dateFormat, isUTF16: isUTF16) : .engine(dateFormat)
  }
  /// Whether ``HarmlessFunctions`` has replaced SQLite's functions.
  @exclusivity(unchecked) var hasHarmlessFunctions = false
  /// Whether the functions that are only for statements have been registered.
  @exclusivity(unchecked) var hasOwnFunctions = false
  /// Whether the schema has to be read again; see ``forgetSchema()``.
  @exclusivity(unchecked) var isSchemaStale = false
  /// Whether each statement is timed, for the trace or for the scope's span.
  @exclusivity(unchecked) var measures: Bool { didSet { noteMeasuring() } }
  /// Whether each statement is timed, or all are counted and some timed.
  @exclusivity(unchecked) private(set) var measuresSome: Bool
  /// Whether each statement is timed, also if only for a deadline.
  var measuresEach: Bool { measures || deadlines.limit != nil }
  let interruptHandle: InterruptHandle
  let busyHandler: BusyHandler
  let deadlines = DeadlineHandler()
  package let authorizer = AuthorizerHandler()
  let hooks = ConnectionHooks()
  let knownSchema = KnownSchema()
  /// A number for the last noticed state of the schema, new for each state; see ``KnownSchema``. The lower
  /// half is zero: statements put their table's number there.
  @exclusivity(unchecked) var schemaMark = 1 << 32
  /// The ``schemaMark`` while no other connection can change the schema, so that what is known of it holds
  /// for the next write; zero otherwise.
  @exclusivity(unchecked) var schemaWriteMark = 0

  /// The number of calls of `sqlite3_step` and the like under way. It exceeds one while a custom
  /// function runs statements, and isn't zero when such a function tries to close the database.
  @exclusivity(unchecked) @usableFromInline var callDepth = 0

  /// The restrictions of the scope that uses the connection.
  @exclusivity(unchecked) var restrictions: Restrictions = []
  /// How long the scope that runs has waited for the connection.
  @exclusivity(unchecked) var waited = Duration.zero
  /// Whether the time in COMMIT is measured: for files, whose commits take longer than reading the clock.
  let measuresCommits: Bool
  /// The number of rows that another engine's statements have changed.
  @exclusivity(unchecked) var engineChanges = 0
  /// The number of rows that its last statement changed.
  @exclusivity(unchecked) var lastEngineChanges = 0
  /// A requested restriction that the engine doesn't have. Every call throws until it is taken back.
  private var unsupported: String?
  /// The COMMITs of scopes, if they are measured.
  let commits = TimedWork()
  /// The checkpoints of the connection's main database; nil if nobody asks for them.
  var checkpointWork: TimedWork?
  /// Called with the time of a scope's COMMIT in nanoseconds; nil if nobody asks for it.
  @exclusivity(unchecked) var onTimedCommit: ((Int) -> Void)?
  /// The statements of scopes; nil if nobody asks for their times.
  private var heldTimes: StatementTimes?
  /// An unretained reference to the same.
  @exclusivity(unchecked) private(set) var statementTimes: Unmanaged<StatementTimes>?
  /// Called with the SQL and the time of each statement of a scope's closure; nil if nobody asks for them.
  @exclusivity(unchecked) var onTimedStatement: ((() -> String, Duration) -> Void)?
  /// The label of the scope that uses the connection; nil outside of queues and pools.
  var currentLabel: (() -> String?)?
  /// Where another engine's database is, for errors and the trace.
  var place: String?
  /// The memory of the page cache, the schema and statements in bytes, when somebody has last asked for it.
  let memory = Atomic<Int>(0)
  /// The ``BlockedReasons``, which make every call throw, or do something else first.
  private let blockedReasons = Atomic<Int>(0)

  /// What the running scope has changed; nil for nothing.
  @exclusivity(unchecked) var changedSettings: ChangedSettings?
  /// The number of frames in the log after which a commit checkpoints it; 0 for never.
  @exclusivity(unchecked) var autocheckpoint = 0
  /// Called with the number of frames in the log of the main database after each commit to it, in place of
  /// the automatic checkpoint. False makes that follow all the same.
  var onLogCommit: ((Int) -> Bool)?
  /// The guard of checkpoints, if it stays open between them.
  var restartGuard: LogRestartGuard?
  var keepsRestartGuard = false
  /// The holder of the log, which is asked to make way for checkpoints; nil for a connection of its own.
  package var logHolding: LogHolding?
  /// Called when SQLite could not sync a file.
  var onSyncFailure: (() -> Void)?
  /// Called after a backup was written into the database.
  var onReplacedContent: (() -> Void)?
  /// Called before a connection needs the file for itself. ``givesFileBack`` is called afterwards.
  var takesFile: (() throws -> Void)?
  var givesFileBack: (() -> Void)?
  /// Called before a PRAGMA changes the journal mode, which closes the file of the log.
  var willChangeJournalMode: (() throws -> Void)?
  /// The work that is left after a statement's last step; mostly none.
  @exclusivity(unchecked) var afterSteps: AfterSteps = []
  /// Observes what statements write; nil if nobody does.
  var follower: (any StatementFollower)? { didSet { noteFollowers() } }
  /// Records what statements read, for an observer of that; nil if there is none.
  @exclusivity(unchecked) var recorder: ReadRecorder? { didSet { noteFollowers() } }
  @exclusivity(unchecked) var key: EncryptionKey?
  /// The log that this connection makes, and has to be removed separately once it is closed.
  var leftover: LeftoverLog?
  /// Whether SQLite's preupdate hook is lent; see ``lendingRowHook(_:)``.
  package private(set) var isRowHookLent = false
  /// Whether there is a ``follower`` or a ``recorder``.
  @exclusivity(unchecked) private(set) var isFollowed = false
  /// Called after a statement in which SQLite has begun to commit.
  var onAnnouncedCommit: (() -> Void)?
  /// Whether databases were attached or detached since statements that begin transactions were compiled.
  @exclusivity(unchecked) var hasNewAttachments = false

  /// Whether the database is in memory or in a temporary file, where no other connection sees it.
  private let isPrivate: Bool

  /// Whether no other connection can write what this one reads.
  var isAlone: Bool { isPrivate && larder_has_attached(handle) == 0 }

  private let processGeneration = ProcessGeneration.watch()
  /// The thread that may use the connection; the largest number stands for any.
  private let owner = Atomic<UInt>(UInt.max)

  /// - Parameter engine: the connection of another engine, if there is no handle.
  init(
    _ handle: OpaquePointer?, engine: (any EngineConnection)? = nil, isPrivate: Bool = false,
    busyTimeout: Duration, dateFormat: DateFormat, reporting: Reporting
  ) {
    self.handle = handle
    self.engine = engine
    self.isPrivate = isPrivate
    measuresCommits = !isPrivate
    self.dateFormat = dateFormat
    self.reporting = reporting
    measures = reporting.trace != nil
    measuresSome = measures
    interruptHandle = engine?.interrupts ?? InterruptHandle(handle)
    busyHandler = BusyHandler(
      timeout: busyTimeout, interrupts: interruptHandle, deadlines: deadlines)
    knownSchema.connection = self
    if engine != nil { knownSchema.ignoreAll() }
    guard let handle else { return }
    busyHandler.isCancelled = { [unowned self] in reasons.contains(.cancellation) }
    busyHandler.install(on: handle)
    autocheckpoint = SQLiteLibrary.autocheckpoint
    if !isPrivate { installLogHook(on: handle) }
  }

  /// Calls a closure that takes SQLite's preupdate hook for itself. Feeds report its changes as unknown ones.
  package func lendingRowHook<T>(_ body: () throws -> T) rethrows -> T {
    isRowHookLent = true
    follower?.willLendRowHook()
    defer {
      isRowHookLent = false
      follower?.hasLentRowHook()
    }
    return try body()
  }

  /// Counts the statements from now on, and times some of them.
  func measureStatements(_ times: StatementTimes) {
    heldTimes = times
    statementTimes = .passUnretained(times)
    noteMeasuring()
  }

  private func noteMeasuring() { measuresSome = measures || statementTimes != nil }

  private func noteFollowers() {
    isFollowed = follower != nil || recorder != nil
    if isFollowed { afterSteps.insert(.followed) } else { afterSteps.remove(.followed) }
  }

  var isOpen: Bool { handle != nil || engine?.isOpen == true }

  /// Whether a transaction is open, as the engine says; false when the connection is closed.
  package var hasTransaction: Bool {
    if let handle { return sqlite3_get_autocommit(handle) == 0 }
    return hasTransactionInEngine
  }

  private var hasTransactionInEngine: Bool {
    @inline(never) get { engine?.hasTransaction ?? false }
  }

  /// Throws unless the connection is open, and this thread and process may use it.
  @inline(__always)
  package func check() throws {
    guard _fastPath(handle != nil && isAccessible && blockedReasons.load(ordering: .relaxed) == 0)
    else {
      return try checkAgain()
    }
  }

  /// SQLite's handle, if it is open and this thread and process may use it. Throws ``UnsupportedByEngine``
  /// if the engine is another.
  package func sqlite(_ feature: StaticString = #function) throws -> OpaquePointer {
    try check()
    guard let handle else {
      throw UnsupportedByEngine(engine: engine?.name ?? "", feature: "\(feature)")
    }
    return handle
  }

  /// Throws if something blocks the connection; otherwise does what is owed, a rollback or restoring
  /// settings.
  private func checkAgain() throws {
    guard isOpen, isAccessible, reasons.isDisjoint(with: [.cancellation, .backup, .hook]) else {
      throw accessError()
    }
    if let unsupported {
      throw UnsupportedByEngine(engine: engine?.name ?? "", feature: unsupported)
    }
    if owesRollback {
      if hasTransaction { try rollBack() }
      let isInner = reasons.contains(.innerRollback)
      unblock([.rollback, .innerRollback])
      guard !isInner else {
        throw DatabaseError(.abort, "an error has rolled back the whole transaction")
      }
    }
    if reasons.contains(.measurement) { measureMemory() }
    if reasons.contains(.settings) {
      restoreSettings()
      guard !reasons.contains(.settings) else {
        throw error(sqlite3_extended_errcode(handle))
      }
    }
  }

  /// Notes a restriction that another engine doesn't have; nil takes it back. Going on without it would allow
  /// what it forbids, so every call throws.
  func noteUnsupported(_ feature: String?) {
    guard engine != nil, isAccessible else { return }
    // Makes the scope's end take it back.
    if feature != nil { _ = settingsToRestore }
    unsupported = feature
  }

  private func rollBack() throws {
    guard let handle else {
      try engine?.execute(.rollback, isScopes: false, until: deadlines.next)
      return
    }
    knownSchema.noteEnd(undone: true)
    let code = sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
    guard !hasTransaction else { throw error(code, sql: "ROLLBACK") }
  }

  var reasons: BlockedReasons {
    BlockedReasons(rawValue: blockedReasons.load(ordering: .relaxed))
  }

  func block(_ reasons: BlockedReasons) {
    blockedReasons.bitwiseOr(reasons.rawValue, ordering: .relaxed)
  }

  func unblock(_ reasons: BlockedReasons) {
    blockedReasons.bitwiseAnd(~reasons.rawValue, ordering: .relaxed)
  }

  /// Calls a closure that calls SQLite, which may run any code: the connection can't be closed meanwhile.
  func whileCalling<T>(_ body: () throws -> T) rethrows -> T {
    callDepth += 1
    defer { callDepth -= 1 }
    return try body()
  }

  /// Calls a closure of the program that can't use the connection.
  package func whileBlocked<T>(_ body: () throws -> T) rethrows -> T {
    block(.hook)
    defer { unblock(.hook) }
    return try body()
  }

  /// Throws in a read scope.
  package func checkWritable() throws {
    guard !restrictions.contains(.writing) else {
      throw DatabaseError(.readOnly, "a read scope can't write; use inTransaction")
    }
  }

  /// Throws if the task of the scope was cancelled.
  func checkCancellation() throws {
    if reasons.contains(.cancellation) { throw Self.cancellationError }
  }

  private static var cancellationError: DatabaseError {
    DatabaseError(.interrupt, "the task was cancelled")
  }

  /// The handle, if it is open and this thread and process may use it. For properties with a neutral value.
  var usableHandle: OpaquePointer? { isAccessible ? handle : nil }

  @inline(__always)
  var isAccessible: Bool {
    Self.isOwn(currentOwner) && processGeneration == ProcessGeneration.current
  }

  /// Gives the connection to this thread, for a scope.
  func takeOver() { owner.store(UInt(pthread_self()), ordering: .relaxed) }

  /// Lets no thread use the connection until the next scope.
  func leave() { owner.store(0, ordering: .relaxed) }

  /// Whether the connection belongs to scopes, one at a time, rather than to any thread.
  var isScoped: Bool { currentOwner != UInt.max }

  /// The thread that may use the connection, for ``isOwn(_:)``.
  @inline(__always)
  var currentOwner: UInt { owner.load(ordering: .relaxed) }

  /// Whether this thread is the owner, or any thread may use the connection. Reading a value of the
  /// current row needs no other check, because it touches no file.
  @inlinable @inline(__always)
  static func isOwn(_ owner: UInt) -> Bool {
    owner == UInt.max || owner == UInt(pthread_self())
  }

  /// Throws in a process that was forked from the one that opened the connection.
  @inline(__always)
  func checkProcess() throws {
    if !isOfThisProcess { throw accessError() }
  }

  /// Leaves the log as it is when the connection is closed.
  func keepLogOnClose() {
    if let handle { larder_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
  }

  /// Whether this process opened the connection.
  var isOfThisProcess: Bool { processGeneration == ProcessGeneration.current }

  static var processError: DatabaseError {
    DatabaseError(
      .misuse, "the connection was opened before a fork; open another one in this process")
  }

  private func accessError() -> DatabaseError {
    if !isOfThisProcess { return Self.processError }
    if !isOpen { return engine?.lossError ?? DatabaseError(.misuse, "database is closed") }
    if isAccessible {
      if reasons.contains(.hook) {
        return DatabaseError(.misuse, "a hook can't use the connection that calls it")
      }
      return reasons.contains(.cancellation)
        ? Self.cancellationError
        : DatabaseError(.busy, "a backup is being written into the database")
    }
    return DatabaseError(
      .misuse, "the database was used after its scope ended, or on another thread than its scope's")
  }

  /// Closes the handle. No statement may be left.
  ///
  /// In a forked process the handle is given up instead: closing would write to the file of a
  /// process that goes on using it.
  func close() {
    interruptHandle.invalidate()
    engine?.close()
    guard let closing = handle else { return }
    handle = nil
    restartGuard = nil
    guard isOfThisProcess else { return }
    knownSchema.close()
    if interruptHandle.count > 0 { Self.clearInterrupt(of: closing) }
    sqlite3_close_v2(closing)
  }

  /// Clears an interrupt that came when nothing ran, by running a statement. The interrupt would end
  /// a checkpoint, also the one that SQLite makes when it closes the file, and the log would stay.
  static func clearInterrupt(of handle: OpaquePointer) { _ = text("SELECT 1", on: handle) }

  deinit { close() }
}
