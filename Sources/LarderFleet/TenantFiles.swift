import Glibc
import Larder

/// The files of a fleet, and the operations on each. The folder is flat: file systems keep folders as trees or
/// hash tables, so that a file is found among 10,000 as fast as in a folder of its own (measured on ext4).
struct TenantFiles: Sendable {
  let folder: String
  private let names: TenantFileNames
  private let configuration: Configuration
  private let migrator: Migrator?
  private let createsDatabases: Bool

  struct Opened {
    let queue: DatabaseQueue
    let wasMigrated: Bool
  }

  init(_ folder: String, _ configuration: FleetConfiguration) throws {
    names = try TenantFileNames(extension: configuration.fileExtension)
    self.configuration = configuration.ofEach
    migrator = configuration.migrator
    createsDatabases = configuration.createsDatabases
    self.folder = try DraftFolder.make(folder, for: "a fleet")
  }

  func path(of key: TenantKey) throws -> String { folder + "/" + (try names.name(of: key)) }

  /// The keys of all files, ordered by their bytes.
  func keys() throws -> [String] {
    try DraftFolder.names(in: folder).compactMap { names.key(of: $0)?.text }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The keys of databases that may have something that isn't in the log of a replication: a write-ahead log that was
  /// left over, or a note.
  func unshippedKeys() throws -> [TenantKey] {
    let found = try DraftFolder.names(in: folder).compactMap { file -> TenantKey? in
      for suffix in ["-wal", "-unshipped"] where file.hasSuffix(suffix) {
        return names.key(of: String(file.dropLast(suffix.count)))
      }
      return nil
    }
    return Array(Set(found))
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// - Parameter prepare: called with each open database before it is migrated.
  func open(
    _ path: String, _ key: TenantKey, creates: Bool, _ prepare: (DatabaseQueue) throws -> Void
  ) throws -> Opened {
    guard createsDatabases && creates || Self.exists(path) else {
      throw FleetError.noDatabase(key: key.text)
    }
    var attempts = 0
    while true {
      do {
        return try openAndMigrate(path, prepare)
      } catch let error as DatabaseError where error.code == .cannotOpen {
        guard !Self.areDescriptorsShort() else { throw OutOfDescriptors(underlying: error) }
        // Some may just have become free.
        attempts += 1
        guard attempts < 5, Self.exists(path) else { throw error }
        usleep(1000 << UInt32(attempts))
      }
    }
  }

  private func openAndMigrate(
    _ path: String, _ prepare: (DatabaseQueue) throws -> Void
  ) throws -> Opened {
    var opened: DatabaseQueue?
    let queue: DatabaseQueue
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
      opened = queue
      try prepare(queue)
    } catch {
      try? opened?.close()
      throw Self.areDescriptorsShort() ? OutOfDescriptors(underlying: error) : error
    }
    var wasMigrated = false
    do {
      try migrator?.migrate(queue) { _ in wasMigrated = true }
    } catch {
      try? queue.close()
      throw error
    }
    return Opened(queue: queue, wasMigrated: wasMigrated)
  }

  /// Whether the process can't open as many files now: by default, as many as a database takes.
  static func areDescriptorsShort(for count: Int = 4) -> Bool {
    let files = (0..<count).map { _ in Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
    let isShort = files.contains(-1) && (errno == EMFILE || errno == ENFILE)
    for file in files where file >= 0 { Glibc.close(file) }
    return isShort
  }

  /// Creates an empty file, which is an empty database. Returns false if there is a file already.
  func create(_ path: String) throws -> Bool {
    let file = Glibc.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    if file >= 0 {
      Glibc.close(file)
      return true
    }
    guard errno == EEXIST else {
      throw DatabaseError(.cannotOpen, "\(path): \(String(cString: strerror(errno)))")
    }
    return false
  }

  /// Removes a file and SQLite's files beside it, after ``checkUnused(_:patience:)``.
  func remove(_ path: String) throws {
    // The database itself is removed first: SQLite removes a log or journal without its database.
    for suffix in ["", "-wal", "-shm", "-journal", "-shipped", "-unshipped"] {
      guard unlink(path + suffix) == 0 || errno == ENOENT else {
        throw DatabaseError(.ioError, "\(path)\(suffix): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Throws `ResultCode.busy` if somebody has the file open in write-ahead mode: leaving that mode takes
  /// exclusive access.
  ///
  /// - Parameter patience: how long to wait for that at most.
  func checkUnused(_ path: String, patience: Duration) throws {
    guard Self.exists(path) else { return }
    var configuration = configuration
    configuration.busyTimeout = min(configuration.busyTimeout, patience)
    configuration.journalMode = .delete
    configuration.flags.remove(.create)
    configuration.prepareDatabase = nil
    configuration.extensions = []
    configuration.authorizer = nil
    configuration.applicationID = nil
    configuration.log = nil
    do {
      try Database(path: path, configuration: configuration).close()
    } catch let error as DatabaseError where error.isBusy {
      throw Self.inUseElsewhere(path)
    } catch {
      // A file that is no database, or is damaged, is removed all the same.
    }
  }

  static func inUseElsewhere(_ path: String) -> DatabaseError {
    DatabaseError(.busy, "\(path) can't be removed: another process has it open")
  }

  func openForCopy(_ path: String) throws -> Database {
    try Database(path: path, configuration: configuration.forCopying)
  }

  /// The number of an open database's descriptors: the file, and in write-ahead mode the log and its index,
  /// or else at times a journal.
  var descriptorsOfEach: Int { configuration.journalMode == .wal ? 3 : 2 }
}
