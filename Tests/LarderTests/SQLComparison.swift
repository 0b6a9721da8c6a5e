import Larder
import Testing

/// Compares typed queries with SQL by hand, on one database.
struct SQLComparison {
  let db: Database

  private func rows(_ sql: SQL) throws -> [[DatabaseValue]] {
    try db.executeQuery(sql).map { row in try (0..<row.columnCount).map { try row[$0] } }
  }

  /// Expects that a query finds the same rows as SQL by hand, at least one, and that its rows can be read.
  func expect(
    _ query: some QueryStatement, _ sql: SQL, at place: SourceLocation = #_sourceLocation
  ) throws {
    let (found, expected) = (try rows(query.sql(for: db)), try rows(sql))
    #expect(found == expected, sourceLocation: place)
    #expect(!found.isEmpty, sourceLocation: place)
    #expect(try query.fetchAll(db).count == found.count, sourceLocation: place)
  }

  /// Expects that a change has the same effect on some rows as SQL by hand. Both are undone.
  func expectChange(
    of selected: SQL, _ sql: SQL, at place: SourceLocation = #_sourceLocation,
    _ change: (Database) throws -> Void
  ) throws {
    let changed = try rows(selected, after: change)
    let expected = try rows(selected) { try $0.executeUpdate(sql) }
    #expect(changed == expected, sourceLocation: place)
    #expect(try changed != rows(selected), "nothing has changed", sourceLocation: place)
  }

  private func rows(
    _ selected: SQL, after change: (Database) throws -> Void
  ) throws -> [[DatabaseValue]] {
    struct Undo: Error {}
    var found: [[DatabaseValue]] = []
    do {
      try db.inTransaction { db in
        try change(db)
        found = try rows(selected)
        throw Undo()
      }
    } catch is Undo {}
    return found
  }
}
