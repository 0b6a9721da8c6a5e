import LarderSQLite

extension Record {
  /// Inserts the rows of a selection without fetching them, and returns their number.
  ///
  /// ```swift
  /// try Archive.insert(
  ///   db, Archive.columns.name, Archive.columns.population,
  ///   from: City.filter { $0.isGone }.select { ($0.name, $0.population) })
  /// // INSERT INTO "archive" ("name", "population") SELECT "city"."name", … FROM "city" WHERE …
  /// ```
  ///
  /// Columns that aren't named get their defaults. The values are written as the selection's
  /// columns store them. Throws ``LarderSQLite/DatabaseError`` for a column that is generated or
  /// only read.
  @discardableResult
  public static func insert<each Value: DatabaseValueConvertible>(
    _ db: Database, _ columns: repeat Column<Self, each Value>,
    from selection: Selection<(repeat each Value)>
  ) throws -> Int {
    try table.core.check()
    var definitions: [ColumnDefinition] = []
    repeat definitions.append((each columns).definition)
    return try db.run(insertion(of: definitions, selection.fragment))
  }

  private static func insertion(
    of columns: [ColumnDefinition], _ selection: SQLFragment
  ) throws -> SQLFragment {
    if let column = columns.first(where: { !$0.isWritten }) {
      throw DatabaseError(.misuse, "“\(table.name)”.“\(column.name)” isn't written")
    }
    let names = SQLFragment.list(columns.map { SQLFragment(text: $0.name.quotedIdentifier) })
    return "INSERT INTO \(name: table.name) (\(names)) \(selection)"
  }
}
