import Glibc
import LarderSQLite

// Copying all databases of a fleet.

extension DatabaseFleet {
  /// Copies all databases into a folder, each under its own name: a fleet of its own, with the same keys.
  ///
  /// ```swift
  /// let report = try await fleet.backupAll(to: "/backup/tenants")
  /// let copies = try DatabaseFleet(in: "/backup/tenants")
  /// try fleet.inDatabase("acme") { try $0.restore(from: copies.path(of: "acme")) }
  /// ```
  ///
  /// Each copy is a snapshot of one moment, made beside those who use the database, by a connection of its own;
  /// those moments differ. It is read back and checked (``LarderSQLite/CopyCheck``), and only then takes the
  /// place of an older one: whatever goes wrong, that stays as it was. Databases are copied as they are,
  /// migrated or not. Copies of databases that were removed stay, and so do other files.
  ///
  /// One that hasn't changed since its copy was made isn't copied again, as when this goes on after an error or
  /// a kill: where it is the same file, unchanged by what the file system says, with no write-ahead log. The
  /// folder's file
  /// `.larder-fleet` remembers that, a SQLite database, which may be removed. Each copy at a time takes six
  /// descriptors at most.
  ///
  /// - Parameters:
  ///   - folder: made if there is none; on a file system with locks. Its databases aren't to be used while this runs.
  ///   - concurrency: how many to copy at a time: 1 to 64.
  ///   - check: what a copy has to pass.
  ///   - progress: called after each, one call at a time. What it throws ends the run, once those are done that have
  ///     begun, and is thrown. It must not wait for the fleet.
  ///
  /// Throws ``FleetError/failures(_:)`` with each that failed, `ResultCode.cannotOpen` where the folder can't
  /// be used,
  /// `ResultCode.misuse` where it is the fleet's own, and what ``keys()`` does.
  @discardableResult
  public func backupAll(
    to folder: String, concurrency: Int = 4, check: CopyCheck = .quick,
    progress: (@Sendable (FleetProgress) throws -> Void)? = nil
  ) throws -> FleetReport {
    let copies = try FleetCopies(of: self, in: folder)
    defer { copies.close() }
    return try copying(into: copies, check, progress).run(concurrency)
  }

  /// As the form that isn't asynchronous. When its task is cancelled, it throws `CancellationError` once those
  /// are done that have begun.
  @discardableResult
  public func backupAll(
    to folder: String, concurrency: Int = 4, check: CopyCheck = .quick,
    progress: (@Sendable (FleetProgress) throws -> Void)? = nil
  ) async throws -> FleetReport {
    let copies = try FleetCopies(of: self, in: folder)
    defer { copies.close() }
    return try await copying(into: copies, check, progress).run(concurrency)
  }

  private func copying(
    into copies: FleetCopies, _ check: CopyCheck,
    _ progress: (@Sendable (FleetProgress) throws -> Void)?
  ) throws -> FleetRun {
    let tenants = tenants
    return FleetRun(try keys(), progress: progress) { key in
      // One that is just being removed needs no copy.
      try tenants.holding(key) { try copies.copy($0, check) } ?? .unchanged
    }
  }
}

/// A folder with the copies of a fleet's databases, and what is known of each.
private final class FleetCopies: Sendable {
  private let files: TenantFiles
  private let folder: String
  private let drafts: Lock<DraftFolder>
  private let records: DatabaseQueue

  init(of fleet: DatabaseFleet, in folder: String) throws {
    try fleet.tenants.checkOpen()
    files = fleet.files
    var configuration = FleetConfiguration()
    configuration.fileExtension = fleet.configuration.fileExtension
    self.folder = try TenantFiles(folder, configuration).folder
    guard FileState(of: self.folder)?.isSameFile(as: FileState(of: fleet.folder)) != true else {
      throw DatabaseError(.misuse, "\(folder) is the fleet's own folder")
    }
    drafts = Lock(DraftFolder(self.folder))
    records = try DatabaseQueue(path: self.folder + "/.larder-fleet")
    try records.inTransaction { db in
      try db.executeUpdate(
        """
        CREATE TABLE IF NOT EXISTS copy (
          name TEXT PRIMARY KEY, source TEXT NOT NULL, copy TEXT NOT NULL) WITHOUT ROWID
        """)
    }
  }

  /// Leaves nothing beside what was copied.
  func close() {
    try? records.close()
    drafts.withLock { $0.close() }
  }

  /// Copies a database, unless it is the same as its copy.
  func copy(_ path: String, _ check: CopyCheck) throws -> FleetRun.Outcome {
    let name = TenantFiles.name(at: path)
    let target = folder + "/" + name
    // It was removed meanwhile.
    guard let before = FileState(of: path) else { return .unchanged }
    let isQuiet = before.isSettled && !FileState.hasLog(path)
    if isQuiet, try isKnown(name, before, FileState(of: target)) { return .unchanged }
    guard !FileState.hasLog(target) else {
      throw DatabaseError(.busy, "the copy \(target) is in use, or was when a process ended")
    }
    let draft = try drafts.withLock { try $0.draft() }
    defer { drafts.withLock { $0.discard(draft) } }
    let source = try files.openForCopy(path)
    try source.copy(verifiedBy: check, into: draft)
    try source.close()
    try publish(draft, replacing: target)
    let isSame = isQuiet && !FileState.hasLog(path) && FileState(of: path) == before
    if let state = FileState(of: target), isSame { try remember(name, before, state) }
    return .changed
  }

  private func isKnown(_ name: String, _ source: FileState, _ copy: FileState?) throws -> Bool {
    guard let copy else { return false }
    return try records.read { db in
      try db.value(
        """
        SELECT EXISTS (SELECT 1 FROM copy
          WHERE name = \(name) AND source = \(source.text) AND copy = \(copy.text))
        """, as: Bool.self)
    } ?? false
  }

  private func remember(_ name: String, _ source: FileState, _ copy: FileState) throws {
    try records.inTransaction { db in
      try db.executeUpdate("REPLACE INTO copy VALUES (\(name), \(source.text), \(copy.text))")
    }
  }
}

/// By what a file system tells whether a file has changed: which it is, its size, and when it was last changed,
/// which no program sets as it pleases.
private struct FileState: Equatable {
  private let device: UInt
  private let inode: UInt
  private let size: Int
  private let changed: (seconds: Int, nanoseconds: Int)

  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    size = Int(status.st_size)
    changed = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
  }

  static func == (one: FileState, other: FileState) -> Bool { one.text == other.text }

  var text: String { "\(device) \(inode) \(size) \(changed.seconds).\(changed.nanoseconds)" }

  func isSameFile(as other: FileState?) -> Bool {
    device == other?.device && inode == other?.inode
  }

  /// Whether another change would show: file systems tell times by ticks of milliseconds, some by seconds.
  var isSettled: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return changed.seconds + 2 < now.tv_sec
  }

  /// Whether a log or journal beside a file holds what isn't in it.
  static func hasLog(_ path: String) -> Bool {
    ["-wal", "-journal"].contains { (FileState(of: path + $0)?.size ?? 0) > 0 }
  }
}
