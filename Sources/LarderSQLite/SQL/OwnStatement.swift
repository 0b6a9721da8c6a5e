import CSQLite

/// A statement of the library's own on a connection, which runs as SQLite has it: no check of the caller, no
/// cache, no report, no error. Its text has no effect beyond what the library wants, so compiling it is safe.
///
/// Pointer safety: the statement is finalized with this object, which lives no longer than the call of the
/// connection that makes it.
final class OwnStatement {
  private let handle: OpaquePointer?
  private(set) var code: Int32

  /// Compiles a statement, and binds texts to its parameters.
  init(_ sql: String, _ values: [String] = [], on database: OpaquePointer?) {
    var handle: OpaquePointer?
    code = sqlite3_prepare_v2(database, sql, -1, &handle, nil)
    self.handle = handle
    for (index, text) in values.enumerated() where code == SQLITE_OK {
      text.withBytes {
        _ = larder_bind_text_transient(handle, Int32(index + 1), $0.baseAddress, UInt64($0.count))
      }
    }
  }

  /// Takes over what compiling a statement without parameters has returned.
  init(_ handle: OpaquePointer?, _ code: Int32) {
    self.handle = handle
    self.code = code
  }

  deinit { sqlite3_finalize(handle) }

  /// Goes to the next row; false after the last one, and after an error.
  func next() -> Bool {
    guard code == SQLITE_OK || code == SQLITE_ROW else { return false }
    code = sqlite3_step(handle)
    return code == SQLITE_ROW
  }

  var columnCount: Int32 { sqlite3_column_count(handle) }

  /// The text of a column of the current row; nil for NULL. Bytes that aren't UTF-8 are replaced.
  subscript(column: Int32) -> String? {
    sqlite3_column_text(handle, column).map { String(cString: $0) }
  }

  /// The text of a column; empty for NULL.
  func text(_ column: Int32) -> String { self[column] ?? "" }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The first column of all rows; nil if the statement fails.
  func texts() -> [String]? {
    var texts: [String] = []
    while next() {
      if let text = self[0] { texts.append(text) }
    }
    return code == SQLITE_DONE ? texts : nil
  }
}
