import CSQLite
import Glibc

/// The write-ahead log, and its index, that reading a file from elsewhere creates if its journal mode
/// is WAL. Only a connection that may write removes them. A file that had none is left without.
struct LeftoverLog {
  private let path: String
  private let vfs: String?
  private let key: EncryptionKey?

  /// Nil if there is no file, or a log was there before. Made before anything is read, because newer SQLite
  /// (seen in 3.53) reads the file for a statement without a table, too.
  init?(of handle: OpaquePointer, vfs: String?, key: EncryptionKey?) {
    guard let path = FileLocation.path(of: handle) else { return nil }
    self.path = path
    self.vfs = vfs
    self.key = key
    guard access(path + "-wal", F_OK) != 0, access(path + "-shm", F_OK) != 0 else { return nil }
  }

  /// Makes SQLite remove both: a connection that may write does so when it is the last one to close.
  /// It leaves the file as it is, because the log is empty.
  func remove() {
    guard access(path + "-wal", F_OK) == 0 || access(path + "-shm", F_OK) == 0 else { return }
    var handle: OpaquePointer?
    if sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs) == SQLITE_OK
    {
      _ = try? key?.withBytes { larder_key(handle, $0, $1) }
      // This PRAGMA reads the header, not the schema.
      sqlite3_exec(handle, "PRAGMA schema_version", nil, nil, nil)
    }
    sqlite3_close_v2(handle)
  }
}
