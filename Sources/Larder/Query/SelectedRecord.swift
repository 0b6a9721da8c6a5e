import LarderSQLite

// Selecting another record of one of a query's tables, mostly one with fewer columns.

extension Query {
  /// Selects another record of one of the query's tables instead of the query's own rows: a part of the
  /// table's record, or one record of a join. See `Table.init(of:_:_:notStored:)`.
  ///
  /// ```swift
  /// City.join(Country.self) { $0.country == $1.code }.filter { $1.name == "Norway" }
  ///   .select(CityHead.self)
  /// // SELECT "city"."id", "city"."name" FROM "city" JOIN "country" ON … WHERE "country"."name" = ?
  /// ```
  ///
  /// Where the table is joined with itself, the rows are those of its first mention. The statement throws
  /// ``LarderSQLite/DatabaseError`` if the query has no such table.
  public func select<Part: Record>(_ part: Part.Type) -> Selection<Part> {
    let table = part.table
    let own = (From.self as? any Record.Type)?.core
    let alias =
      own.map { $0.name.isSame(as: table.name) ? select.tables.aliases.first : nil }
      ?? select.tables.aliases.first { $0.name.isSame(as: table.name) }
    let columns =
      alias.map { alias in
        SQLFragment.list(
          table.core.columns.map { SQLFragment(text: alias.prefix + $0.name.quotedIdentifier) })
      } ?? .misuse("the query has no table “\(table.name)” to select \(part) of")
    return Selection<Part>(
      select, columns, table.core.layout.properties, paged: { try PagedSelect($0, From.self) }
    ) { row in
      try table.core.check()
      let record = try table.read(row)
      if table.core.isInState(.uncheckedInitializer) { try table.checkInitializer(record) }
      return record
    }
  }
}
