import CSQLite

extension Connection {
  /// Compiles the only statement in a text. Throws where there is none, or more than one.
  func prepare(_ sql: String, isPersistent: Bool) throws -> PreparedStatement {
    let text = try SQLText(sql)
    let (handle, end) = try prepareFirst(of: text, from: 0, isPersistent: isPersistent)
    guard let handle else { throw DatabaseError(.misuse, "the SQL has no statement", sql: sql) }
    let statement = PreparedStatement(handle: handle, sql: sql, connection: self)
    guard try isEmpty(text, from: end) else {
      throw DatabaseError(
        .misuse, "the SQL has more than one statement; use executeStatements", sql: sql)
    }
    return statement
  }

  /// Compiles the first statement of a text from a position in bytes on: nil if there is none before
  /// the end of the text, with the position after it.
  func prepareFirst(
    of text: SQLText, from start: Int, isPersistent: Bool
  ) throws -> (handle: OpaquePointer?, end: Int) {
    let (code, handle, end) = try compileFirst(of: text, from: start, isPersistent: isPersistent)
    guard code == SQLITE_OK else {
      throw error(code, sql: text.string(from: start, to: text.endOfStatement(from: start)))
    }
    return (handle, end)
  }

  private func compileFirst(
    of text: SQLText, from start: Int, isPersistent: Bool
  ) throws -> (code: Int32, handle: OpaquePointer?, end: Int) {
    let database = try check()
    if isSchemaStale { forgetSchema() }
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    return text.bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let first = bytes.baseAddress else { return (SQLITE_OK, nil, start) }
        var handle: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          database, first + start, Int32(truncatingIfNeeded: bytes.count - start), flags, &handle,
          &tail)
        return (code, handle, tail.map { $0 - first } ?? text.count)
      }
    }
  }

  /// Whether a text holds nothing but space, comments and semicolons. Text that doesn't compile is a
  /// statement too, only a wrong one.
  private func isEmpty(_ text: SQLText, from start: Int) throws -> Bool {
    var position = start
    while position < text.count {
      let (code, handle, end) = try compileFirst(of: text, from: position, isPersistent: false)
      sqlite3_finalize(handle)
      // Not for what the text says.
      if [SQLITE_NOMEM, SQLITE_IOERR].contains(code & 0xff) {
        throw error(code, sql: text.string(from: start))
      }
      if code != SQLITE_OK || handle != nil { return false }
      position = end
    }
    return true
  }
}

/// SQL as SQLite reads it fastest: with a NUL at the end, and none before, so that it copies nothing
/// and the time for a batch doesn't grow with the square of its length.
struct SQLText {
  fileprivate let bytes: [UInt8]

  /// Throws for text that SQLite can't take.
  init(_ sql: String) throws {
    guard !sql.utf8.contains(0) else {
      throw DatabaseError(.misuse, "the SQL contains NUL, at which SQLite would stop reading")
    }
    bytes = Array(sql.utf8) + [0]
    guard bytes.count < Int32.max else {
      throw DatabaseError(.tooBig, "the SQL is longer than 2 GiB")
    }
  }

  /// The number of bytes.
  var count: Int { bytes.count - 1 }

  /// Where the statement that begins at a position ends, as far as that shows without compiling it:
  /// after a semicolon that isn't one in quotes, in a comment or in a trigger. Not looked for further
  /// than errors show, since each semicolon takes a look at all that comes before it.
  func endOfStatement(from start: Int) -> Int {
    var end = start
    let count = min(count, start + DatabaseError.longestText + 1)
    while let semicolon = bytes[end..<count].firstIndex(of: UInt8(ascii: ";")) {
      end = semicolon + 1
      if sqlite3_complete(string(from: start, to: end)) == 1 { return end }
    }
    return count
  }

  func string(from start: Int, to end: Int? = nil) -> String {
    String(decoding: bytes[start..<(end ?? count)], as: UTF8.self)
  }
}
