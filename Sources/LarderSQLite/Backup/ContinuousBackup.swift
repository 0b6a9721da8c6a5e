/// Copies of a database that are made again and again while it is written: points to which it can be restored.
///
/// ```swift
/// let copies = try pool.backup(every: .seconds(60), to: "/backup/cities", keeping: 24)
/// …
/// if let point = try copies.points.last { try pool.inDatabase { try $0.restore(from: point.path) } }
/// ```
///
/// Each is a complete SQLite file with a name such as `cities-20261123T165030.123Z-8f0c2a9d51b7e364.db`: the moment in
/// UTC, so that the names sort as the times do, and the database's identity. It is a snapshot, made by a connection of its own beside those of the
/// queue or pool: with a write-ahead log nobody waits for it, neither to read nor to write; without one, who
/// writes waits until it is made. It is made under another name, synced, read back and checked (``CopyCheck``),
/// and only then gets its own. Where nothing was committed since the last one, by whatever process, none is
/// made.
///
/// What goes wrong, such as a full disk, ``Statistics/lastError`` and ``Configuration/log`` tell, and what the
/// call was given for that; it is tried again after the interval, or 30 seconds if that is less. What a killed
/// process leaves behind goes with the next start. Several processes may copy one database into one folder, and
/// several databases may share one: only points of the same database are ever removed. It is known by a number that a
/// small table of its own keeps, `larder_identity`, and that each point has in its name; a database that is moved, or
/// restored from a point, keeps it.
///
/// It ends with ``stop()``, or when the queue or pool is closed or gone.
///
/// Every copy is a whole one, and costs what reading the database twice and writing it once does: measured on two busy
/// cores, 5 to 7 seconds for 500 MB (70 to 100 MB/s), while four writers that never pause kept 0.8 of their pace, and with
/// some 30 MiB of memory. While it is made the write-ahead log can't begin anew, and grows by what is committed. For
/// files of many gigabytes the interval should be a multiple of what ``Statistics/lastDuration`` tells.
///
/// Off the machine they get by tools for that, which see a file under its name only when it is whole:
///
/// ```sh
/// rclone copy /backup/cities remote:cities --immutable --include '*.db'
/// aws s3 sync /backup/cities s3://bucket/cities --exclude '*' --include '*.db'
/// restic backup /backup/cities --exclude '.larder-*'
/// ```
public final class ContinuousBackup: Sendable {
  let worker: BackupWorker
  private let connections: WeakConnections

  /// What was done since the start.
  public struct Statistics: Sendable {
    /// How many copies were made.
    public internal(set) var copies = 0
    /// How often none was made as nothing was committed since the last.
    public internal(set) var unchanged = 0
    /// How often it went wrong.
    public internal(set) var failures = 0
    /// How long the last copy took, its check included.
    public internal(set) var lastDuration = Duration.zero
    /// What went wrong the last time; nil where the last attempt went well.
    public internal(set) var lastError: (any Error)?
  }

  fileprivate init(_ worker: BackupWorker, _ connections: Connections) {
    self.worker = worker
    self.connections = WeakConnections(connections)
  }

  /// What was kept of this database, the oldest first: by this and by whoever else has the folder. Throws
  /// `ResultCode.cannotOpen` where the folder can't be read.
  public var points: [Point] { get throws { try worker.points() } }

  /// What was done. It can be asked at any time.
  public var statistics: Statistics { worker.statistics }

  /// Makes a copy at once; where nothing was committed since the last one, it returns that. Waits for the one
  /// that is being made, and throws what keeps it from being made, or `ResultCode.misuse` after the end.
  @discardableResult
  public func backupNow() throws -> Point { try worker.copyNow() }

  /// As the form that isn't asynchronous. When its task is cancelled the copy is, and it throws
  /// `CancellationError`.
  @discardableResult
  public func backupNow() async throws -> Point { try await worker.copyNow() }

  /// Makes no more copies. One that is being made is given up, and what there is of it removed, when this
  /// returns. Stopping again does nothing.
  public func stop() {
    worker.end()
    worker.wait()
    connections.value?.remove(worker)
  }
}

/// What makes it Sendable: the reference never changes.
private final class WeakConnections: @unchecked Sendable {
  private(set) weak var value: Connections?

  init(_ value: Connections) { self.value = value }
}

extension DatabaseAccess {
  /// Begins to make copies of the database while it is used, at once and then again and again. See
  /// ``ContinuousBackup``.
  ///
  /// - Parameters:
  ///   - interval: the time from one beginning to the next.
  ///   - folder: made if there is none. One that is gone later isn't: the disk may not be there.
  ///   - count: how many to keep of this database, one at least: the oldest are removed, each time a new one is there.
  ///   - check: what a copy has to pass.
  ///   - onFailure: called with what goes wrong, one call at a time.
  ///
  /// Throws ``UnsupportedByEngine`` where the engine isn't SQLite; `ResultCode.misuse` for a database in memory
  /// or in a temporary file, an interval or number that isn't positive, inside of a scope that writes, and after
  /// `close()`; `ResultCode.cannotOpen` where the folder can't be used; and what a transaction throws, in which the
  /// database gets its identity. What goes wrong with copies isn't thrown.
  public func backup(
    every interval: Duration, to folder: String, keeping count: Int = 24,
    check: CopyCheck = .quick, onFailure: (@Sendable (any Error) -> Void)? = nil
  ) throws -> ContinuousBackup {
    guard let writer = connections.writer else {
      throw UnsupportedByEngine(engine: connections.engine, feature: "continuous backup")
    }
    guard interval > .zero, count > 0 else {
      throw DatabaseError(.misuse, "copies need a time between them, and one that is kept")
    }
    guard let location = writer.location else {
      throw DatabaseError(.misuse, "only a database in a file has continuous backups")
    }
    let identity = try DatabaseIdentity(of: connections, at: location)
    let worker = try BackupWorker(
      of: location, identity, writer.configuration, into: folder,
      .init(interval: interval.bounded, count: count, check: check, onFailure: onFailure))
    try connections.add(worker)
    worker.begin()
    return ContinuousBackup(worker, connections)
  }
}
