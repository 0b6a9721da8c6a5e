// Optimistic locking: each update increments a version column, and updates and deletions find their row by
// key and version. A record that somebody else has changed since it was read is therefore stale.

import LarderSQLite

extension TableCore {
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

  /// The error for an update that changed no row.
  func missing(_ record: UnsafeRawPointer, _ db: Database) throws -> any Error {
    let key = key(of: record, db)
    // Only the key is read: the table may lack other columns.
    func isThere(by columns: [Int]) throws -> Bool {
      let found = RecordStatement(sql.find(sql.key, by: columns), in: db.dialect)
      return try withRows(of: found, record, db, for: []) { try $0.step() }
    }
    guard hasVersion || db.engine == nil, try isThere(by: sql.key) else {
      return RecordError.notFound(table: name, key: key)
    }
    guard let version = sql.version else { return skipped }
    let isSame = try db.engine == nil && isThere(by: sql.key + [version])
    return isSame ? skipped : RecordError.stale(table: name, key: key)
  }

  /// The error for a row that SQLite has left as it was, without an error.
  var skipped: DatabaseError {
    DatabaseError(
      .abort,
      """
      the row of “\(name)” wasn't written: a trigger skipped it (RAISE(IGNORE)), or a constraint that it breaks \
      did (ON CONFLICT IGNORE)
      """)
  }

  /// Whether there is a row with the record's key.
  func isThere(_ record: UnsafeRawPointer, _ db: Database) throws -> Bool {
    try withRows(of: find, record, db, for: .allColumns) { try $0.step() }
  }
}
