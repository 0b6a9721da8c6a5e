import CSQLite

/// How a checkpoint waits; see [Checkpoints](https://www.sqlite.org/c3ref/wal_checkpoint_v2.html).
public enum CheckpointMode: Int32, Hashable, Sendable {
  /// Moves what can be moved without waiting for anybody.
  case passive
  /// Waits for writers, and for readers to reach the end of the log.
  case full
  /// Like full, then waits until nobody reads from the log, so that the next writer begins anew.
  case restart
  /// Like restart, and cuts the log to nothing.
  case truncate
}

extension Database {
  /// Moves the write-ahead log into the database file.
  ///
  /// Returns the number of frames in the log, and how many of them are in the file now; both are -1
  /// where there is no write-ahead log. Throws `ResultCode.busy` where it would have to wait
  /// longer than the busy timeout, and `ResultCode.locked` inside of a transaction.
  @discardableResult
  public func checkpoint(
    _ mode: CheckpointMode = .passive
  ) throws -> (logFrames: Int, checkpointed: Int) {
    let handle = try connection.sqlite()
    var logFrames: Int32 = -1
    var checkpointed: Int32 = -1
    Connection.clearInterrupt(of: handle)
    func run() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, nil, mode.rawValue, &logFrames, &checkpointed)
    }
    let code = checkpoints?.withLock { _ in run() } ?? run()
    guard code == SQLITE_OK else { throw connection.error(code) }
    return (Int(logFrames), Int(checkpointed))
  }
}
