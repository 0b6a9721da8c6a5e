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
  /// Nil once closed, and where the engine is another.
  @exclusivity(unchecked) private(set) var handle: OpaquePointer?
  /// The connection of another engine than SQLite, nil for that.
  let engine: (any EngineConnection)?
  /// Whether the log or the trace is just being told.
  @exclusivity(unchecked) var isReporting = false
  let dateFormat: DateFormat
  @exclusivity(unchecked) var reporting: Reporting
  /// What another engine's statements have done so far that has not been seen to.
  @exclusivity(unchecked) var engineEffects: EngineEffects = []
  /// Whether the database stores text as UTF-16.
  @exclusivity(unchecked) var isUTF16 = false
  var storageFormat: StorageFormat {
    engine == nil
      ? StorageFormat(dateFormat: dateFormat, isUTF16: isUTF16) : .engine(dateFormat)
  }
  /// Whether ``HarmlessFunctions`` has replaced SQLite's.
  @exclusivity(unchecked) var hasHarmlessFunctions = false
  /// Whether the schema has to be read anew, see ``forgetSchema()``.
  @exclusivity(unchecked) var isSchemaStale = false
  /// Whether statements are timed for the trace.
  @exclusivity(unchecked) var measures: Bool
  /// Whether statements are timed, for the trace or for a deadline.
  var isMeasuring: Bool {
    @inline(__always) get { measures || deadlines.limit != nil }
  }
  let interruptHandle: InterruptHandle
  let busyHandler: BusyHandler
  let deadlines = DeadlineHandler()
  let authorizer = AuthorizerHandler()
  let hooks = ConnectionHooks()
  let knownSchema = KnownSchema()
  /// Another one for each state of the schema that was noticed; see ``KnownSchema``. The lower half is zero: there
  /// statements have the numbers of their tables.
  @exclusivity(unchecked) var schemaMark = 1 << 32
  /// The same while no other connection can change the schema, so that what is known of it holds for what is written
  /// next; zero otherwise.
  @exclusivity(unchecked) var schemaWriteMark = 0

  /// How many calls of `sqlite3_step` and the like are under way: more than one where a custom
  /// function runs statements, and not none where it tries to close the database.
  @exclusivity(unchecked) @usableFromInline var callDepth = 0

  /// What the scope that uses the connection rules out.
  @exclusivity(unchecked) var restrictions: Restrictions = []
  /// How long the scope that runs has waited for the connection.
  @exclusivity(unchecked) var waited = Duration.zero
  /// Whether the time in COMMIT is counted: in files, where it is more than asking for the time.
  let measuresCommits: Bool
  /// How many rows another engine's statements have changed.
  @exclusivity(unchecked) var engineChanges = 0
  /// Those of the last statement.
  @exclusivity(unchecked) var lastEngineChanges = 0
  /// What was asked of an engine that it hasn't, and that nothing goes on without.
  private var unsupported: String?
  /// The time spent in COMMIT, in nanoseconds.
  let timeInCommit = Atomic<Int>(0)
  /// That of the last one.
  @exclusivity(unchecked) var lastTimeInCommit = 0
  /// What makes every call throw, or do something else first.
  private let blockedReasons = Atomic<Int>(0)

  /// What the scope that runs has changed of the settings; nil for nothing.
  @exclusivity(unchecked) var changedSettings: ChangedSettings?
  /// After how many frames of the log a commit moves it into the file; 0 for never.
  @exclusivity(unchecked) var autocheckpoint = 0
  /// Called with the number of frames in the log of the main database after each commit to it, in place of
  /// the automatic checkpoint. False where that is to follow all the same.
  var onLogCommit: ((Int) -> Bool)?
  /// The guard of checkpoints, where it stays open between them.
  var restartGuard: LogRestartGuard?
  /// Whether it does.
  var keepsRestartGuard = false
  /// Called when SQLite could not sync a file.
  var onSyncFailure: (() -> Void)?
  /// Called after a backup was written into the database.
  var onReplacedContent: (() -> Void)?
  /// Called before a connection needs the file for itself, and then once it doesn't any more.
  var takesFile: (() throws -> Void)?
  var givesFileBack: (() -> Void)?
  /// Called before a PRAGMA changes the journal mode, which closes the file of the log.
  var willChangeJournalMode: (() throws -> Void)?
  /// What has to be done after a statement's last step; mostly nothing.
  @exclusivity(unchecked) var afterSteps: AfterSteps = []
  /// Observes what statements write; nil where nobody does.
  var follower: (any StatementFollower)? { didSet { noteFollowers() } }
  /// Records what statements read, for one who observes that; nil where nobody does.
  @exclusivity(unchecked) var recorder: ReadRecorder? { didSet { noteFollowers() } }
  /// The key of the file, nil for none.
  @exclusivity(unchecked) var key: EncryptionKey?
  /// The log that this connection makes and can't remove by itself.
  var leftover: LeftoverLog?
  /// Whether a changeset is being recorded.
  var isRecordingChanges = false
  /// Whether there is one of these.
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

  init(
    handle: OpaquePointer, isPrivate: Bool, busyTimeout: Duration, dateFormat: DateFormat,
    reporting: Reporting
  ) {
    self.handle = handle
    engine = nil
    self.isPrivate = isPrivate
    measuresCommits = !isPrivate
    self.dateFormat = dateFormat
    self.reporting = reporting
    measures = reporting.trace != nil
    interruptHandle = InterruptHandle(handle)
    busyHandler = BusyHandler(
      timeout: busyTimeout, interrupts: interruptHandle, deadlines: deadlines)
    knownSchema.connection = self
    busyHandler.isCancelled = { [unowned self] in reasons.contains(.cancellation) }
    busyHandler.install(on: handle)
    autocheckpoint = Self.text("PRAGMA wal_autocheckpoint", on: handle).flatMap { Int($0) } ?? 1000
    if !isPrivate { installLogHook(on: handle) }
  }

  /// With another engine.
  init(
    engine: any EngineConnection, busyTimeout: Duration, dateFormat: DateFormat,
    reporting: Reporting
  ) {
    self.engine = engine
    isPrivate = false
    measuresCommits = true
    self.dateFormat = dateFormat
    self.reporting = reporting
    measures = reporting.trace != nil
    interruptHandle = engine.interrupts
    busyHandler = BusyHandler(
      timeout: busyTimeout, interrupts: interruptHandle, deadlines: deadlines)
    knownSchema.connection = self
    knownSchema.ignoreAll()
  }

  private func noteFollowers() {
    isFollowed = follower != nil || recorder != nil
    if isFollowed { afterSteps.insert(.followed) } else { afterSteps.remove(.followed) }
  }

  /// Whether it hasn't been closed.
  var isOpen: Bool { handle != nil || engine?.isOpen == true }

  /// Whether a transaction is open, as the engine says; false when the connection is closed.
  var hasTransaction: Bool {
    if let handle { return sqlite3_get_autocommit(handle) == 0 }
    return engine?.hasTransaction ?? false
  }

  /// Throws unless the connection is open, and this thread and process may use it.
  @inline(__always)
  func check() throws {
    guard handle != nil, isAccessible, blockedReasons.load(ordering: .relaxed) == 0 else {
      return try checkAgain()
    }
  }

  /// SQLite's handle, if it is open and this thread and process may use it. Throws ``UnsupportedByEngine``
  /// where the engine is another.
  func sqlite(_ feature: StaticString = #function) throws -> OpaquePointer {
    try check()
    guard let handle else {
      throw UnsupportedByEngine(engine: engine?.name ?? "", feature: "\(feature)")
    }
    return handle
  }

  /// Makes up for what is owed, if nothing else is in the way.
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
        throw DatabaseError(.abort, "an error has made all be rolled back")
      }
    }
    if reasons.contains(.settings) {
      restoreSettings()
      guard !reasons.contains(.settings) else {
        throw error(sqlite3_extended_errcode(handle))
      }
    }
  }

  /// Notes a restriction that another engine hasn't, or that it is taken back. To go on without would be to
  /// allow what it forbids.
  func noteUnsupported(_ feature: String?) {
    guard engine != nil, isAccessible else { return }
    // So that it is taken back at the scope's end.
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

  /// What is in the way now.
  var reasons: BlockedReasons {
    BlockedReasons(rawValue: blockedReasons.load(ordering: .relaxed))
  }

  /// Adds to what is in the way.
  func block(_ reasons: BlockedReasons) {
    blockedReasons.bitwiseOr(reasons.rawValue, ordering: .relaxed)
  }

  /// Takes something out of the way, and leaves the rest.
  func unblock(_ reasons: BlockedReasons) {
    blockedReasons.bitwiseAnd(~reasons.rawValue, ordering: .relaxed)
  }

  /// Throws if the task of the scope was cancelled.
  func checkCancellation() throws {
    if reasons.contains(.cancellation) { throw Self.cancellationError }
  }

  private static var cancellationError: DatabaseError {
    DatabaseError(.interrupt, "the task was cancelled")
  }

  /// The handle, if it is open and this thread and process may use it: for properties that have a neutral value.
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

  /// Adds to the time spent in COMMIT, in the scope that runs.
  func addTimeInCommit(_ nanoseconds: Int) {
    lastTimeInCommit = nanoseconds
    timeInCommit.store(
      timeInCommit.load(ordering: .relaxed) &+ nanoseconds, ordering: .relaxed)
  }

  /// That time, which begins anew.
  func takeTimeInCommit() -> Int { timeInCommit.exchange(0, ordering: .relaxed) }

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
      .misuse, "the database is used after its scope, or on another thread than its scope's")
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
    Self.clearInterrupt(of: closing)
    sqlite3_close_v2(closing)
  }

  /// Takes an interrupt away that came when nothing ran, as the next statement does: it would end a
  /// checkpoint, also the one that SQLite makes when it closes the file, and the log would stay.
  static func clearInterrupt(of handle: OpaquePointer) { _ = text("SELECT 1", on: handle) }

  deinit { close() }
}
