import Glibc
import Larder

// Copying all databases of a fleet.

extension DatabaseFleet {
  /// Copies all databases into a folder under the same names, which makes it a fleet with the same keys.
  ///
  /// ```swift
  /// let report = try await fleet.backup(to: "/backup/tenants")
  /// let copies = try DatabaseFleet(in: "/backup/tenants")
  /// try fleet.inDatabase("acme") { try $0.restore(from: copies.path(of: "acme")) }
  /// ```
  ///
  /// Each copy is a snapshot of one moment, made by a connection of its own while the database is in use;
  /// these moments differ. A copy is read back and checked (``LarderSQLite/CopyCheck``) before it replaces
  /// an older one, which stays as it was if anything goes wrong. Databases are copied as they are, migrated
  /// or not. Copies of databases that were removed stay, and so do other files.
  ///
  /// A database that hasn't changed since its last copy isn't copied again, as when this is repeated after
  /// an error or a kill. Unchanged means that it is the same file, with the same metadata, and has no
  /// write-ahead log. The folder's file `.larder-fleet`, a SQLite database, records that; it may be
  /// removed. Each simultaneous copy takes at most six descriptors.
  ///
  /// - Parameters:
  ///   - folder: created if it doesn't exist; on a file system with locks. Its databases must not be used
  ///     while this runs.
  ///   - concurrency: how many databases to copy at a time: 1 to 64.
  ///   - check: the check that a copy has to pass.
  ///   - progress: called after each database, one call at a time. An error that it throws ends the run
  ///     once the databases in progress are done, and is rethrown. It must not wait for the fleet.
  ///
  /// Throws ``FleetError/failures(_:)`` with each database that failed, `ResultCode.cannotOpen` if the
  /// folder can't be used, `ResultCode.misuse` if it is the fleet's own, and what ``keys()`` throws.
  @discardableResult
  public func backup(
    to folder: String, concurrency: Int = 4, check: CopyCheck = .quick,
    progress: (@Sendable (FleetReport) throws -> Void)? = nil
  ) throws -> FleetReport {
    let copies = try tenants.withDescriptors { try FleetCopies(of: self, in: folder) }
    defer { copies.close() }
    return try copying(into: copies, check, progress).run(concurrency)
  }

  /// Async variant. If its task is cancelled, it throws `CancellationError` once the databases in progress
  /// are done.
  @discardableResult
  public func backup(
    to folder: String, concurrency: Int = 4, check: CopyCheck = .quick,
    progress: (@Sendable (FleetReport) throws -> Void)? = nil
  ) async throws -> FleetReport {
    let copies = try tenants.withDescriptors { try FleetCopies(of: self, in: folder) }
    defer { copies.close() }
    return try await copying(into: copies, check, progress).run(concurrency)
  }

  private func copying(
    into copies: FleetCopies, _ check: CopyCheck,
    _ progress: (@Sendable (FleetReport) throws -> Void)?
  ) throws -> FleetRun {
    let tenants = tenants
    return FleetRun(try keys(), progress: progress) { key in
      // A database that is just being removed needs no copy.
      try tenants.holding(key) { path in
        try tenants.withDescriptors { try copies.copy(path, check) }
      } ?? .unchanged
    }
  }
}

/// A folder with the copies of a fleet's databases, and the recorded state of each.
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
    let identity = FileLocation.Identity(ofFileAt: self.folder)
    guard identity == nil || identity != FileLocation.Identity(ofFileAt: fleet.folder) else {
      throw DatabaseError(.misuse, "the copies can't be in the fleet's own folder, \(folder)")
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

  /// Closes the records, and leaves no drafts or locks beside the copies.
  func close() {
    try? records.close()
    drafts.withLock { $0.close() }
  }

  /// Copies a database, unless its copy is up to date.
  func copy(_ path: String, _ check: CopyCheck) throws -> FleetRun.Outcome {
    let name = FileLocation.name(at: path)
    let target = folder + "/" + name
    // The database was removed meanwhile.
    guard let before = FileState(of: path) else { return .unchanged }
    let isQuiet = before.isSettled && !FileState.hasLog(path)
    if isQuiet, try isKnown(name, before, FileState(of: target)) { return .unchanged }
    guard !FileState.hasLog(target) else {
      throw DatabaseError(
        .busy, "the copy \(target) is in use, or a process that used it ended without closing it")
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

/// The metadata that tell whether a file has changed: its identity, its size, and its change time (ctime),
/// which programs can't set as they please.
private struct FileState: Equatable {
  private let size: Int
  private let seconds: Int
  let text: String

  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    size = Int(status.st_size)
    seconds = status.st_ctim.tv_sec
    text = "\(status.st_dev) \(status.st_ino) \(size) \(seconds).\(status.st_ctim.tv_nsec)"
  }

  /// Whether a further change would show in the change time: its resolution is milliseconds, on some file
  /// systems seconds.
  var isSettled: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return seconds + 2 < now.tv_sec
  }

  /// Whether a log or journal beside a file isn't empty, and so may contain what the file lacks.
  static func hasLog(_ path: String) -> Bool {
    ["-wal", "-journal"].contains { (FileState(of: path + $0)?.size ?? 0) > 0 }
  }
}
