import FoundationEssentials
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

  /// Examines the file. Throws ``Failure`` if it isn't a readable database.
  init(_ path: String, _ invocation: Invocation) throws {
    guard !ServerDatabase.isAddress(path) else {
      throw Failure(.usage, "\(path): this command works on files, not on a server's database")
    }
    self.path = path
    size = try Self.sizeOfFile(at: path)
    guard size > 0 else {
      throw Failure(
        .database, "\(path): the file is empty (0 bytes): there is no database in it yet")
    }
    header = try FileHeader(Self.beginning(of: path), path: path, size: size)
    var configuration = Configuration(
      profile: invocation.has("untrusted") ? .untrustedFile : .service)
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
  func connect<T>(writes: Bool = false, _ body: (Database) throws -> T) throws -> T {
    var configuration = configuration
    if writes {
      configuration.readOnly = false
      configuration.removesOwnLog = false
      configuration.synchronous = .full
    }
    Interruption.catchSignals()
    do {
      let db = try Database(path: path, configuration: configuration)
      let handle = db.interruptHandle
      let alarm = Interruption.whenAsked { handle.interrupt() }
      defer { withExtendedLifetime(alarm) {} }
      let result = try body(db)
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
    let folder =
      path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]) : "."
    switch error.code {
    case .notADatabase:
      return Failure(.database, "\(path): this isn't a database, or it is encrypted")
    case .corrupt where size < header.pageSize * header.pageCount:
      return Failure(
        .database,
        "\(path): the file is cut off: it has \(size.grouped) bytes, of \((header.pageSize * header.pageCount).grouped)"
      )
    case .corrupt:
      return Failure(.database, "\(path): the database is damaged (\(error.message))")
    case .readOnly, .cannotOpen:
      if access(path + "-journal", F_OK) == 0 {
        return Failure(
          .database,
          "\(path): a program was interrupted while it wrote; the next one that may write to the file"
            + " will undo that, using \(path)-journal")
      }
      if header.usesLog, access(folder.isEmpty ? "/" : folder, W_OK) != 0 {
        return Failure(
          .database,
          "\(path): its journal mode is wal, which needs a file beside it, but the folder can't be"
            + " written: copy the file elsewhere, with the one whose name ends in -wal")
      }
      return Failure(.database, "\(path): \(error.message)")
    default:
      return Failure(describing: error, database: path)
    }
  }

  /// The size of the file whose name is this one's with a suffix; nil if there is none.
  func size(ofSuffix suffix: String) -> Int? {
    var status = stat()
    return stat(path + suffix, &status) == 0 ? Int(status.st_size) : nil
  }

  // MARK: Looking before opening

  /// The identity of the file at the end of a path.
  struct Identity: Equatable {
    let device: UInt64
    let node: UInt64
  }

  /// The identity of a path's file; nil if it doesn't exist.
  static func identity(of path: String) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: UInt64(status.st_dev), node: UInt64(status.st_ino))
  }

  private static func sizeOfFile(at path: String) throws -> Int {
    func failure(_ reason: String) -> Failure { Failure(.database, "\(path): \(reason)") }
    guard !path.isEmpty else { throw Failure(.usage, "the name of the file is empty") }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw failure(errno == ENOENT ? "there is no such file" : String(cString: strerror(errno)))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw failure("this is a folder, not a database")
    case S_IFIFO: throw failure("this is a pipe; a database is a file")
    case S_IFSOCK: throw failure("this is a socket; a database is a file")
    default: throw failure("this is a device; a database is a file")
    }
    guard access(path, R_OK) == 0 else { throw failure(String(cString: strerror(errno))) }
    return Int(status.st_size)
  }

  private static func beginning(of path: String) throws -> [UInt8] {
    // Closing drops the process's POSIX locks on the file, but no connection has it open yet.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: FileHeader.size)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else {
      throw Failure(.database, "\(path): \(String(cString: strerror(errno)))")
    }
    return Array(bytes.prefix(count))
  }
}
