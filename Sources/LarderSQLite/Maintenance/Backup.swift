import CSQLite
import Glibc

// Online backups, and restoring.

extension Database {
  /// Copies the database into a file, which may be in use, and replaces what it holds.
  ///
  /// The copy is a snapshot, which writers beside it don't change. With a write-ahead log they go on
  /// meanwhile; without one they wait until it is done. A file that is in use sees the copy as one
  /// transaction. A new file is made beside its path under another name, which a killed process leaves
  /// behind; it gets its own when it is complete. After a failure the file is as it was, or isn't made; once
  /// this returns, a loss of power doesn't undo it. See [Backup](https://www.sqlite.org/backup.html).
  ///
  /// Throws `ResultCode.cannotOpen` if the file is gone but its log (`-wal`) or journal is still there: SQLite
  /// would replay it over the new file. It may hold commits that are nowhere else. Put it away first.
  public func backup(
    to path: String, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    _ = try connection.sqlite()
    try NewFile.checkPath(path)
    func copy(into path: String) throws {
      var configuration = Configuration()
      configuration.journalMode = nil
      configuration.key = connection.key
      // A journal whose deletion isn't synced would undo the backup when power fails afterwards.
      configuration.synchronous = .extra
      // All waiting is done here, since this connection's task may be cancelled while the other connection
      // waits.
      configuration.busyTimeout = .zero
      let destination = try BackupWait(self).whileBusy {
        try Database(path: path, configuration: configuration)
      }
      defer { destination.closeEverything() }
      try backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
      try destination.close()
    }
    guard try !isOwnFile(path) else {
      throw DatabaseError(.misuse, "a database can't be backed up into its own file")
    }
    if access(path, F_OK) != 0 {
      let file = NewFile(at: NewFile.end(ofLinksFrom: path))
      defer { file.discard() }
      try file.make(copy(into:))
      if try file.publish() { return }
      // Somebody else has made the file meanwhile, and may use it.
    }
    try copy(into: path)
  }

  /// Whether a path leads to the database's own file.
  private func isOwnFile(_ path: String) throws -> Bool {
    guard let own = sqlite3_db_filename(try connection.sqlite(), "main"),
      let file = FileLocation.Identity(ofFileAt: own)
    else { return false }
    return file == FileLocation.Identity(ofFileAt: path)
  }

  /// Copies the database into another one, and replaces that one's content. The destination must have no open
  /// transaction, result set or statement.
  ///
  /// The source is read in one transaction, and the backup ends early in the same ways as the variant for a
  /// file. Throws `ResultCode.busy` also for a destination in use, and for a source in a transaction that
  /// writes; `ResultCode.mismatch` if a destination in memory has pages of another size.
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
      throw DatabaseError(.busy, "the source is in a write transaction")
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
        // The new content may have another text encoding.
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
      // SQLite calls the WAL hook when a statement ends.
      sqlite3_exec(target, "SELECT 1", nil, nil, nil)
      destination.connection.knownSchema.mayChange()
      destination.connection.follower?.hasReplacedContent()
      destination.connection.onReplacedContent?()
    }
  }

  /// Calls a closure while this connection has a snapshot of the database as it is now. BEGIN takes none, but
  /// the first read does. Without a snapshot, a backup begins anew whenever somebody commits.
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
        // Committed, since a rollback would end open result sets.
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
    // All pages in one step couldn't be cancelled.
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

  /// Restores WAL mode, which a file had to leave for a backup. Throws if it can't: a service that counts on
  /// the log would otherwise go on without it and not know.
  private func setJournalModeAgain(_ mode: Configuration.JournalMode?) throws {
    guard let mode else { return }
    defer { connection.givesFileBack?() }
    let found = try value(SQL(raw: "PRAGMA journal_mode = \(mode.rawValue)"), as: String.self)
    guard found == mode.rawValue else {
      throw DatabaseError(
        .busy,
        "the content was replaced, but the journal mode is now \(found ?? "unknown"), not \(mode.rawValue)"
      )
    }
    // This read opens the log in normal locking mode.
    _ = try value("PRAGMA schema_version", as: Int.self)
    _ = connection.setSynchronous(ownSynchronous)
  }

  /// Gives the destination the source's page size if a backup can't, which is so in memory or with a
  /// write-ahead log. A database in memory can change the size while it is empty, and a file can leave WAL
  /// mode. Returns the mode that it has left.
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
            .busy, "the page size can only change while no other connection has the file open")
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
        "the source's page size is \(size) bytes, but the database in memory can't change its \(oldSize)"
      )
    default:
      break
    }
    return nil
  }

  /// Replaces the database's content by that of a file. Throws as ``init(path:configuration:)`` and
  /// `backup(to:pagesPerStep:progress:)` do; then the database stays as it was. It isn't touched if the file
  /// is missing, is no database, or is another program's (``Configuration/applicationID``).
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

  /// Replaces the database's content by that of another database. Throws as the other one's backup does, and
  /// `ResultCode.mismatch` if the other one is another program's (``Configuration/applicationID``).
  public func restore(
    from source: Database, pagesPerStep: Int = 256,
    progress: ((_ remainingPages: Int, _ totalPages: Int) throws -> Void)? = nil
  ) throws {
    _ = try connection.sqlite()
    if let expected = configuration.applicationID {
      let found = try source.applicationID
      guard found == expected else { throw Self.foreignError(found, expected) }
    }
    try source.backup(to: self, pagesPerStep: pagesPerStep, progress: progress)
  }
}
