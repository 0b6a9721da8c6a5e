import CSQLite
import Glibc
import Synchronization

/// The mode of a checkpoint: what it waits for. See
/// [Checkpoints](https://www.sqlite.org/c3ref/wal_checkpoint_v2.html).
public enum CheckpointMode: Int32, Hashable, Sendable {
  /// Moves what can be moved without waiting for anybody.
  case passive
  /// Waits for writers, and for readers to reach the end of the log.
  case full
  /// Like full, then waits until nobody reads from the log, so that the next writer begins anew.
  case restart
  /// Like restart, and truncates the log to zero bytes.
  case truncate
}

extension Database {
  /// Moves the write-ahead log into the database file, and those of attached databases into theirs.
  ///
  /// Returns the number of frames in the log, and how many of them are in the file now; both are -1 if there
  /// is no write-ahead log. Throws `ResultCode.busy` if it would have to wait longer than the busy timeout,
  /// `ResultCode.locked` inside of a transaction, and `ResultCode.readOnlyMoved` if the file was moved away
  /// or replaced.
  ///
  /// It isn't affected by the [WAL-reset bug](https://www.sqlite.org/wal.html#walresetbug) of SQLite before
  /// 3.51.3. Nor are `PRAGMA wal_checkpoint` and automatic checkpoints on Larder's connections. See
  /// ``SQLiteLibrary/hasWALResetBug``.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode = .passive
  ) throws -> (logFrames: Int, checkpointed: Int) {
    _ = try connection.sqlite()
    let outcome =
      try checkpoints?.withLock { _ in try connection.checkpoint(mode) }
      ?? connection.checkpoint(mode)
    guard !outcome.isBusy else { throw connection.error(SQLITE_BUSY) }
    return (outcome.logFrames, outcome.checkpointed)
  }
}

/// The outcome of a checkpoint.
struct CheckpointOutcome {
  /// Whether a lock was in the way.
  var isBusy = false
  /// The number of frames in the log, and of those that are in the file. Both are -1 without a write-ahead
  /// log.
  var logFrames = -1
  var checkpointed = -1
}

extension Connection {
  /// Installs Larder's own WAL hook, which makes the automatic checkpoints. SQLite's hook, which it replaces,
  /// isn't guarded against the WAL-reset bug.
  ///
  /// SQLite keeps an unretained pointer to this object, which closes the handle before it goes.
  func installLogHook(on handle: OpaquePointer) {
    sqlite3_wal_hook(
      handle,
      { context, _, name, frames in
        guard let context, let name else { return SQLITE_OK }
        Unmanaged<Connection>.fromOpaque(context)._withUnsafeGuaranteedRef {
          $0.hasCommitted(to: name, frames: Int(frames))
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func hasCommitted(to name: UnsafePointer<CChar>, frames: Int) {
    if larder_is_main(name), onLogCommit?(frames) == true { return }
    guard autocheckpoint > 0, frames >= autocheckpoint, let handle else { return }
    // A failed checkpoint is retried by a later commit, as with SQLite's own hook.
    let outcome = run(.passive, of: String(cString: name), on: handle)
    // The log is told of the failure, such as that of a disk, which no caller gets.
    if outcome.code != SQLITE_OK, outcome.code & 0xff != SQLITE_BUSY { _ = error(outcome.code) }
  }

  /// Checkpoints one database, or all that are attached. Returns the figures of the first.
  func checkpoint(_ mode: CheckpointMode, of schema: String? = nil) throws -> CheckpointOutcome {
    let handle = try sqlite()
    Self.clearInterrupt(of: handle)
    let holder = logHolding?.withLock { $0 }
    holder?.moveMark()
    defer { holder?.moveMark() }
    if holder != nil, mode != .passive {
      // Moves everything, so that the holder's next mark is one that these modes needn't wait for.
      _ = run(.passive, of: schema ?? "main", on: handle)
      holder?.moveMark()
    }
    var outcome = CheckpointOutcome()
    for (index, name) in (schema.map { [$0] } ?? Self.databaseNames(of: handle)).enumerated() {
      let (code, logFrames, checkpointed) = run(mode, of: name, on: handle)
      if index == 0 { (outcome.logFrames, outcome.checkpointed) = (logFrames, checkpointed) }
      // The logs of the other databases may still be moved.
      if code & 0xff == SQLITE_BUSY {
        outcome.isBusy = true
      } else if code != SQLITE_OK {
        throw ResultCode(rawValue: code) == .readOnlyMoved
          ? FileLocation.movedError(path(of: name)) : error(code)
      }
    }
    return outcome
  }

  /// Makes the checkpoint of a `PRAGMA wal_checkpoint`. Returns a SELECT of the row that the pragma would
  /// return.
  func report(of pragma: Pragma) throws -> String {
    let modes: [String: CheckpointMode] = [
      "full": .full, "restart": .restart, "truncate": .truncate,
    ]
    // The argument includes a closing parenthesis.
    let argument = pragma.argument?.prefix { $0 != ")" }.lowercased()
    let mode = argument.flatMap { modes[$0] } ?? .passive
    let outcome = try checkpoint(mode, of: pragma.schemaName)
    return """
      SELECT \(outcome.isBusy ? 1 : 0) AS busy, \(outcome.logFrames) AS log, \
      \(outcome.checkpointed) AS checkpointed
      """
  }

  /// Runs a checkpoint, under a ``LogRestartGuard`` if the library needs one.
  private func run(
    _ mode: CheckpointMode, of schema: String, on handle: OpaquePointer
  ) -> (code: Int32, logFrames: Int, checkpointed: Int) {
    var (logFrames, checkpointed): (Int32, Int32) = (-1, -1)
    func run() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, schema, mode.rawValue, &logFrames, &checkpointed)
    }
    let work = schema == "main" ? checkpointWork : nil
    work?.begin(at: MonotonicClock.nanoseconds)
    let code = guardingRestart(mode, of: schema, on: handle, run)
    // SQLite reports -1 if it didn't come to look at the log.
    if logFrames >= 0 {
      work?.left.store(max(0, Int(logFrames) - Int(checkpointed)), ordering: .relaxed)
    }
    work?.end(at: MonotonicClock.nanoseconds)
    return (code, Int(logFrames), Int(checkpointed))
  }

  private func guardingRestart(
    _ mode: CheckpointMode, of schema: String, on handle: OpaquePointer, _ run: () -> Int32
  ) -> Int32 {
    guard LogRestartGuard.isNeeded, isShared(schema, on: handle) else { return run() }
    let guarding: LogRestartGuard
    do {
      guarding = try restartGuard ?? LogRestartGuard(beside: self, handle, schema)
    } catch {
      return (error as? DatabaseError)?.extendedCode.rawValue ?? SQLITE_CANTOPEN
    }
    if schema == "main", keepsRestartGuard || key != nil { restartGuard = guarding }
    defer { guarding.end() }
    guard mode != .passive else {
      let code = guarding.begin()
      return code == SQLITE_OK ? run() : code
    }
    busyHandler.willGiveUp = { [unowned handler = busyHandler] in
      // The handler goes on waiting while there is no guard: a resource that is short, such as memory, may
      // come back.
      let isGuarded = guarding.begin() == SQLITE_OK
      if isGuarded { handler.willGiveUp = nil }
      return isGuarded
    }
    defer { busyHandler.willGiveUp = nil }
    return run()
  }

  /// Whether other connections may write to the log of a database while this one makes a checkpoint.
  private func isShared(_ schema: String, on handle: OpaquePointer) -> Bool {
    guard FileLocation.path(of: handle, schema) != nil, sqlite3_db_readonly(handle, schema) == 0
    else { return false }
    return withoutAuthorizer { handle in
      let name = schema.quotedIdentifier
      // In a transaction, and without a log, SQLite's own answer is right.
      return sqlite3_get_autocommit(handle) != 0
        && Self.text("PRAGMA \(name).journal_mode", on: handle) == "wal"
        && Self.text("PRAGMA \(name).locking_mode", on: handle) == "normal"
    } ?? false
  }

  /// The names of a connection's databases: main and those that are attached. A temporary one has no log.
  private static func databaseNames(of handle: OpaquePointer) -> [String] {
    let statement = OwnStatement("PRAGMA database_list", on: handle)
    guard statement.code == SQLITE_OK else { return ["main"] }
    var names: [String] = []
    while statement.next() {
      if let name = statement[1], name != "temp" { names.append(name) }
    }
    return names
  }

  /// The path of a database's file, for errors.
  func path(of schema: String) -> String {
    handle.flatMap { sqlite3_db_filename($0, schema) }.map { String(cString: $0) } ?? schema
  }
}
