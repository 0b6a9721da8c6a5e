import Glibc
import Larder
import LarderTerminal

/// A database file of the command line, examined before SQLite opens it. So each problem has a clear message,
/// and a pipe or a folder is never opened.
struct DatabaseFile {
  let path: String
  /// The size in bytes.
  let size: Int
  let header: FileHeader
  private let configuration: Configuration
  /// Nil for a hostile file, in which nothing replaces what only its program has.
  private let standIns: StandIns?

  /// Examines the file. Throws ``Failure`` if it isn't a readable database.
  init(_ path: String, _ invocation: Invocation) throws {
    guard !ServerDatabase.isAddress(path) else {
      throw Failure(.usage, "\(path): this command works on files, not on a server's database")
    }
    guard
      !invocation.has("schema") || invocation.arguments.contains(where: ServerDatabase.isAddress)
    else { throw Failure(.usage, "--schema is only for servers: \(path) is a file") }
    self.path = path
    size = try Self.sizeOfFile(at: path)
    guard size > 0 else {
      throw Failure(
        .database, "\(path): the file is empty (0 bytes): there is no database in it yet")
    }
    header = try FileHeader(Self.beginning(of: path), path: path, size: size)
    var configuration = Configuration(
      profile: invocation.has("untrusted") ? .untrustedFile : .service)
    configuration.trustsSchema = !invocation.has("untrusted")
    let standIns = invocation.has("untrusted") ? nil : StandIns()
    self.standIns = standIns
    configuration.prepareDatabase = { try standIns?.install(on: $0) }
    // Otherwise a short value, such as “a”, would be hidden in the names that a stand-in's error has.
    configuration.showsArguments = standIns != nil
    configuration.readOnly = true
    configuration.removesOwnLog = true
    configuration.journalMode = nil
    if let seconds = try invocation.integer("wait", in: 0...86_400) {
      configuration.busyTimeout = .seconds(seconds)
    }
    self.configuration = configuration
  }

  /// Calls a closure with a read-only connection, in one snapshot. Ctrl-C interrupts it.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    try connect { db in
      try db.inTransaction(.deferred) { db in
        // There is nothing to commit, and after it has found damage SQLite refuses to.
        db.setRollbackOnly()
        return try body(db)
      }
    }
  }

  /// Calls a closure with a connection that can write, in one transaction. Ctrl-C interrupts it, and rolls
  /// back.
  func write<T>(_ body: (Database) throws -> T) throws -> T {
    try connect(writes: true) { db in try db.inTransaction(.immediate) { try body($0) } }
  }

  /// Calls a closure with a connection outside a transaction. Ctrl-C interrupts its statements.
  ///
  /// - Parameter makesIndexes: whether indexes are made from the rows, even if nothing is written to the
  ///   file. Stand-ins would put them in another order than the program's.
  func connect<T>(
    writes: Bool = false, makesIndexes: Bool = false, _ body: (Database) throws -> T
  ) throws -> T {
    var configuration = configuration
    if writes || makesIndexes { configuration.prepareDatabase = nil }
    if writes {
      configuration.readOnly = false
      configuration.removesOwnLog = false
      configuration.synchronous = .full
    }
    Interruption.catchSignals()
    do {
      let db = try Database(path: path, configuration: configuration)
      defer {
        if let remark = standIns?.newRemark {
          Output.note("larder: \(path.printable): \(remark)")
        }
      }
      let result = try db.interruptible(body)
      try db.close()
      return result
    } catch let error as DatabaseError {
      throw failure(error)
    }
  }

  /// Opens the file for reading and observing, for as long as the queue is retained.
  func queue() throws -> DatabaseQueue {
    try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Describes an error of SQLite for this file.
  func failure(_ error: DatabaseError) -> Failure {
    let reason: String
    let whole = header.pageSize * header.pageCount
    switch error.code {
    case .notADatabase: reason = "this isn't a database, or it is encrypted"
    case .corrupt where size < whole:
      reason = "the file is cut off: it has \(size.grouped) bytes, of \(whole.grouped)"
    case .corrupt where error.message.hasPrefix("malformed database schema"):
      reason =
        "SQLite \(SQLiteLibrary.version) can't read the schema: \(error.message); it was written by a newer"
        + " version (the last one was \(header.writer)), or is damaged"
    case .corrupt: reason = "the database is damaged (\(error.message))"
    case _ where error.isOfOtherProgram:
      reason = "this needs the program that made the file: \(error.message)"
    case .readOnly, .cannotOpen:
      let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      if access(path + "-journal", F_OK) == 0 {
        reason =
          "a program was interrupted while it wrote; the next one that may write to the file"
          + " will undo that, using \(path)-journal"
      } else if header.usesLog, access(folder, W_OK) != 0 {
        reason =
          "its journal mode is wal, which needs a file beside it, but the folder can't be"
          + " written: copy the file elsewhere, with the one whose name ends in -wal"
      } else {
        reason = error.message
      }
    default: return Failure(describing: error, database: path)
    }
    return Failure(.database, "\(path): \(reason)")
  }

  /// The size of the file whose name is this one's with a suffix; nil if there is none.
  func size(ofSuffix suffix: String) -> Int? {
    var status = stat()
    return stat(path + suffix, &status) == 0 ? Int(status.st_size) : nil
  }

  // MARK: Looking before opening

  /// Throws if a path leads to this file.
  func checkIsOther(_ other: String) throws {
    guard !other.isEmpty else { throw Failure(.usage, "the name of the file is empty") }
    var (own, others) = (stat(), stat())
    if stat(path, &own) == 0, stat(other, &others) == 0, own.st_dev == others.st_dev,
      own.st_ino == others.st_ino
    {
      throw Failure(.usage, "\(path) and \(other) are the same file")
    }
  }

  private static func sizeOfFile(at path: String) throws -> Int {
    func failure(_ reason: String? = nil) -> Failure {
      Failure(.database, "\(path): \(reason ?? String(cString: strerror(errno)))")
    }
    guard !path.isEmpty else { throw Failure(.usage, "the name of the file is empty") }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw failure(errno == ENOENT ? "there is no such file" : nil)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw failure("this is a folder, not a database")
    case S_IFIFO: throw failure("this is a pipe; a database is a file")
    case S_IFSOCK: throw failure("this is a socket; a database is a file")
    default: throw failure("this is a device; a database is a file")
    }
    guard access(path, R_OK) == 0 else { throw failure() }
    return Int(status.st_size)
  }

  private static func beginning(of path: String) throws -> [UInt8] {
    // Closing drops the process's POSIX locks on the file, but no connection has it open yet.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { close(descriptor) } }
    var bytes = [UInt8](repeating: 0, count: FileHeader.size)
    let count = descriptor < 0 ? -1 : pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    return Array(bytes.prefix(count))
  }
}

extension Database {
  /// Calls a closure, whose statements Ctrl-C interrupts.
  func interruptible<T>(_ body: (Database) throws -> T) throws -> T {
    let handle = interruptHandle
    let alarm = Interruption.whenAsked { handle.interrupt() }
    defer { withExtendedLifetime(alarm) {} }
    return try body(self)
  }

  /// Calls a closure, whose statements can't do anything but read.
  func onlyReading<T>(_ body: (Database) throws -> T) throws -> T {
    // When a virtual table is first used, some modules compile statements that write, such as rtree. The
    // authorizer would refuse them.
    let tables: [String] = try executeQuery(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND rootpage = 0"
    ).map { try $0.get(at: 0) }
    for table in tables { _ = try? prepare("SELECT 1 FROM main.\(identifier: table)") }
    authorizer = .readOnly
    defer { authorizer = nil }
    return try body(self)
  }
}
