import Larder
import TestSupport

/// A copy of a database that is made by a feed alone.
///
/// What makes it Sendable: one task applies, and another one compares once that has ended.
final class FeedCopy: @unchecked Sendable {
  private let copy: Database
  private var count = 0
  static let tables = ["counter", "item", "part", "word"]

  init(_ schema: SQL) throws {
    copy = try Database()
    try copy.executeStatements(schema)
    try copy.executeUpdate("PRAGMA foreign_keys = OFF")
  }

  /// Does what a transaction has done; rows are found by all their values.
  func apply(_ transaction: CommittedChanges<RowChange>, _ ledger: ObservationRow.Ledger) throws {
    for change in transaction.changes {
      let table: SQL = "\(identifier: change.table)"
      if let old = change.old {
        let key: SQL = change.table == "word" ? "k" : "rowid"
        var condition: SQL = "1"
        for (column, value) in zip(change.columns, old) {
          condition = "\(condition) AND \(identifier: column) IS \(value)"
        }
        let removed = try copy.executeUpdate(
          "DELETE FROM \(table) WHERE \(key) = (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT 1)"
        )
        if removed != 1 { ledger.fail("\(change.table) has no row \(old)") }
      }
      if let new = change.new {
        let list = new.map { "\($0)" as SQL }.reduce("" as SQL) { list, value in
          list.text.isEmpty ? value : "\(list), \(value)"
        }
        try copy.executeUpdate("INSERT INTO \(table) VALUES (\(list))")
      }
      if change.table == "counter", let value = change.new?.last {
        count += 1
        if value != .integer(Int64(count)) { ledger.fail("commit \(count) is told as \(value)") }
      }
    }
  }

  func compare(with pool: DatabasePool, _ ledger: ObservationRow.Ledger) async throws {
    for table in Self.tables {
      let expected = try await pool.read { try Self.rows(of: table, $0) }
      if try Self.rows(of: table, copy) != expected { ledger.fail("\(table) isn't the same") }
    }
  }

  private static func rows(of table: String, _ db: Database) throws -> [[DatabaseValue]] {
    try db.executeQuery(SQL(raw: "SELECT * FROM \(table) ORDER BY 1, 2")).map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }
}
