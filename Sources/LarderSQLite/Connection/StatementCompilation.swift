import CSQLite

// A prepared statement after the schema has changed: SQLite compiles it anew in its first step.

extension PreparedStatement {
  /// Finds out whether SQLite has compiled the statement anew. Throws where a table has become one that doesn't fit its
  /// declaration.
  @inline(__always)
  func updateColumns(_ handle: OpaquePointer) throws {
    let current = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
    if generation != current { try updateColumns(handle, current) }
  }

  private func updateColumns(_ handle: OpaquePointer, _ current: Int32) throws {
    noteCompilation(handle, current)
    guard let lookedAt else { return }
    let number = checkedMark & 0xffff_ffff
    checkedMark = 0
    guard isDeclared else { return }
    try connection.knownSchema.whileLooking(connection) { try lookedAt.check(on: connection) }
    checkedMark = connection.schemaMark | number
  }

  private func noteCompilation(_ handle: OpaquePointer, _ current: Int32) {
    generation = current
    names = nil
    columnCount = Int(sqlite3_column_count(handle))
    guard parameterCount > 0, !isOutdated else { return }
    // SQLite does it for a value, too, such as the pattern of a LIKE: then each time, which is right.
    do {
      try connection.knownSchema.refresh(connection)
      isOutdated = compiledMark != connection.schemaMark
    } catch {
      isOutdated = true
    }
  }

  /// The same where the first step has failed, whose message SQLite still has.
  func noteFailure(_ handle: OpaquePointer) {
    if generation != sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0) {
      isOutdated = true
    }
  }

  /// Compiles the statement before it gets other values, after SQLite has done so itself for a changed schema.
  ///
  /// SQLite plans with the values that are bound at that moment: by `status = ?` with 'open' it uses an index
  /// `WHERE status = 'open'`. Whether other values ask for another plan it remembers from the first compilation only
  /// (seen in 3.40 and 3.51, no longer in 3.54), when there may have been nothing to remember: rows are then missing.
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
    let made =
      engine.map { ColumnNames($0.columnNames) } ?? ColumnNames(handle, count: columnCount)
    names = made
    return made
  }

  /// A reader of a column of the row that the statement stands on.
  @usableFromInline @inline(__always)
  package func reader(at index: Int) -> ColumnReader {
    ColumnReader(
      statement: arena.statement, index: Int32(truncatingIfNeeded: index),
      format: arena.format)
  }
}
