import FoundationEssentials
import LarderSQLite

// The timestamps of records that are about to be written, which are set before their hooks run.

extension Table {
  /// Sets the timestamps of a record that is about to be inserted, and calls its hook.
  @usableFromInline
  func willInsert(_ record: inout R, _ db: Database, at now: Date? = nil) throws {
    if core.hasTimestamps {
      try stamp(&record, core.sql.created + core.sql.updated, now ?? ColumnTimestamp.now, db)
    }
    try hooks?.willInsert(&record, db)
  }

  /// Sets the timestamps of a record that is about to be updated, and calls its hook.
  @usableFromInline
  func willUpdate(_ record: inout R, _ db: Database) throws {
    if core.hasTimestamps { try stamp(&record, core.sql.updated, ColumnTimestamp.now, db) }
    try hooks?.willUpdate(&record, db)
  }

  private func stamp(
    _ record: inout R, _ columns: [Int], _ now: Date, _ db: Database
  ) throws {
    for column in columns {
      guard let timestamp = core.columns[column].timestamp else { continue }
      let date = try timestamp.kept(now, db.dateFormat)
      switch core.layout.properties[column].keyPath {
      case let keyPath as WritableKeyPath<R, Date>: record[keyPath: keyPath] = date
      case let keyPath as WritableKeyPath<R, Date?>: record[keyPath: keyPath] = date
      default: break
      }
    }
  }

  /// Gives a record that wasn't written the timestamps that it had.
  func unstamp(_ record: inout R, as before: R) {
    for column in core.sql.updated {
      switch core.layout.properties[column].keyPath {
      case let keyPath as WritableKeyPath<R, Date>:
        record[keyPath: keyPath] = before[keyPath: keyPath]
      case let keyPath as WritableKeyPath<R, Date?>:
        record[keyPath: keyPath] = before[keyPath: keyPath]
      default: break
      }
    }
  }
}
