import LarderSQLite

// Records of views: compares the view that a record reads with the database's.

extension Table {
  /// The ways the view in a database differs from this declaration: it has to exist and have these columns.
  func viewDifferences(_ db: Database) throws -> [TableDifference] {
    try core.check()
    func isSame(_ one: String, _ other: String) -> Bool {
      db.engine == nil ? one.foldedName == other.foldedName : one == other
    }
    let entries =
      try schema.map { try db.schema(of: $0) }
      ?? db.schema() + (db.engine == nil ? db.schema(of: "temp") : [])
    let entry = entries.last { [.table, .view].contains($0.kind) && isSame($0.name, name) }
    guard entry?.kind == .view else {
      return [TableDifference(kind: .view, table: name, declared: "a view", found: entry?.sql)]
    }
    let found = try db.columns(of: name, in: schema).map(\.name)
    let missing = columnNames.filter { column in !found.contains { isSame($0, column) } }
    let surplus = found.filter { column in !columnNames.contains { isSame($0, column) } }
    return missing.map {
      TableDifference(kind: .column, table: name, column: $0, declared: $0.quotedIdentifier)
    }
      + surplus.map {
        TableDifference(
          kind: .column, table: name, column: $0, found: $0.quotedIdentifier, isNote: true)
      }
  }
}

extension Schema {
  /// Whether a record reads a view of this name, or a table that should be a view.
  func isRead(_ name: String) -> Bool { views.contains { $0.foldedName == name.foldedName } }

  /// A difference for each view that records read and another schema doesn't have.
  func missingViews(in other: Schema) -> [TableDifference] {
    views.filter { view in
      !(other.others + others).contains {
        $0.kind == .view && $0.name.foldedName == view.foldedName
      } && !other.isRead(view)
    }.map {
      TableDifference(kind: .view, table: $0, declared: "a view", found: other.table($0)?.sql)
    }
  }
}
