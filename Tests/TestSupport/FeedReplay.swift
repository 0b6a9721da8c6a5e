import LarderSQLite

/// Does to a copy of a database what a feed tells that was done to the original.
package enum FeedReplay {
  /// A change of a row that the copy doesn't have.
  package struct MissingRow: Error {
    package let change: RowChange
  }

  /// Makes one change; the row is found by all its values. Tables without row ids have a first column that is
  /// called `k`, their key.
  package static func apply(_ change: RowChange, to copy: Database) throws {
    let table: SQL = "\(identifier: change.table)"
    if let old = change.old {
      let key: SQL = change.columns.first == "k" ? "k" : "rowid"
      var condition: SQL = "1"
      for (column, value) in zip(change.columns, old) {
        condition = "\(condition) AND \(identifier: column) IS \(value)"
      }
      let removed = try copy.executeUpdate(
        "DELETE FROM \(table) WHERE \(key) = (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT 1)"
      )
      guard removed == 1 else { throw MissingRow(change: change) }
    }
    if let new = change.new {
      let values = new.map { "\($0)" as SQL }.reduce("" as SQL) { list, value in
        list.text.isEmpty ? value : "\(list), \(value)"
      }
      try copy.executeUpdate("INSERT INTO \(table) VALUES (\(values))")
    }
  }

  /// The rows of a table in an order of their own.
  package static func rows(of table: String, in db: Database) throws -> [[DatabaseValue]] {
    try db.executeQuery("SELECT * FROM \(identifier: table) ORDER BY 1, 2").map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }
}
