import CSQLite

// The columns of a prepared statement, which are others once SQLite has compiled it anew.

extension PreparedStatement {
  /// SQLite compiles a statement anew when the schema has changed, in its first step. Throws where a table has become
  /// one that doesn't fit its declaration.
  @inline(__always)
  func updateColumns(_ handle: OpaquePointer) throws {
    let generation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
    if generation != namesGeneration { try updateColumns(handle, generation) }
  }

  private func updateColumns(_ handle: OpaquePointer, _ generation: Int32) throws {
    namesGeneration = generation
    names = nil
    columnCount = Int(sqlite3_column_count(handle))
    guard let lookedAt else { return }
    let number = checkedMark & 0xffff_ffff
    checkedMark = 0
    guard isDeclared else { return }
    try connection.knownSchema.whileLooking(connection) { try lookedAt.check(on: connection) }
    checkedMark = connection.schemaMark | number
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
