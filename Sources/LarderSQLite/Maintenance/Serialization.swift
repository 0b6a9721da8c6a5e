import CSQLite

// Databases as bytes.

extension Database {
  /// The bytes that the database's file would have, with all that is committed and what this connection's
  /// transaction has changed so far. They are in memory twice while this runs.
  ///
  /// Throws `ResultCode.noMemory` if they don't fit, `ResultCode.error` if there is no such database, and
  /// ``UnsupportedByEngine`` if the engine isn't SQLite. See
  /// [sqlite3_serialize](https://www.sqlite.org/c3ref/serialize.html).
  ///
  /// - Parameter database: `main`, `temp`, or the name of an attached database.
  public func serialized(_ database: String = "main") throws -> [UInt8] {
    let handle = try connection.sqlite()
    guard !database.utf8.contains(0), sqlite3_db_readonly(handle, database) >= 0 else {
      throw DatabaseError(.error, "no such database: \(database)")
    }
    connection.recorder?.willRun(nil, writes: false)
    // SQLite serializes a page that it can't read as zeros (3.40). A backup fails instead, but it can't copy
    // what a transaction has changed so far, nor an encrypted database.
    if let file = sqlite3_db_filename(handle, database), file.pointee != 0, connection.key == nil,
      sqlite3_txn_state(handle, database) != SQLITE_TXN_WRITE
    {
      return try inMemory(database).bytes(of: "main")
    }
    return try bytes(of: database)
  }

  /// Copies a database into memory.
  private func inMemory(_ database: String) throws -> Database {
    let copy = try Database()
    let size = try value("PRAGMA \(identifier: database).page_size", as: Int.self) ?? 4096
    try copy.executeUpdate(SQL(raw: "PRAGMA page_size = \(size)"))
    // This read waits for others' locks, which a backup doesn't.
    let rows = try executeQuery("SELECT 1 FROM \(identifier: database).sqlite_schema")
    _ = try rows.next()
    defer { rows.close() }
    let (source, target) = (try connection.sqlite(), try copy.connection.sqlite())
    guard let backup = sqlite3_backup_init(target, "main", source, database) else {
      throw copy.connection.error(sqlite3_extended_errcode(target))
    }
    let (step, code) = connection.whileCalling {
      (sqlite3_backup_step(backup, -1), sqlite3_backup_finish(backup))
    }
    guard step == SQLITE_DONE, code == SQLITE_OK else {
      throw connection.error(step == SQLITE_DONE || step == SQLITE_OK ? code : step)
    }
    return copy
  }

  private func bytes(of database: String) throws -> [UInt8] {
    let handle = try connection.sqlite()
    var size: Int64 = 0
    let bytes = connection.whileCalling {
      connection.authorizer.whilePaused { sqlite3_serialize(handle, database, &size, 0) }
    }
    guard let bytes else {
      let code = sqlite3_extended_errcode(handle)
      // An empty database has no pages.
      if size == 0, code == SQLITE_OK { return [] }
      throw connection.error(code == SQLITE_OK ? SQLITE_NOMEM : code)
    }
    defer { sqlite3_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  /// Opens a database in memory with the bytes that ``serialized(_:)`` has returned, or those of a file. It
  /// grows as any other, unless the configuration makes it read-only.
  ///
  /// ```swift
  /// let copy = try Database(serialized: bytes)
  /// ```
  ///
  /// A queue in memory takes the content by `restore(from: copy)`. Bytes from elsewhere are for
  /// ``Configuration/Profile/untrustedFile``, as files are.
  ///
  /// Throws `ResultCode.notADatabase` for bytes that are no database, and what opening throws. See
  /// [sqlite3_deserialize](https://www.sqlite.org/c3ref/deserialize.html).
  public convenience init(
    serialized bytes: [UInt8], configuration: Configuration = .init()
  ) throws {
    self.init(
      connection: try ConnectionOpening.open(path: nil, configuration: configuration), path: nil,
      configuration: configuration)
    if !bytes.isEmpty { try deserialize(bytes) }
    try setUp(configuration)
  }

  private func deserialize(_ bytes: [UInt8]) throws {
    let handle = try connection.sqlite()
    // SQLite owns these bytes once they are passed on, and releases them also if that fails.
    guard
      let copy = sqlite3_malloc64(UInt64(bytes.count))?.assumingMemoryBound(to: UInt8.self)
    else { throw DatabaseError(.noMemory, "out of memory for \(bytes.count) bytes") }
    copy.update(from: bytes, count: bytes.count)
    // A database in memory can't have a write-ahead log: see the file format, bytes 18 and 19.
    if bytes.count >= 100, copy[18] == 2, copy[19] == 2 { (copy[18], copy[19]) = (1, 1) }
    let flags =
      SQLITE_DESERIALIZE_FREEONCLOSE
      | (configuration.readOnly ? SQLITE_DESERIALIZE_READONLY : SQLITE_DESERIALIZE_RESIZEABLE)
    let code = sqlite3_deserialize(
      handle, "main", copy, Int64(bytes.count), Int64(bytes.count), UInt32(flags))
    guard code == SQLITE_OK else { throw connection.error(code) }
    // Raises SQLite's default limit of one gibibyte.
    var limit = Int64(1) << 40
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit)
  }
}
