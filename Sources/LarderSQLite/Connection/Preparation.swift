import CSQLite

extension Connection {
  /// Compiles the only statement in a text. Throws where there is none, or more than one.
  func prepare(_ sql: String, isPersistent: Bool) throws -> PreparedStatement {
    let text = try SQLText(sql)
    let (statement, end) = try prepareFirst(
      of: text, from: 0, isPersistent: isPersistent, sql: sql)
    guard let statement else {
      throw DatabaseError(.misuse, "the SQL has no statement", sql: sql)
    }
    guard text.isEmpty(from: end) else {
      throw DatabaseError(
        .misuse, "the SQL has more than one statement; use executeStatements", sql: sql)
    }
    return statement
  }

  /// Compiles the first statement of a text from a position in bytes on: nil if there is none before
  /// the end of the text, with the position after it. Nothing of it happens before it runs.
  ///
  /// - Parameter sql: what the statement is to call its text; nil for the part of the text.
  func prepareFirst(
    of text: SQLText, from start: Int, isPersistent: Bool, sql: String? = nil
  ) throws -> (statement: PreparedStatement?, end: Int) {
    let kind = StatementKind(of: text, from: start)
    if case .scopeSavepoint = kind {
      throw DatabaseError(
        .misuse, "the savepoint “\(TransactionControl.savepointName)” is the scopes' own",
        sql: text.string(from: start, to: text.endOfStatement(from: start)))
    }
    let (code, handle, end) =
      if case .pragma(let pragma) = kind, pragma.acts {
        try compileBlanked(pragma, from: start)
      } else {
        try compileFirst(of: text, from: start, isPersistent: isPersistent)
      }
    guard code == SQLITE_OK else {
      throw error(code, sql: text.string(from: start, to: text.endOfStatement(from: start)))
    }
    let statement = handle.map {
      PreparedStatement(
        handle: $0, sql: sql ?? text.string(from: start, to: end), kind: kind, connection: self)
    }
    return (statement, end)
  }

  /// Compiles one of the statements that scopes are made of.
  func prepare(_ control: TransactionControl) throws -> PreparedStatement {
    let (code, handle, _) = try compileFirst(
      of: try SQLText(control.sql), isPersistent: true)
    guard code == SQLITE_OK, let handle else { throw error(code, sql: control.sql) }
    return PreparedStatement(
      handle: handle, sql: control.sql, kind: .ordinary, connection: self)
  }

  private func compileBlanked(
    _ pragma: Pragma, from start: Int
  ) throws -> (code: Int32, handle: OpaquePointer?, end: Int) {
    let (code, handle, end) = try compileFirst(of: pragma.blanked)
    return (code, handle, start + end)
  }

  /// Has SQLite compile the first statement of a text from a position on.
  func compileFirst(
    of text: SQLText, from start: Int = 0, isPersistent: Bool = false
  ) throws -> (code: Int32, handle: OpaquePointer?, end: Int) {
    let database = try check()
    if isSchemaStale { forgetSchema() }
    return text.compile(on: database, from: start, isPersistent: isPersistent)
  }
}

/// SQL as SQLite reads it fastest: with a NUL at the end, and none before, so that it copies nothing
/// and the time for a batch doesn't grow with the square of its length.
struct SQLText {
  let bytes: [UInt8]

  /// Takes bytes that are SQL already, with a NUL at the end.
  init(bytes: [UInt8]) { self.bytes = bytes }

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

  /// Compiles the first statement from a position on, and tells where it ends. This is where SQLite
  /// is handed SQL: whatever has an effect while it is compiled must not get here before it runs.
  func compile(
    on database: OpaquePointer, from start: Int = 0, isPersistent: Bool = false
  ) -> (code: Int32, handle: OpaquePointer?, end: Int) {
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    return bytes.withUnsafeBufferPointer { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let first = bytes.baseAddress else { return (SQLITE_OK, nil, start) }
        var handle: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
          database, first + start, Int32(truncatingIfNeeded: bytes.count - start), flags, &handle,
          &tail)
        return (code, handle, tail.map { $0 - first } ?? count)
      }
    }
  }

  /// Whether there is nothing but space, comments and semicolons from a position on. Anything else
  /// is a statement, if only a wrong one.
  func isEmpty(from start: Int) -> Bool {
    var scanner = SQLScanner(bytes, from: start, to: count)
    while let token = scanner.nextToken() {
      if bytes[token.range.lowerBound] != UInt8(ascii: ";") { return false }
    }
    return true
  }

  func string(from range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  func string(from start: Int, to end: Int? = nil) -> String {
    String(decoding: bytes[start..<(end ?? count)], as: UTF8.self)
  }
}
