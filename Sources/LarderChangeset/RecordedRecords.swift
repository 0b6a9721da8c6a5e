import Larder

extension Database {
  /// Records a closure's changes of some records' tables, as `record(_:isPatchset:_:)` does for tables by
  /// their names. Throws as that does, and what the closure throws.
  ///
  /// ```swift
  /// let changeset = try db.record(City.self, Country.self) { db in try edit(db) }
  /// ```
  public func record(
    _ type: any Record.Type, _ more: any Record.Type..., isPatchset: Bool = false,
    _ body: (Database) throws -> Void
  ) throws -> Changeset {
    try record(tables: ([type] + more).map { $0.tableName }, isPatchset: isPatchset, body)
  }
}

extension Changeset {
  /// Calls a closure for each change of a record's table. Values that an update left as they were are read
  /// from the database, by the row's key.
  ///
  /// - Parameters:
  ///   - type: the type of the records.
  ///   - database: one in which the changes were made. Updates of rows that it lacks are left out.
  ///   - body: called with each change.
  ///
  /// Throws what reading a record and the closure throw, and `ResultCode.corrupt` for no changeset.
  public func forEach<R: Record>(
    _ type: R.Type, in database: Database, _ body: (RecordChange<R>) throws -> Void
  ) throws {
    let table = R.table.name
    let decoder = try RecordDecoder(database.dateFormat)
    let columns = try database.columns(of: table).map(\.name)
    try forEach { row in
      guard row.table.foldedName == table.foldedName else { return }
      var values: [DatabaseValue] = []
      if row.kind == .update {
        var condition: SQL = "1"
        for index in row.primaryKey {
          guard let key = row.old[index] ?? row.new[index], columns.indices.contains(index) else {
            return
          }
          condition = "\(condition) AND \(identifier: columns[index]) IS \(key)"
        }
        let found = try database.executeQuery(
          "SELECT * FROM \(identifier: table) WHERE \(condition)")
        defer { found.close() }
        guard try found.next() else { return }
        values = try columns.indices.map { try found.get(at: $0) }
      }
      func complete(_ part: [DatabaseValue?]) -> [DatabaseValue] {
        part.indices.map { part[$0] ?? (values.indices.contains($0) ? values[$0] : .null) }
      }
      let old = row.kind == .insert ? nil : complete(row.old)
      let new = row.kind == .delete ? nil : complete(row.new)
      try body(try decoder.change(R.self, columns, old, new))
    }
  }
}
