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
  /// ``LarderSQLite/DatabaseError`` if the query has no such table, and for a row that an outer join has without it:
  /// filter those out, or fetch the join, which has nil there.
  public func select<Part: Record>(_ part: Part.Type) -> Selection<Part> {
    let table = part.table
    let own = (From.self as? any Record.Type)?.core
    let alias =
      own.map { $0.name.isSame(as: table.name) ? select.tables.aliases.first : nil }
      ?? select.tables.aliases.first { $0.table.isSame(as: table.name) }
    let columns =
      alias.map { alias in
        SQLFragment.list(
          table.core.columns.map { SQLFragment(text: alias.prefix + $0.name.quotedIdentifier) })
      } ?? .misuse("the query has no table “\(table.name)” to select \(part) of")
    return Selection<Part>(
      select, columns, table.core.layout.properties, paged: { try PagedSelect($0, From.self) },
      read: present(part, RecordAndValues<Part>.reader))
  }

  /// Reads rows of a join, whose record of a table may be missing.
  private func present<Part: Record, Row>(
    _ part: Part.Type, _ read: @escaping @Sendable (RecordRow) throws -> Row
  ) -> @Sendable (RecordRow) throws -> Row {
    guard select.tables.aliases.count > 1 else { return read }
    let core = part.table.core
    let key = core.presenceColumns
    let positions = core.identity
    return { row in
      let isMissing = key.allSatisfy {
        ColumnReader(statement: row.statement, index: positions.first[$0], format: row.format)
          .isNull
      }
      guard !isMissing else {
        throw DatabaseError(
          .misuse,
          "a row of the join has no “\(core.name)” to select: filter such rows out, or fetch the join"
        )
      }
      return try read(row)
    }
  }
}

extension Query {
  /// Selects a record of one of the query's tables, as ``select(_:)-(Part.Type)`` does, and up to three values beside it.
  ///
  /// ```swift
  /// City.select(City.self) { $0.population.real / 1000 }                   // [(City, Double)]
  /// Country.leftJoin(City.self) { $0.code == $1.country }
  ///   .group { country, _ in country.code }.order { country, _ in country.name }
  ///   .select(Country.self) { _, city in city.id.count() }                 // [(Country, Int)]
  /// ```
  ///
  /// It is the last step: order, filter and group before it.
  public func select<Part: Record, Row>(
    _ part: Part.Type, @ValuesBesideRecord<Part> _ values: (From.QueryFields) -> SelectedMatch<Row>
  ) -> Mapped<Selection<Row>> {
    let (record, beside) = (select(part), scoped(values))
    return Mapped(
      Selection<Row>(
        select, .list(record.columns.parts + beside.builder.columns.parts),
        record.accesses + beside.builder.accesses, paged: record.paged,
        read: present(part, beside.read)))
  }
}

extension Record {
  /// See `Query.select`.
  public static func select<Part: Record, Row>(
    _ part: Part.Type,
    @ValuesBesideRecord<Part> _ values: (RecordFields<Self>) -> SelectedMatch<Row>
  ) -> Mapped<Selection<Row>> {
    all.select(part, values)
  }
}

// Not a pack of values: the compiler (Swift 6.3) can't take one apart behind a record, and crashes over a pack of one.
/// A result builder of the values beside a record.
@resultBuilder
@_documentation(visibility: internal)
public enum ValuesBesideRecord<Part: Record> {
  /// A record, with a value beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<A>(_ value: SQLExpression<A>) -> SelectedMatch<(Part, A)> {
    var columns = RecordAndValues<Part>()
    let a = columns.add(value)
    return columns.match { (try $0($1), try a($1)) }
  }

  /// A record, with two values beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<A, B>(
    _ values: (SQLExpression<A>, SQLExpression<B>)
  ) -> SelectedMatch<(Part, A, B)> {
    var columns = RecordAndValues<Part>()
    let (a, b) = (columns.add(values.0), columns.add(values.1))
    return columns.match { (try $0($1), try a($1), try b($1)) }
  }

  /// A record, with three values beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<A, B, C>(
    _ values: (SQLExpression<A>, SQLExpression<B>, SQLExpression<C>)
  ) -> SelectedMatch<(Part, A, B, C)> {
    var columns = RecordAndValues<Part>()
    let (a, b, c) = (columns.add(values.0), columns.add(values.1), columns.add(values.2))
    return columns.match { (try $0($1), try a($1), try b($1), try c($1)) }
  }

  /// The selection.
  @_documentation(visibility: internal)
  public static func buildBlock<Row>(_ match: SelectedMatch<Row>) -> SelectedMatch<Row> { match }
}

/// A record and the values beside it.
@_documentation(visibility: internal)
public struct SelectedMatch<Row> {
  let builder: SelectionBuilder
  let read: @Sendable (RecordRow) throws -> Row
}

/// The columns that are selected: a record's, then the values.
struct RecordAndValues<R: Record> {
  typealias Reader<Value> = @Sendable (RecordRow) throws -> Value

  private var builder = SelectionBuilder()
  /// How many columns are selected before those of the builder.
  private let first: Int
  private let record: Reader<R>

  /// A record that is selected by itself, before the values.
  init() {
    first = R.table.core.columns.count
    record = Self.reader
  }

  /// A record of one of the query's tables, whose columns are selected with the values.
  init(of alias: QueryAlias) {
    first = 0
    record = Self.reader
    let core = R.table.core
    for (column, access) in zip(core.columns, core.layout.properties) {
      builder.add(alias.column(column.name), access)
    }
  }

  /// Reads a record whose columns are a row's first.
  static var reader: Reader<R> {
    let table = R.table
    let positions = table.core.identity
    return { row in
      try table.core.check()
      let record = try table.read(
        RecordRow(row.statement, positions.first, table.core.layout, row.format))
      if table.core.isInState(.uncheckedInitializer) { try table.checkInitializer(record) }
      return record
    }
  }

  mutating func add<Value>(_ expression: SQLExpression<Value>) -> Reader<Value> {
    builder.add(expression)
    let index = first + builder.accesses.count - 1
    let (layout, positions) = (
      RecordLayout(Array(builder.accesses.suffix(1))), Positions([Int32(truncatingIfNeeded: index)])
    )
    return { row in
      let row = RecordRow(row.statement, positions.first, layout, row.format)
      return try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        guard let value = memory.baseAddress else { throw RecordLayout.noMemory() }
        do {
          try row.read(into: UnsafeMutableRawPointer(value))
        } catch let failure as ColumnFailure {
          throw ColumnFailure(column: index, error: failure.error)
        }
        // The layout has just put the value there.
        return value.move()
      }
    }
  }

  func match<Row>(
    _ row: @escaping @Sendable (Reader<R>, RecordRow) throws -> Row
  ) -> SelectedMatch<Row> {
    SelectedMatch(builder: builder) { [record] in try row(record, $0) }
  }
}
