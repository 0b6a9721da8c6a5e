import CSQLite

extension Connection {
  /// Compiles the only statement in a text. Throws where there is none, or more than one.
  func prepare(_ sql: String, isPersistent: Bool) throws -> PreparedStatement {
    var text = sql
    return try text.withUTF8 { bytes in
      let (handle, length) = try prepareFirst(in: bytes, isPersistent: isPersistent)
      guard let handle else { throw DatabaseError(.misuse, "the SQL has no statement", sql: sql) }
      let statement = PreparedStatement(handle: handle, sql: sql, connection: self)
      guard try isEmpty(UnsafeBufferPointer(rebasing: bytes[length...])) else {
        throw DatabaseError(
          .misuse, "the SQL has more than one statement; use executeStatements", sql: sql)
      }
      return statement
    }
  }

  /// Compiles the first statement in a text: nil if there is none before its end, with the number
  /// of bytes that it takes.
  func prepareFirst(
    in bytes: UnsafeBufferPointer<UInt8>, isPersistent: Bool
  ) throws -> (handle: OpaquePointer?, length: Int) {
    let database = try check()
    guard let count = Int32(exactly: bytes.count) else {
      throw DatabaseError(.tooBig, "the SQL is longer than 2 GiB")
    }
    guard !bytes.contains(0) else {
      throw DatabaseError(.misuse, "the SQL contains NUL, at which SQLite would stop reading")
    }
    var handle: OpaquePointer?
    var length = bytes.count
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = bytes.withMemoryRebound(to: CChar.self) { text in
      var tail: UnsafePointer<CChar>?
      // An empty text has no address, which SQLite would take for misuse.
      let start = text.baseAddress
      guard let start else { return SQLITE_OK }
      let code = sqlite3_prepare_v3(database, start, count, flags, &handle, &tail)
      if let tail { length = tail - start }
      return code
    }
    guard code == SQLITE_OK else { throw error(code, sql: String(decoding: bytes, as: UTF8.self)) }
    return (handle, length)
  }

  /// Whether a text holds nothing but space, comments and semicolons.
  private func isEmpty(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      // Text that doesn't compile is a second statement too, only a wrong one.
      guard let (handle, length) = try? prepareFirst(in: rest, isPersistent: false) else {
        return false
      }
      if let handle {
        sqlite3_finalize(handle)
        return false
      }
      rest = UnsafeBufferPointer(rebasing: rest[length...])
    }
    return true
  }
}
