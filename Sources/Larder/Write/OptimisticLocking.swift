// Optimistic locking: each update increments a version column, and updates and deletions find their row by
// key and version. A record that somebody else has changed since it was read is therefore stale.

import LarderSQLite

extension TableCore {
  @usableFromInline var hasVersion: Bool { sql.version != nil }

  /// Throws if the record's version is the greatest possible one: SQLite would turn the greatest integer
  /// plus one into a REAL.
  func checkVersion(_ record: UnsafeRawPointer, _ db: Database) throws {
    guard let version = sql.version, let greatest = columns[version].greatestVersion,
      case .integer(let number) = try layout.value(of: version, in: record, db.dateFormat),
      number >= greatest
    else { return }
    let error = ColumnFailure(column: version, error: ConversionError(.notExact, Int64.self))
    throw describe(error, writing: record, db, sql: update.text)
  }

  /// Increments the record's version, as its row's was.
  @usableFromInline
  func raiseVersion(_ record: UnsafeMutableRawPointer, _ db: Database) throws {
    guard let version = sql.version,
      case .integer(let old) = try layout.value(of: version, in: record, db.dateFormat)
    else { return }
    try set(record, version, old &+ 1, db, sql: update.text)
  }

  /// The error for an update or deletion that found no row with the record's key and version.
  func missing(_ record: UnsafeRawPointer, _ db: Database) throws -> RecordError {
    let key = key(of: record, db)
    if sql.version != nil, try isThere(record, db) { return .stale(table: name, key: key) }
    return .notFound(table: name, key: key)
  }

  /// Whether there is a row with the record's key.
  func isThere(_ record: UnsafeRawPointer, _ db: Database) throws -> Bool {
    try withRows(of: find, record, db, for: .allColumns) { try $0.step() }
  }
}
