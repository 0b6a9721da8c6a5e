import CSQLite

// Recompilation of prepared statements: SQLite does it in the first step after the schema has changed.

extension PreparedStatement {
  /// Checks whether SQLite has recompiled the statement. Throws if a table doesn't fit its declaration any
  /// more.
  @inline(__always)
  func updateColumns() throws {
    let current = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
    if _slowPath(generation != current) { try updateColumns(current) }
  }

  @inline(never)
  private func updateColumns(_ current: Int32) throws {
    noteCompilation(current)
    guard let checkedTables else { return }
    let number = checkedMark & 0xffff_ffff
    checkedMark = 0
    guard isDeclared else { return }
    try connection.knownSchema.whileLooking(connection) { try checkedTables.check(on: connection) }
    checkedMark = connection.schemaMark | number
  }

  private func noteCompilation(_ current: Int32) {
    generation = current
    names = nil
    columnCount = Int(sqlite3_column_count(handle))
    guard parameterCount > 0, !isOutdated else { return }
    // SQLite recompiles for some values, too, such as the pattern of a LIKE. It does so each time, so that is
    // right.
    do {
      try connection.knownSchema.refresh(connection)
      isOutdated = compiledMark != connection.schemaMark
    } catch {
      isOutdated = true
    }
  }

  /// Notes a recompilation, if the first step has failed. Calls nothing that would replace SQLite's message.
  func noteFailure() {
    if generation != sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0) {
      isOutdated = true
    }
  }

  /// Recompiles the statement before it gets other values, after SQLite has done so itself for a changed
  /// schema.
  ///
  /// SQLite plans with the values that are bound at that moment: for `status = ?` with 'open' it uses an
  /// index `WHERE status = 'open'`. It remembers only from the first compilation whether other values need
  /// another plan (seen in 3.40 and 3.51, no longer in 3.54). If there was nothing to remember then, rows are
  /// missing.
  func renew() throws {
    reset()
    let compiled = try connection.compileFirst(of: SQLText(sql), isPersistent: true)
    guard compiled.code == SQLITE_OK, let new = compiled.handle else {
      throw connection.error(compiled.code, sql: sql)
    }
    replaceHandle(by: new)
  }

  /// The columns' names, as of the last step or, before one, of the preparation.
  @usableFromInline
  package var columnNames: ColumnNames {
    if let names { return names }
    let made = ColumnNames(engine?.columnNames ?? sqliteColumnNames)
    names = made
    return made
  }

  private var sqliteColumnNames: [String] {
    guard let handle else { return [] }
    return (0..<columnCount).map { index in
      let name = sqlite3_column_name(handle, Int32(truncatingIfNeeded: index))
      return name.map { String(cString: $0) } ?? ""
    }
  }

  var sqliteParameterNames: [String?] {
    (0..<parameterCount).map { index in
      sqlite3_bind_parameter_name(handle, Int32(truncatingIfNeeded: index + 1))
        .map { String(cString: $0) }
    }
  }

  /// A reader of a column of the row that the statement stands on.
  @usableFromInline @inline(__always)
  package func reader(at index: Int) -> ColumnReader {
    ColumnReader(
      statement: arena.statement, index: Int32(truncatingIfNeeded: index), format: arena.format)
  }
}
