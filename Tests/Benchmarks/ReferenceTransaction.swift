import CSQLite
import LarderSQLite

/// A transaction of one statement on a connection of its own, all prepared once.
final class ReferenceTransaction {
  private let reference: Reference
  private let begin: OpaquePointer
  private let statement: OpaquePointer
  private let commit: OpaquePointer

  init(
    path: String, _ synchronous: Configuration.Synchronous, begin: String = "BEGIN IMMEDIATE",
    _ sql: String
  ) throws {
    reference = try Reference(path: path, isNew: false)
    try reference.execute("PRAGMA synchronous = \(synchronous.rawValue)")
    self.begin = try reference.prepare(begin)
    statement = try reference.prepare(sql)
    commit = try reference.prepare("COMMIT")
  }

  deinit { for statement in [begin, statement, commit] { sqlite3_finalize(statement) } }

  /// Runs it with the statement's only argument, if it takes one; returns the first column of the
  /// row, if there is one.
  @discardableResult
  func run(_ argument: Int? = nil) throws -> Int? {
    try step(begin)
    if let argument { sqlite3_bind_int64(statement, 1, Int64(argument)) }
    let result = try step(statement)
    try step(commit)
    return result
  }

  @inline(__always)
  @discardableResult
  private func step(_ statement: OpaquePointer) throws -> Int? {
    let code = sqlite3_step(statement)
    let result = code == SQLITE_ROW ? Int(sqlite3_column_int64(statement, 0)) : nil
    sqlite3_reset(statement)
    try reference.check(code)
    return result
  }
}
