import CSQLite
import Glibc

/// Opens and hardens connections.
enum ConnectionOpening {
  /// Initializes the library, once. If two threads opened the first databases at the same time, the second
  /// would go on before SQLCipher has registered its functions, and lack `sqlcipher_export`.
  private static let initialization = sqlite3_initialize()

  static func open(path: String?, configuration: Configuration) throws -> Connection {
    let name = try fileName(of: path, configuration)
    if let key = configuration.key {
      try EncryptionKey.checkCipher("encryption (Configuration.key)")
      // Refuses an empty key before a file is created.
      try key.withBytes { _, _ in }
    }
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
    _ = initialization
    let vfs = HardenedVFS.name(for: configuration.vfs)
    let code = sqlite3_open_v2(name, &handle, flags, vfs)
    guard code == SQLITE_OK, let handle else {
      defer { sqlite3_close_v2(handle) }
      throw openingError(code, handle, path: path, configuration)
    }
    let leavesNothing =
      configuration.readOnly
      && (configuration.profile == .untrustedFile || configuration.removesOwnLog)
    let leftover =
      leavesNothing ? LeftoverLog(of: handle, vfs: vfs, key: configuration.key) : nil
    let connection = Connection(
      handle, isPrivate: path?.isEmpty ?? true, busyTimeout: configuration.busyTimeout,
      dateFormat: configuration.dateFormat, reporting: Reporting(configuration))
    connection.leftover = leftover
    if let key = configuration.key {
      EncryptionKey.silenceCipher
      let code = try key.withBytes { larder_key(handle, $0, $1) }
      guard code == SQLITE_OK else { throw connection.error(code) }
      connection.key = key
    }
    try harden(handle, configuration, connection.deadlines)
    try connection.installBoundRows()
    return connection
  }

  /// The file name that SQLite gets for a path. Debian's SQLite takes `file:…` as a URI unasked.
  private static func fileName(of path: String?, _ configuration: Configuration) throws -> String {
    guard let path else { return ":memory:" }
    let isPlain = !configuration.flags.contains(.uri) || !DatabaseURI.isURI(path)
    guard !path.utf8.contains(0), isPlain || !DatabaseURI.holdsNUL(path) else {
      throw DatabaseError(.cannotOpen, "the path contains NUL")
    }
    guard isPlain || !DatabaseURI.holdsKey(path) else {
      throw DatabaseError(.misuse, "a path can't hold a key: use Configuration.key")
    }
    if let vfs = configuration.vfs, vfs.utf8.contains(0) || sqlite3_vfs_find(vfs) == nil {
      throw DatabaseError(.error, "no such vfs: \(vfs)")
    }
    return isPlain && DatabaseURI.isURI(path) ? "./" + path : path
  }

  private static func openingError(
    _ code: Int32, _ handle: OpaquePointer?, path: String?, _ configuration: Configuration
  ) -> DatabaseError {
    var message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
    if let path { message += ": \(path)" }
    if let handle, case let number = sqlite3_system_errno(handle), number != 0 {
      message += " (\(String(cString: strerror(number))))"
    }
    var error = DatabaseError(ResultCode(rawValue: code), message)
    error.path = path.map(FileLocation.absolute)
    return configuration.reporting(error)
  }

  /// Sets what has to be in force before anything of the file is read.
  private static func harden(
    _ handle: OpaquePointer, _ configuration: Configuration, _ deadlines: DeadlineHandler
  ) throws {
    sqlite3_extended_result_codes(handle, 1)
    larder_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    larder_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, configuration.trustsSchema ? 1 : 0)
    let hasQuotedStrings: Int32 = configuration.allowsDoubleQuotedStrings ? 1 : 0
    larder_db_config(handle, SQLITE_DBCONFIG_DQS_DML, hasQuotedStrings)
    larder_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, hasQuotedStrings)
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, configuration.foreignKeys ? 1 : 0)
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    // `fts3_tokenizer` takes and returns pointers as blobs, and Debian builds SQLite with it.
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0)
    if configuration.profile == .untrustedFile {
      larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
      larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    }
    for (limit, value) in configuration.limits {
      sqlite3_limit(handle, limit.rawValue, Int32(clamping: max(0, value)))
    }
    for function in OwnFunctions.ofEachConnection { try function.install(on: handle) }
    if configuration.profile == .untrustedFile {
      for function in GuardedFunctions.functions(deadlines) { try function.install(on: handle) }
    }
    try FTS5.install(
      on: handle,
      trustsTables: !configuration.trustsSchema && configuration.profile != .untrustedFile)
  }
}

extension Reporting {
  init(_ configuration: Configuration) {
    self.init(
      log: configuration.errorLog, trace: configuration.trace,
      slowStatementThreshold: configuration.slowStatementThreshold,
      showsArguments: configuration.showsArguments, masksLiterals: configuration.masksLiterals)
  }
}

extension Database {
  func setUp(_ configuration: Configuration) throws {
    // An untrusted file can make SQLite compute for long in few steps.
    if configuration.profile == .untrustedFile { connection.deadlines.interval = 25 }
    statementDeadline = configuration.statementDeadline
    do {
      try verify(configuration)
      try checkApplicationID()
      try applySettings(configuration)
    } catch let error as DatabaseError {
      let message = error.message + (error.code == .notADatabase ? connection.keyAdvice : "")
      throw DatabaseError(
        error.extendedCode, message + (path.map { $0.isEmpty ? "" : ": " + $0 } ?? ""),
        sql: error.sql
      ).at(placeOf: error)
    }
    try loadExtensions()
    authorizer = configuration.authorizer
    try configuration.prepareDatabase?(self)
    clearStatementCache()
  }

  /// Reads the file's header, and checks the whole file if it isn't trusted.
  private func verify(_ configuration: Configuration) throws {
    try set("PRAGMA cell_size_check = ON")
    if configuration.profile == .untrustedFile {
      try executeUpdate("PRAGMA mmap_size = 0")
      let result = try value("PRAGMA quick_check(1)", as: String.self)
      guard result == "ok" else { throw Self.checkError(result ?? "no answer") }
    }
    try readEncoding()
  }

  /// Reads the encoding of the file's texts, and with it the header and the schema.
  func readEncoding() throws {
    connection.isUTF16 = try value("PRAGMA encoding", as: String.self) != "UTF-8"
  }

  /// Reads the encoding again, after all of the file was replaced.
  func noticeEncoding() {
    connection.knownSchema.mayChange()
    let former = connection.isUTF16
    try? readEncoding()
    if connection.isUTF16 != former { clearStatementCache() }
  }

  /// The error for a check's finding. A page that can't be read doesn't prove the file corrupt, but
  /// the check reports it in its text only: "Page 2: unable to get the page. error code=266".
  private static func checkError(_ finding: String) -> DatabaseError {
    let number = finding.split(separator: "error code=").dropFirst().last
    let code = ResultCode(rawValue: number.flatMap { Int32($0.prefix(while: \.isNumber)) } ?? 0)
    let isUnread = [.ioError, .noMemory].contains(code.primary)
    return DatabaseError(isUnread ? code : .corrupt, "the file fails SQLite's check: \(finding)")
  }

  private func applySettings(_ configuration: Configuration) throws {
    try set("PRAGMA cache_size = \(-max(1, configuration.cacheSize / 1024))")
    if let overwrites = configuration.secureDelete {
      try set("PRAGMA secure_delete = \(overwrites ? "ON" : "OFF")")
    }
    try setJournalMode(configuration)
    try set(
      """
      PRAGMA journal_size_limit = \(configuration.journalSizeLimit ?? -1);
      PRAGMA synchronous = \(ownSynchronous.rawValue)
      """)
  }

  /// Runs the library's own PRAGMAs directly. Parsing and compiling them as those of callers would
  /// take a third of the time of opening a database in memory.
  private func set(_ sql: String) throws {
    let code = sqlite3_exec(try connection.sqlite(), sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
  }

  /// The `synchronous` level that SQLite has to have in the current journal mode.
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
    // The change needs the file to itself; SQLite doesn't always call the busy handler for that.
    let deadline = MonotonicClock.now + configuration.busyTimeout
    while true {
      do {
        try executeUpdate(SQL(raw: "PRAGMA journal_mode = \(mode.rawValue)"))
        // This first read of the log happens in normal locking mode. If it happened in another,
        // SQLite could never return to normal.
        _ = try value("PRAGMA schema_version", as: Int.self)
        return
      } catch let error as DatabaseError where error.isBusy && MonotonicClock.now < deadline {
        BusyHandler.sleep()
      }
    }
  }
}
