import CSQLite

/// Keeps the write-ahead log from restarting while a checkpoint runs: the workaround for SQLite's WAL-reset
/// bug.
///
/// In SQLite 3.7.0 to 3.51.2 a checkpoint reads the header of the log's index first, and then how many frames
/// are in the database file already. If all of them are, a writer may restart the log between the two reads.
/// The checkpoint then takes the old log's number of frames for the new log's, and notes that many as moved;
/// as many frames of later commits never are, and the database is damaged. See
/// [The WAL-reset bug](https://www.sqlite.org/wal.html#walresetbug).
///
/// A read transaction of another connection, begun before the checkpoint and ended after it, rules that out
/// in every version and for writers of every process. It holds one of the log's five read marks as a shared
/// lock:
///
/// - **A mark above 0**, if frames were left to be moved. A writer restarts the log only while it holds all
///   marks above 0 exclusively, so no writer can from before the header is read until the checkpoint has
///   ended.
/// - **Mark 0**, if everything had been moved. The log may then restart during the checkpoint. But a
///   checkpoint moves frames, and notes how many are moved, only while it holds mark 0 exclusively. This one
///   can't, and leaves that number unchanged.
///
/// FULL, RESTART and TRUNCATE hold SQLite's writer lock from before the header is read, without which no log
/// restarts. If they can't get it within the busy timeout, they go on as PASSIVE, in the same call. So for
/// them the busy handler begins the transaction, just before it gives up. (Any earlier, they would wait for
/// the transaction itself.) The checkpoint that SQLite makes when the last connection closes, or leaves the
/// write-ahead log, holds the database file exclusively, and needs no guard.
///
/// Checkpoints of other programs whose SQLite has the bug have no guard.
final class LogRestartGuard {
  private let handle: OpaquePointer

  /// Whether the linked library has the bug.
  static let isNeeded = SQLiteLibrary.hasWALResetBug

  /// Opens a read-only connection to the file that another connection has open. Throws
  /// `ResultCode.readOnlyMoved` if the path leads to another file.
  init(beside connection: Connection, _ owner: OpaquePointer, _ schema: String) throws {
    guard let path = sqlite3_db_filename(owner, schema), !FileLocation.hasMoved(owner, schema)
    else {
      throw FileLocation.movedError(connection.path(of: schema))
    }
    var vfs: UnsafeMutablePointer<sqlite3_vfs>?
    sqlite3_file_control(owner, schema, SQLITE_FCNTL_VFS_POINTER, &vfs)
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, vfs?.pointee.zName)
    guard code == SQLITE_OK, let opened, !FileLocation.hasMoved(owner, schema) else {
      sqlite3_close_v2(opened)
      throw code == SQLITE_OK
        ? FileLocation.movedError(connection.path(of: schema)) : connection.error(code)
    }
    handle = opened
    larder_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try connection.key?.withBytes { _ = larder_key(handle, $0, $1) }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Begins the read transaction; returns SQLite's result code.
  func begin() -> Int32 {
    // BEGIN alone takes no lock. The PRAGMA reads the file's header, not the schema.
    let code = sqlite3_exec(handle, "BEGIN; PRAGMA schema_version", nil, nil, nil)
    if code != SQLITE_OK { end() }
    return code
  }

  func end() {
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }
}
