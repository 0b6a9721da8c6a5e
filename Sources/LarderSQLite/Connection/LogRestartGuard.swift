import CSQLite

/// Keeps the write-ahead log from beginning anew while a checkpoint runs: the way around SQLite's WAL-reset bug.
///
/// In SQLite 3.7.0 to 3.51.2 a checkpoint reads the header of the log's index first, and then how many frames are
/// in the database file already. Where all of them are, a writer may begin the log anew between the two. The
/// checkpoint then takes the old number of frames for that of the new log and notes so many as moved; as many
/// frames of later commits never are, and the database is damaged. See
/// [The WAL-reset bug](https://www.sqlite.org/wal.html#walresetbug).
///
/// A read transaction of another connection, begun before the checkpoint and ended after it, rules that out in
/// every version and for writers of every process. It holds one of the log's five read marks as a shared lock:
///
/// - **A mark above 0**, where frames were left to be moved. A writer begins the log anew only while it holds all
///   marks above 0 exclusively, so that nobody can from before the header is read until the checkpoint has ended.
/// - **Mark 0**, where everything had been moved. The log may then begin anew under the checkpoint. But a checkpoint
///   moves frames, and notes how many are moved, only while it holds mark 0 exclusively. This one can't, and
///   leaves that number as it is.
///
/// FULL, RESTART and TRUNCATE hold SQLite's writer lock from before the header is read, without which no log
/// begins anew. Where they can't have it within the busy timeout they go on as PASSIVE, in the same call. So for
/// them the transaction is begun by the busy handler, just before it gives up. (Before, it would be what they wait
/// for.) The checkpoint that SQLite makes when the last connection closes, or leaves the write-ahead log, holds the
/// database file exclusively, and needs no guard.
///
/// What other programs do with an SQLite that has the bug stays theirs: their checkpoints have no guard.
final class LogRestartGuard {
  private let handle: OpaquePointer

  /// Whether the library that is linked has the bug.
  static let isNeeded = SQLiteLibrary.hasWALResetBug

  /// Opens a connection that only reads to the file of a database that another has open. Throws
  /// `ResultCode.readOnlyMoved` where that isn't what its path leads to.
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
