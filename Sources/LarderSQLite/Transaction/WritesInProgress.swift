// Errors of statements that SQLite refuses while others write: they name those others.

extension Database {
  /// Runs a statement that begins, ends or commits a transaction or savepoint. If others still run, SQLite
  /// says no more than "SQL statements in progress"; the error names them.
  @inline(__always)
  func namingWrites(_ body: () throws -> Void) throws {
    do { try body() } catch { throw namingWrites(in: error) }
  }

  /// Adds to the error what is open for writing: blobs, and statements whose rows are still being read.
  private func namingWrites(in error: any Error) -> any Error {
    guard var known = error as? DatabaseError, known.code == .busy,
      known.message.hasSuffix("SQL statements in progress")
    else { return error }
    let blobs = openBlobs.filter { $0.pointer != nil && $0.place.isWritable }.map {
      "the blob \($0.place.table).\($0.place.column) of row \($0.place.row)"
    }
    let statements = open.filter { !$0.isReadOnly && ($0.state == .running || $0.state == .row) }
      .map {
        "“\(DatabaseError.cut($0.sql))”"
      }
    guard !blobs.isEmpty || !statements.isEmpty else { return error }
    known.message += ": close \((blobs + statements).joined(separator: ", ")) first"
    return known
  }
}
