import CSQLite
import FoundationEssentials
import Glibc

/// Opens and hardens connections.
enum ConnectionOpening {
  static func open(path: String?, configuration: Configuration) throws -> Connection {
    let name = try fileName(of: path, configuration)
    let created = try createFile(at: path, configuration)
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    if configuration.readOnly {
      flags |= SQLITE_OPEN_READONLY
    } else {
      flags |= SQLITE_OPEN_READWRITE
      if configuration.flags.contains(.create) { flags |= SQLITE_OPEN_CREATE }
    }
    if configuration.flags.contains(.uri) { flags |= SQLITE_OPEN_URI }
    if configuration.flags.contains(.noFollow) { flags |= SQLITE_OPEN_NOFOLLOW }

    var handle: OpaquePointer?
    let code = sqlite3_open_v2(name, &handle, flags, configuration.vfs)
    guard code == SQLITE_OK, let handle else {
      defer {
        sqlite3_close_v2(handle)
        if let created { unlink(created) }
      }
      throw openingError(code, handle, path: path, configuration)
    }
    let connection = Connection(
      handle: handle, isPrivate: path?.isEmpty ?? true, busyTimeout: configuration.busyTimeout,
      dateFormat: configuration.dateFormat,
      reporting: Reporting(
        log: configuration.log, trace: configuration.trace,
        slowStatementThreshold: configuration.slowStatementThreshold,
        showsArguments: configuration.showsArguments))
    harden(handle, configuration)
    return connection
  }

  /// What SQLite is given for a path. Debian builds it so that it takes `file:…` as a URI unasked.
  private static func fileName(of path: String?, _ configuration: Configuration) throws -> String {
    guard let path else { return ":memory:" }
    guard !path.utf8.contains(0) else {
      throw DatabaseError(.cannotOpen, "the path contains NUL")
    }
    if let vfs = configuration.vfs, vfs.utf8.contains(0) || sqlite3_vfs_find(vfs) == nil {
      throw DatabaseError(.error, "no such vfs: \(vfs)")
    }
    let isPlain = !configuration.flags.contains(.uri) && isURI(path)
    return isPlain ? "./" + path : path
  }

  private static func isURI(_ path: String) -> Bool { path.utf8.starts(with: "file:".utf8) }

  /// Creates a file that is missing, for its owner only, which SQLite can't be told to do, and
  /// returns its path; its journals take over the mode. `mknod` needs no descriptor: closing one would let go of the
  /// locks that another connection of this process may have taken meanwhile.
  private static func createFile(
    at path: String?, _ configuration: Configuration
  ) throws -> String? {
    guard let path, !path.isEmpty, path != ":memory:",
      configuration.vfs?.utf8.starts(with: "unix".utf8) ?? true
    else { return nil }
    var file = path
    if configuration.flags.contains(.uri), isURI(path) {
      guard let components = URLComponents(string: path), components.path != ":memory:",
        (components.queryItems ?? []).allSatisfy({ $0.name != "vfs" && $0.value != "memory" })
      else { return nil }
      file = components.path
    }
    var status = stat()
    if stat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      // SQLite would wait for ever for somebody to write into a pipe.
      throw DatabaseError(.cannotOpen, "unable to open database file: \(file) (not a regular file)")
    }
    guard !configuration.readOnly, configuration.flags.contains(.create) else { return nil }
    if !configuration.flags.contains(.noFollow) { file = end(ofLinksFrom: file) }
    // Whatever keeps this from working keeps SQLite from it too, which then reports it.
    return mknod(file, S_IFREG | S_IRUSR | S_IWUSR, 0) == 0 ? file : nil
  }

  /// The path that a chain of symbolic links ends at, whether there is a file or not.
  static func end(ofLinksFrom path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      path =
        target.utf8.first == UInt8(ascii: "/")
        ? target : path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] + target } ?? target
    }
    return path
  }

  private static func openingError(
    _ code: Int32, _ handle: OpaquePointer?, path: String?, _ configuration: Configuration
  ) -> DatabaseError {
    var message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
    if let path { message += ": \(path)" }
    if let handle, case let number = sqlite3_system_errno(handle), number != 0 {
      message += " (\(String(cString: strerror(number))))"
    }
    let error = DatabaseError(ResultCode(rawValue: code), message)
    configuration.log?(error)
    return error
  }

  private static func harden(_ handle: OpaquePointer, _ configuration: Configuration) {
    sqlite3_extended_result_codes(handle, 1)
    larder_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    larder_db_config(
      handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, configuration.trustsSchema ? 1 : 0)
    larder_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0)
    larder_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0)
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    if configuration.profile == .untrustedFile {
      larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
      larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    }
    for (limit, value) in configuration.limits {
      sqlite3_limit(handle, limit.rawValue, Int32(clamping: max(0, value)))
    }
  }
}

extension Database {
  /// Verifies the file and applies the configuration.
  func setUp(_ configuration: Configuration) throws {
    statementDeadline = configuration.statementDeadline
    do {
      try verify(configuration)
      try applySettings(configuration)
    } catch let error as DatabaseError {
      guard let path, !path.isEmpty else { throw error }
      throw DatabaseError(error.extendedCode, "\(error.message): \(path)", sql: error.sql)
    }
    authorizer = configuration.authorizer
    try configuration.prepareDatabase?(self)
    clearStatementCache()
  }

  /// Reads the file's header, and all of a file that isn't trusted.
  private func verify(_ configuration: Configuration) throws {
    try executeUpdate("PRAGMA cell_size_check = ON")
    if configuration.profile == .untrustedFile {
      try executeUpdate("PRAGMA mmap_size = 0")
      let result = try value("PRAGMA quick_check(1)", as: String.self)
      guard result == "ok" else {
        throw Self.checkError(result ?? "no answer")
      }
    } else {
      _ = try value("PRAGMA schema_version", as: Int.self)
    }
  }

  /// The error for what a check has found. A page that can't be read is no sign of a file that is
  /// corrupt, but is only told of in the text: "Page 2: unable to get the page. error code=266".
  private static func checkError(_ finding: String) -> DatabaseError {
    let number = finding.split(separator: "error code=").dropFirst().last
    let code = ResultCode(rawValue: number.flatMap { Int32($0.prefix(while: \.isNumber)) } ?? 0)
    let isUnread = [.ioError, .noMemory].contains(code.primary)
    return DatabaseError(
      isUnread ? code : .corrupt, "the file fails SQLite's check: \(finding)")
  }

  private func applySettings(_ configuration: Configuration) throws {
    try executeUpdate(SQL(raw: "PRAGMA foreign_keys = \(configuration.foreignKeys ? "ON" : "OFF")"))
    try executeUpdate(SQL(raw: "PRAGMA cache_size = \(-max(1, configuration.cacheSize / 1024))"))
    try setJournalMode(configuration)
    let limit = configuration.journalSizeLimit ?? -1
    try executeUpdate(SQL(raw: "PRAGMA journal_size_limit = \(limit)"))
    try executeUpdate(SQL(raw: "PRAGMA synchronous = \(ownSynchronous.rawValue)"))
  }

  /// When SQLite is to sync by itself, in the journal mode that there is.
  var ownSynchronous: Configuration.Synchronous {
    guard configuration.profile == .durable, configuration.synchronous == .full,
      connection.withoutAuthorizer({ Connection.text("PRAGMA journal_mode", on: $0) })
        == Configuration.JournalMode.delete.rawValue
    else { return configuration.synchronous }
    return .extra
  }

  private func setJournalMode(_ configuration: Configuration) throws {
    let isFile =
      connection.usableHandle.flatMap { sqlite3_db_filename($0, "main") }
      .map { $0.pointee != 0 } ?? false
    guard let mode = configuration.journalMode, isFile, !isReadOnly,
      try value("PRAGMA journal_mode", as: String.self) != mode.rawValue
    else { return }
    // The change needs the file to itself; SQLite doesn't always ask the busy handler for that.
    let deadline = MonotonicClock.now + configuration.busyTimeout
    while true {
      do {
        try executeUpdate(SQL(raw: "PRAGMA journal_mode = \(mode.rawValue)"))
        // Now the log is read in normal locking mode, to which it could else never come back from another.
        _ = try value("PRAGMA schema_version", as: Int.self)
        return
      } catch let error as DatabaseError where error.isBusy && MonotonicClock.now < deadline {
        BusyHandler.sleep()
      }
    }
  }
}
