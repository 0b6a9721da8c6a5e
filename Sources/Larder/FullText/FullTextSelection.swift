import LarderSQLite

// Selections of found records with expressions beside each. (The compiler of Swift 6.3 can't take apart a
// pack of expressions behind a record, nor choose between a pack of either and one of expressions.)

extension Query {
  /// The records that are found, with an expression beside each.
  ///
  /// ```swift
  /// City.matching(City.text, .phrase("new york"))
  ///   .select { ($0, $0.highlight(\.name, mark: "[", "]"), $0.rank) }     // [(City, String, Double)]
  /// ```
  public func select<R: Record, A: DatabaseValueConvertible>(
    _ parts: (FullTextFields<R>) -> (FullTextFields<R>, SQLExpression<A>)
  ) -> Selection<(R, A)> where From == FullTextMatch<R> {
    var columns = RecordAndValues<R>(select.tables)
    let (_, first) = scoped(parts)
    let a = columns.add(first)
    return columns.selection(select) { (try $0($1), try a($1)) }
  }

  /// The records that are found, with two expressions beside each.
  public func select<R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible>(
    _ parts: (FullTextFields<R>) -> (FullTextFields<R>, SQLExpression<A>, SQLExpression<B>)
  ) -> Selection<(R, A, B)> where From == FullTextMatch<R> {
    var columns = RecordAndValues<R>(select.tables)
    let (_, first, second) = scoped(parts)
    let (a, b) = (columns.add(first), columns.add(second))
    return columns.selection(select) { (try $0($1), try a($1), try b($1)) }
  }

  /// The records that are found, with three expressions beside each.
  public func select<
    R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible, C: DatabaseValueConvertible
  >(
    _ parts: (FullTextFields<R>) -> (
      FullTextFields<R>, SQLExpression<A>, SQLExpression<B>, SQLExpression<C>
    )
  ) -> Selection<(R, A, B, C)> where From == FullTextMatch<R> {
    var columns = RecordAndValues<R>(select.tables)
    let (_, first, second, third) = scoped(parts)
    let (a, b, c) = (columns.add(first), columns.add(second), columns.add(third))
    return columns.selection(select) { (try $0($1), try a($1), try b($1), try c($1)) }
  }
}

/// The columns that are selected: a record's, then the expressions.
private struct RecordAndValues<R: Record> {
  typealias Reader<Value> = @Sendable (RecordRow) throws -> Value

  private var list: [SQLFragment]
  private var accesses: [PropertyAccess]
  private let record: Reader<R>

  init(_ tables: QueryTables) {
    let table = R.table
    var columns = QueryColumns(tables)
    let positions = columns.add(table.core)
    list = columns.list.parts
    accesses = table.core.layout.properties
    record = { row in
      let record = try table.read(
        RecordRow(row.statement, positions.first, table.core.layout, row.format))
      if table.core.isInState(.uncheckedInitializer) { try table.checkInitializer(record) }
      return record
    }
  }

  mutating func add<Value: DatabaseValueConvertible>(
    _ expression: SQLExpression<Value>
  ) -> Reader<Value> {
    let access = expression.node.coding?.access(for: Value.self) ?? .value(Value.self)
    let index = accesses.count
    let (layout, positions) = (
      RecordLayout([access]), Positions([Int32(truncatingIfNeeded: index)])
    )
    list.append(expression.node)
    accesses.append(access)
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

  func selection<Row>(
    _ select: Select, _ row: @escaping @Sendable (Reader<R>, RecordRow) throws -> Row
  ) -> Selection<Row> {
    Selection(select, .list(list), accesses) { [record] in try row(record, $0) }
  }
}
