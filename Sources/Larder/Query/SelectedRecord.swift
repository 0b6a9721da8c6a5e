import LarderSQLite

// Selecting a record of one of a query's tables: another one, mostly with fewer columns, or one with values beside it.

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

extension Query {
  /// Selects a record of one of the query's tables, as ``select(_:)-(Part.Type)`` does, and expressions beside it.
  ///
  /// ```swift
  /// City.select(City.self) { $0.population.real / 1000 }                   // [(City, Double)]
  /// Country.leftJoin(City.self) { $0.code == $1.country }
  ///   .group { country, _ in country.code }
  ///   .select(Country.self) { _, city in city.id.count() }                 // [(Country, Int)]
  /// ```
  public func select<Part: Record, each Value>(
    _ part: Part.Type,
    @SQLSelection _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(Part, repeat each Value)> {
    let (record, values) = (select(part), select(expressions))
    let (readRecord, readValues) = (record.read, values.read)
    let first = SelectionSource(record.accesses)
    let second = SelectionSource(values.accesses, behind: record.accesses.count)
    return Selection<(Part, repeat each Value)>(
      select, .list(record.columns.parts + values.columns.parts),
      record.accesses + values.accesses, paged: record.paged
    ) { row in
      let part = try readRecord(first.row(of: row))
      let values: (repeat each Value)
      do {
        values = try readValues(second.row(of: row))
      } catch let failure as ColumnFailure {
        throw ColumnFailure(column: first.count + failure.column, error: failure.error)
      }
      return (part, repeat each values)
    }
  }
}

extension SelectionSource {
  /// The columns behind others in a row.
  fileprivate init(_ accesses: [PropertyAccess], behind count: Int) {
    self.init(
      accesses, at: Positions(accesses.indices.map { Int32(truncatingIfNeeded: count + $0) }))
  }

  fileprivate var count: Int { layout.properties.count }

  /// These columns of a row with others.
  fileprivate func row(of row: RecordRow) -> RecordRow {
    RecordRow(row.statement, positions.first, layout, row.format)
  }
}
