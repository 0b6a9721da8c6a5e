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
    let (code, handle, length) = try compileFirst(in: bytes, isPersistent: isPersistent)
    guard code == SQLITE_OK else { throw error(code, sql: String(decoding: bytes, as: UTF8.self)) }
    return (handle, length)
  }

  private func compileFirst(
    in bytes: UnsafeBufferPointer<UInt8>, isPersistent: Bool
  ) throws -> (code: Int32, handle: OpaquePointer?, length: Int) {
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
      // An empty text has no address, which SQLite would take for misuse.
      guard let start = text.baseAddress else { return SQLITE_OK }
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(database, start, count, flags, &handle, &tail)
      if let tail { length = tail - start }
      return code
    }
    return (code, handle, length)
  }

  /// Whether a text holds nothing but space, comments and semicolons. Text that doesn't compile is a
  /// statement too, only a wrong one.
  private func isEmpty(_ bytes: UnsafeBufferPointer<UInt8>) throws -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let (code, handle, length) = try compileFirst(in: rest, isPersistent: false)
      sqlite3_finalize(handle)
      if code != SQLITE_OK || handle != nil { return false }
      rest = UnsafeBufferPointer(rebasing: rest[length...])
    }
    return true
  }
}
