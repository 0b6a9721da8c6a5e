import LarderSQLite

/// Continuous backup: copies a database again and again while it is written. Each copy is a point to which
/// the database can be restored.
///
/// ```swift
/// let copies = try pool.backup(every: .seconds(60), to: "/backup/cities", keeping: 24)
/// …
/// if let point = try copies.points.last { try pool.inDatabase { try $0.restore(from: point.path) } }
/// ```
///
/// Each copy is a complete SQLite file with a name such as `cities-20261123T165030.123Z-8f0c2a9d51b7e364.db`:
/// the moment in UTC, so that the names sort as the times do, and the database's identity. It is a snapshot,
/// made by a connection of its own beside those of the queue or pool. With a write-ahead log nobody waits for
/// it, neither to read nor to write; without one, writers wait until it is made. It is made under another
/// name, synced, read back and checked (``LarderSQLite/CopyCheck``), and only then gets its own. If no process has
/// committed anything since the last copy, none is made.
///
/// ``Statistics/error``, ``LarderSQLite/Configuration/log`` and the call's `onFailure` report failures, such as a full
/// disk. A failed copy is tried again after the interval, or after 30 seconds if that is less. The next start
/// removes what a killed process has left behind. Several processes may copy one database into one folder,
/// and several databases may share one: only points of the same database are ever removed. A database is
/// known by a number in a small table of its own, `larder_identity`, which is in the name of each point too.
/// A database that is moved, or restored from a point, keeps it, unless another file already makes points
/// with it in the folder: then the later one gets a number of its own, and begins a new series.
///
/// The backup ends with ``cancel()``, or when the queue or pool is closed or gone.
///
/// Every copy is a full one, which reads the database twice and writes it once. Measured on two busy cores,
/// 500 MB took 5 to 7 seconds (70 to 100 MB/s) and some 30 MiB of memory, while four writers that never pause
/// kept 0.8 of their pace. Meanwhile the write-ahead log can't begin anew, and grows by what is committed.
/// For files of many gigabytes the interval should be a multiple of ``Statistics/duration``.
///
/// Other tools get the copies off the machine. They see a file under its name only when it is whole:
///
/// ```sh
/// rclone copy /backup/cities remote:cities --immutable --include '*.db'
/// aws s3 sync /backup/cities s3://bucket/cities --exclude '*' --include '*.db'
/// restic backup /backup/cities --exclude '.larder-*'
/// ```
public final class ContinuousBackup: Sendable {
  let worker: BackupWorker
  private let connections: WeakConnections

  /// Figures of what was done since the start.
  public struct Statistics: Sendable {
    /// How many copies were made.
    public internal(set) var copies = 0
    /// How often no copy was made, because nothing was committed since the last one.
    public internal(set) var unchanged = 0
    /// How often a copy has failed.
    public internal(set) var failures = 0
    /// How long the last copy took, its check included.
    public internal(set) var duration = Duration.zero
    /// The error of the last attempt; nil if that went well.
    public internal(set) var error: (any Error)?
  }

  fileprivate init(_ worker: BackupWorker, _ connections: Connections) {
    self.worker = worker
    self.connections = WeakConnections(connections)
  }

  /// The points of this database in the folder, the oldest first, whichever process made them. Throws
  /// `ResultCode.cannotOpen` if the folder can't be read.
  public var points: [Point] { get throws { try worker.points() } }

  /// Figures of what was done. They can be read at any time.
  public var statistics: Statistics { worker.statistics }

  /// Makes a copy at once, or returns the last one if nothing was committed since then. Waits for a copy that
  /// is being made. Throws the error that prevents the copy, or `ResultCode.misuse` once the backup has
  /// ended.
  @discardableResult
  public func backup() throws -> Point { try worker.copyNow() }

  /// Async variant. Cancelling the task cancels the copy, and throws `CancellationError`.
  @discardableResult
  public func backup() async throws -> Point { try await worker.copyNow() }

  /// Ends the backup: makes no more copies. When this returns, a copy that was being made is given up, and
  /// its file removed. Cancelling again does nothing.
  public func cancel() {
    worker.end()
    worker.wait()
    connections.value?.remove(worker)
  }
}

/// Sendable because the reference never changes.
private final class WeakConnections: @unchecked Sendable {
  private(set) weak var value: Connections?

  init(_ value: Connections) { self.value = value }
}

extension DatabaseAccess {
  /// Begins a continuous backup: copies the database at once and then again and again, while it is used. See
  /// ``LarderBackup/ContinuousBackup``.
  ///
  /// - Parameters:
  ///   - interval: the time from the beginning of one copy to that of the next.
  ///   - folder: the folder of the copies, created if there is none. It isn't created again if it is gone
  ///     later: the disk may not be there.
  ///   - count: how many copies of this database to keep, at least one. Each new copy removes the oldest ones
  ///     beyond that.
  ///   - check: the check that a copy has to pass.
  ///   - onFailure: called with each error, one call at a time.
  ///
  /// Throws ``UnsupportedByEngine`` if the engine isn't SQLite. Throws `ResultCode.misuse` for a database in
  /// memory or in a temporary file, for an interval or number that isn't positive, inside of a scope that
  /// writes, and after `close()`. Throws `ResultCode.cannotOpen` if the folder can't be used, or if the
  /// file's name has more than 217 bytes, since those of its copies are 38 bytes longer; and the errors of the
  /// transaction that gives the database its identity. Errors of copies aren't thrown.
  public func backup(
    every interval: Duration, to folder: String, keeping count: Int = 24,
    check: CopyCheck = .quick, onFailure: (@Sendable (any Error) -> Void)? = nil
  ) throws -> ContinuousBackup {
    guard let writer = connections.writersFile else {
      throw UnsupportedByEngine(engine: connections.engine, feature: "continuous backup")
    }
    guard interval > .zero, count > 0 else {
      throw DatabaseError(
        .misuse,
        "the interval between copies has to be positive, and at least one copy has to be kept")
    }
    guard let location = writer.location else {
      throw DatabaseError(.misuse, "only a database in a file can have a continuous backup")
    }
    let identity = try DatabaseIdentity(of: connections, at: location)
    let worker = try BackupWorker(
      of: location, identity, writer.configuration, into: folder,
      .init(interval: interval.bounded, count: count, check: check, onFailure: onFailure)
    ) {
      try DatabaseIdentity(of: connections, at: location, anew: true)
    }
    try connections.add(worker)
    worker.begin()
    return ContinuousBackup(worker, connections)
  }
}
