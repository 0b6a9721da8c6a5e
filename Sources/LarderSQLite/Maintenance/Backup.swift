import CSQLite
import Glibc

/// How far a backup has got, in pages.
public struct BackupProgress: Hashable, Sendable {
  /// Pages that are still to be copied.
  public let remainingPages: Int
  /// Pages of the source.
  public let totalPages: Int
}

extension Database {
  /// Copies the database into a file, which may be in use, and replaces what it holds.
  ///
  /// The copy is a snapshot; a file that is in use sees it as one transaction. Whatever goes wrong,
  /// the file stays as it was; once this returns, a loss of power doesn't undo it. See
  /// [Backup](https://www.sqlite.org/backup.html).
  ///
  /// - Parameters:
  ///   - path: the file, created as ``init(path:configuration:)`` does.
  ///   - pagesPerStep: how many pages to copy between two calls of `progress`; below 1 for all.
  ///   - progress: called after each step. What it throws ends the backup and is thrown.
  public func backup(
    to path: String, pagesPerStep: Int = 256, progress: ((BackupProgress) throws -> Void)? = nil
  ) throws {
    _ = try connection.check()
    guard !path.isEmpty, path != ":memory:" else {
      throw DatabaseError(.misuse, "a backup needs the path of a file, and “\(path)” is none")
    }
    var configuration = Configuration()
    configuration.journalMode = nil
    // A journal whose deletion isn't synced would undo the backup when power fails afterwards.
    configuration.synchronous = .extra
    configuration.busyTimeout = busyTimeout
    let isNew = access(path, F_OK) != 0
    do {
      let destination = try Database(path: path, configuration: configuration)
      try backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
      try destination.close()
    } catch {
      if isNew { unlink(path) }
      throw error
    }
  }

  /// Copies the database into another one, and replaces what that holds. It must have no open
  /// transaction, result set or statement.
  public func backup(
    to destination: Database, pagesPerStep: Int = 256,
    progress: ((BackupProgress) throws -> Void)? = nil
  ) throws {
    let source = try connection.check()
    let target = try destination.connection.check()
    guard !destination.isInTransaction, !destination.hasOpenStatements else {
      throw DatabaseError(
        .busy, "the destination has an open transaction, result set or statement")
    }
    guard sqlite3_txn_state(source, "main") != SQLITE_TXN_WRITE else {
      throw DatabaseError(.busy, "the source is in a transaction that writes")
    }
    try matchPageSize(of: destination)
    guard let backup = sqlite3_backup_init(target, "main", source, "main") else {
      throw destination.connection.error(sqlite3_extended_errcode(target))
    }
    connection.callDepth += 1
    destination.connection.callDepth += 1
    destination.connection.obstacle.store(Connection.Obstacle.backup.rawValue, ordering: .relaxed)
    defer {
      destination.connection.obstacle.store(Connection.Obstacle.none.rawValue, ordering: .relaxed)
      connection.callDepth -= 1
      destination.connection.callDepth -= 1
      // The text of another file may be stored in another way.
      destination.noticeEncoding()
    }
    do {
      try copyPages(backup, Int32(clamping: pagesPerStep < 1 ? -1 : pagesPerStep), progress)
    } catch {
      sqlite3_backup_finish(backup)
      throw error
    }
    let code = sqlite3_backup_finish(backup)
    guard code == SQLITE_OK else { throw destination.connection.error(code) }
  }

  private func copyPages(
    _ backup: OpaquePointer, _ pagesPerStep: Int32, _ progress: ((BackupProgress) throws -> Void)?
  ) throws {
    var deadline = MonotonicClock.now + busyTimeout
    while true {
      let code = sqlite3_backup_step(backup, pagesPerStep)
      switch code & 0xff {
      case SQLITE_OK, SQLITE_DONE:
        try progress?(
          BackupProgress(
            remainingPages: Int(sqlite3_backup_remaining(backup)),
            totalPages: Int(sqlite3_backup_pagecount(backup))))
        if code == SQLITE_DONE { return }
        deadline = MonotonicClock.now + busyTimeout
      case SQLITE_BUSY where MonotonicClock.now < deadline,
        SQLITE_LOCKED where MonotonicClock.now < deadline:
        BusyHandler.sleep()
      default:
        throw connection.error(code)
      }
    }
  }

  /// A backup can't change the page size of a destination in memory or with a write-ahead log; but
  /// one in memory can be told before it holds anything, and a file can leave that mode.
  private func matchPageSize(of destination: Database) throws {
    guard let size = try value("PRAGMA page_size", as: Int.self),
      let oldSize = try destination.value("PRAGMA page_size", as: Int.self), size != oldSize
    else { return }
    switch try destination.value("PRAGMA journal_mode", as: String.self) {
    case "wal":
      try destination.executeUpdate("PRAGMA journal_mode = delete")
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
  }

  /// Replaces what the database holds by the content of a file. A file that is missing, or no
  /// database, leaves it untouched.
  public func restore(
    from path: String, pagesPerStep: Int = 256, progress: ((BackupProgress) throws -> Void)? = nil
  ) throws {
    _ = try connection.check()
    var configuration = Configuration()
    configuration.readOnly = true
    configuration.busyTimeout = busyTimeout
    let source = try Database(path: path, configuration: configuration)
    try restore(from: source, pagesPerStep: pagesPerStep, progress: progress)
    try source.close()
  }

  /// Replaces what the database holds by the content of another one.
  public func restore(
    from source: Database, pagesPerStep: Int = 256,
    progress: ((BackupProgress) throws -> Void)? = nil
  ) throws {
    _ = try connection.check()
    try source.backup(to: self, pagesPerStep: pagesPerStep, progress: progress)
  }
}
