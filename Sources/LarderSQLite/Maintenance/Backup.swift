import CSQLite
import Glibc

// Online backups, and restoring.

extension Database {
  /// Copies the database into a file, which may be in use, and replaces what it holds.
  ///
  /// The copy is a snapshot, which writers beside it don't change or hold up: those in write-ahead mode
  /// go on, others wait until it is done. A file that is in use sees it as one transaction; one that
  /// isn't there yet appears when it is complete (made beside it under another name, which a process
  /// that is killed leaves behind). Whatever goes wrong, the file stays as it was, or isn't made; once
  /// this returns, a loss of power doesn't undo it. See [Backup](https://www.sqlite.org/backup.html).
  ///
  /// - Parameters:
  ///   - path: the file, created as ``init(path:configuration:)`` does.
  ///   - pagesPerStep: how many pages to copy between two calls of `progress`; below 1 for all.
  ///   - progress: called after each step with the number of pages that are still to be copied, and of
  ///     all. What it throws ends the backup and is thrown. It can't
  ///     write to this database, unless that is in memory.
  ///
  /// Throws `ResultCode.busy` where a lock can't be had within the busy timeout, and
  /// `ResultCode.interrupt` where it was interrupted, or its task cancelled, between two steps.
  public func backup(
    to path: String, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    _ = try connection.sqlite()
    guard !path.isEmpty, path != ":memory:", !path.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a backup needs the path of a file, and “\(path)” is none")
    }
    func copy(into path: String) throws {
      var configuration = Configuration()
      configuration.journalMode = nil
      configuration.key = connection.key
      // A journal whose deletion isn't synced would undo the backup when power fails afterwards.
      configuration.synchronous = .extra
      // This connection's task may be cancelled while the other waits: so all waiting is done here.
      configuration.busyTimeout = .zero
      let destination = try BackupWait(self).whileBusy {
        try Database(path: path, configuration: configuration)
      }
      defer { destination.closeEverything() }
      try backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
      try destination.close()
    }
    guard try !isOwnFile(path) else {
      throw DatabaseError(.misuse, "a backup into the database's own file would be none")
    }
    if access(path, F_OK) != 0 {
      let file = NewFile(at: NewFile.end(ofLinksFrom: path))
      defer { file.discard() }
      try file.make(copy(into:))
      if try file.publish() { return }
      // Somebody else has made one meanwhile, and may use it.
    }
    try copy(into: path)
  }

  /// Whether a path leads to the database's own file.
  private func isOwnFile(_ path: String) throws -> Bool {
    guard let own = sqlite3_db_filename(try connection.sqlite(), "main") else { return false }
    var (ownFile, file) = (stat(), stat())
    return stat(own, &ownFile) == 0 && stat(path, &file) == 0
      && ownFile.st_dev == file.st_dev && ownFile.st_ino == file.st_ino
  }

  /// Copies the database into another one, and replaces what that holds. It must have no open
  /// transaction, result set or statement.
  ///
  /// The source is read in one transaction, and the backup ends early, as the form for a file says. Throws
  /// `ResultCode.busy` also for a destination in use, and a source in a transaction that writes;
  /// `ResultCode.mismatch` where one in memory keeps pages of another size.
  public func backup(
    to destination: Database, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    let source = try connection.sqlite()
    let target = try destination.connection.sqlite()
    guard !destination.isInTransaction, !destination.hasOpenStatements else {
      throw DatabaseError(
        .busy, "the destination has an open transaction, result set or statement")
    }
    guard sqlite3_txn_state(source, "main") != SQLITE_TXN_WRITE else {
      throw DatabaseError(.busy, "the source is in a transaction that writes")
    }
    var wait = BackupWait(self, destination)
    defer { wait.end() }
    let journalMode = try wait.whileBusy { try matchPageSize(of: destination) }
    do {
      try copySnapshot(source, into: destination, target, pagesPerStep, &wait, progress)
    } catch {
      try? destination.setJournalModeAgain(journalMode)
      throw error
    }
    try destination.setJournalModeAgain(journalMode)
  }

  private func copySnapshot(
    _ source: OpaquePointer, into destination: Database, _ target: OpaquePointer,
    _ pagesPerStep: Int, _ wait: inout BackupWait,
    _ progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)?
  ) throws {
    try withSnapshot(wait) {
      guard let backup = sqlite3_backup_init(target, "main", source, "main") else {
        throw destination.connection.error(sqlite3_extended_errcode(target))
      }
      connection.callDepth += 1
      destination.connection.callDepth += 1
      destination.connection.block(.backup)
      defer {
        destination.connection.unblock(.backup)
        connection.callDepth -= 1
        destination.connection.callDepth -= 1
        // The text of another file may be stored in another way.
        destination.noticeEncoding()
      }
      do {
        try copyPages(backup, pagesPerStep, &wait, progress)
      } catch {
        sqlite3_backup_finish(backup)
        throw error
      }
      let code = sqlite3_backup_finish(backup)
      guard code == SQLITE_OK else { throw destination.connection.error(code) }
      // What is told of commits is told when a statement ends.
      sqlite3_exec(target, "SELECT 1", nil, nil, nil)
      destination.connection.knownSchema.mayChange()
      destination.connection.follower?.hasReplacedContent()
      destination.connection.onReplacedContent?()
    }
  }

  /// Calls a closure while this connection sees the database as it is now. BEGIN takes no snapshot; what
  /// reads first does, and without one a backup begins anew whenever somebody commits.
  private func withSnapshot(_ wait: BackupWait, _ body: () throws -> Void) throws {
    func takeSnapshot() throws {
      try wait.whileBusy { _ = try value("SELECT 1 FROM sqlite_schema LIMIT 1", as: Int.self) }
    }
    guard !connection.isAlone else { return try body() }
    guard !hasTransaction else {
      try takeSnapshot()
      return try body()
    }
    let restrictions = connection.restrictions
    try prepareToEnd()
    try execute(.beginDeferred)
    connection.restrictions.formUnion([.writing, .transactionControl])
    defer {
      connection.restrictions = restrictions
      ensureUndone {
        // Not rolled back, which would end result sets that are open.
        do { try execute(.commit) } catch { try execute(.rollback) }
      }
    }
    try takeSnapshot()
    try body()
  }

  private func copyPages(
    _ backup: OpaquePointer, _ pagesPerStep: Int, _ wait: inout BackupWait,
    _ progress: ((Int, Int) throws -> Void)?
  ) throws {
    // A long step couldn't be cancelled.
    let pages = pagesPerStep < 1 ? 1024 : Int32(clamping: pagesPerStep)
    while true {
      let code = sqlite3_backup_step(backup, pages)
      switch code & 0xff {
      case SQLITE_OK, SQLITE_DONE:
        if pagesPerStep > 0 || code == SQLITE_DONE {
          try progress?(
            Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
        }
        if code == SQLITE_DONE { return }
        wait.begin()
        try wait.check()
      case SQLITE_BUSY where !wait.isOver, SQLITE_LOCKED where !wait.isOver:
        try wait.pause()
      default:
        throw connection.error(code)
      }
    }
  }

  /// Has the write-ahead log again that a file had to leave for a backup. Throws where it can't: a service that counts
  /// on it would go on without, and be told nothing.
  private func setJournalModeAgain(_ mode: Configuration.JournalMode?) throws {
    guard let mode else { return }
    defer { connection.givesFileBack?() }
    let found = try value(SQL(raw: "PRAGMA journal_mode = \(mode.rawValue)"), as: String.self)
    guard found == mode.rawValue else {
      throw DatabaseError(
        .busy,
        "the content was replaced, and the journal mode is now \(found ?? "none"), not \(mode.rawValue)"
      )
    }
    // Now the log is read in normal locking mode.
    _ = try value("PRAGMA schema_version", as: Int.self)
    _ = connection.setSynchronous(ownSynchronous)
  }

  /// A backup can't change the page size of a destination in memory or with a write-ahead log; but
  /// one in memory can be told before it holds anything, and a file can leave that mode. Returns the mode that it has
  /// left.
  private func matchPageSize(of destination: Database) throws -> Configuration.JournalMode? {
    let (size, oldSize) = (try pageSize, try destination.pageSize)
    guard size != oldSize else { return nil }
    switch try destination.value("PRAGMA journal_mode", as: String.self) {
    case "wal":
      try destination.connection.takesFile?()
      do {
        let mode = try destination.value("PRAGMA journal_mode = delete", as: String.self)
        guard mode == "delete" else {
          throw DatabaseError(
            .busy, "pages of another size take the file for oneself, and others have it open")
        }
      } catch {
        destination.connection.givesFileBack?()
        throw error
      }
      _ = destination.connection.setSynchronous(destination.ownSynchronous)
      return .wal
    case "memory" where try destination.value("PRAGMA page_count", as: Int.self) == 0:
      try destination.executeUpdate(SQL(raw: "PRAGMA page_size = \(size)"))
      try destination.executeUpdate("VACUUM")
    case "memory":
      throw DatabaseError(
        .mismatch,
        "the source has pages of \(size) bytes, and the database in memory keeps its \(oldSize)")
    default:
      break
    }
    return nil
  }

  /// Replaces what the database holds by the content of a file. Throws as ``init(path:configuration:)`` and
  /// `backup(to:pagesPerStep:progress:)` do; then the database stays as it was, and it isn't touched
  /// where the file is missing, no database, or another program's (``Configuration/expectedApplicationID``).
  public func restore(
    from path: String, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    _ = try connection.sqlite()
    var configuration = Configuration()
    configuration.readOnly = true
    configuration.busyTimeout = .zero
    configuration.key = connection.key
    let source = try BackupWait(self).whileBusy {
      try Database(path: path, configuration: configuration)
    }
    try restore(from: source, pagesPerStep: pagesPerStep, progress: progress)
    try source.close()
  }

  /// Replaces what the database holds by the content of another one. Throws as that one's backup does, and
  /// `ResultCode.mismatch` where that is another program's (``Configuration/expectedApplicationID``).
  public func restore(
    from source: Database, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    _ = try connection.sqlite()
    if let expected = configuration.expectedApplicationID {
      let found = try source.applicationID
      guard found == expected else { throw Self.foreignError(found, expected) }
    }
    try source.backup(to: self, pagesPerStep: pagesPerStep, progress: progress)
  }
}
