import CSQLite

// Compiles SQL into prepared statements.

extension Connection {
  /// Compiles the only statement in a text. Throws if there is none, or more than one.
  package func prepare(_ sql: String, isPersistent: Bool) throws -> PreparedStatement {
    if let engine { return try prepare(sql, by: engine) }
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

  /// Compiles the first statement of a text from a position in bytes on. Returns it, or nil if there is none
  /// before the end of the text, with the position after it. It has no effect before it runs.
  ///
  /// - Parameter sql: the text that the statement reports as its own; nil for its part of the text.
  func prepareFirst(
    of text: SQLText, from start: Int, isPersistent: Bool, sql: String? = nil
  ) throws -> (statement: PreparedStatement?, end: Int) {
    let kind = StatementKind(of: text, from: start)
    try EncryptionKey.refuse(in: kind)
    if case .scopeSavepoint = kind {
      throw Self.savepointError(text.string(from: start, to: text.endOfStatement(from: start)))
    }
    let ((code, handle, end), region) = try collectingRegion(of: text, from: start) {
      guard case .pragma(let pragma) = kind, pragma.acts else {
        return try compileFirst(of: text, from: start, isPersistent: isPersistent)
      }
      let (code, handle, end) = try compileFirst(of: pragma.blanked)
      return (code, handle, start + end)
    }
    guard code == SQLITE_OK else {
      let sql = text.string(from: start, to: text.endOfStatement(from: start))
      let reason = self.handle.map { String(cString: sqlite3_errmsg($0)) } ?? ""
      throw error(code, sql: sql) {
        quotingAdvice(for: sql, kind, code) ?? trustAdvice(for: sql, kind, reason)
      }
    }
    let statement = handle.map {
      PreparedStatement(
        handle: $0, sql: sql ?? text.string(from: start, to: end), kind: kind, connection: self)
    }
    // SQLite doesn't report what a PRAGMA changes.
    if case .pragma(let pragma) = kind, pragma.acts { region?.writes.isEverything = true }
    // Nor does it report all that VACUUM, ANALYZE and REINDEX do.
    if case .ordinary = kind, statement?.isReadOnly == false { region?.writes.isEverything = true }
    statement?.region = region
    return (statement, end)
  }

  func prepare(_ control: TransactionControl) throws -> PreparedStatement {
    let text = try SQLText(control.sql)
    let ((code, handle, _), region) = try collectingRegion(of: text, from: 0) {
      try compileFirst(of: text, isPersistent: true)
    }
    guard code == SQLITE_OK, let handle else { throw error(code, sql: control.sql) }
    let statement = PreparedStatement(
      handle: handle, sql: control.sql, kind: .ordinary, connection: self)
    statement.region = region
    return statement
  }

  func compileFirst(
    of text: SQLText, from start: Int = 0, isPersistent: Bool = false
  ) throws -> SQLText.Compiled {
    let database = try sqlite()
    if isSchemaStale { forgetSchema() }
    var compiled = text.compile(on: database, from: start, isPersistent: isPersistent)
    // Each of the two is so at most once.
    while compiled.code != SQLITE_OK,
      hasMissedFunctions(after: compiled.code) || makesUsable(after: compiled.code)
    {
      compiled = text.compile(on: database, from: start, isPersistent: isPersistent)
    }
    return compiled
  }
}
