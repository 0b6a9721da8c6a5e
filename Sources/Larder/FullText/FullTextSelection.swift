import LarderSQLite

// Selections of found records with expressions beside each. (The compiler of Swift 6.3 can't take apart a
// pack of expressions behind a record, nor choose between a pack of either and one of expressions.)

extension Query {
  /// The records that are found, with up to three expressions beside each.
  ///
  /// ```swift
  /// City.matching(City.text, .phrase("new york"))
  ///   .select { ($0, $0.highlight(\.name, mark: "[", "]"), $0.rank) }     // [(City, String, Double)]
  /// ```
  public func select<R: Record, Row>(
    @MatchSelection _ parts: (FullTextFields<R>) -> SelectedMatch<Row>
  ) -> Selection<Row> where From == FullTextMatch<R> {
    let match = scoped(parts)
    return Selection(
      select, match.builder.columns, match.builder.accesses,
      paged: { try PagedSelect($0, From.self) }, read: match.read)
  }
}

/// A result builder of a found record and the expressions beside it.
@resultBuilder
@_documentation(visibility: internal)
public enum MatchSelection {
  /// A found record, with an expression beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<R: Record, A: DatabaseValueConvertible>(
    _ parts: (FullTextFields<R>, SQLExpression<A>)
  ) -> SelectedMatch<(R, A)> {
    var columns = RecordAndValues(parts.0)
    let a = columns.add(parts.1)
    return columns.match { (try $0($1), try a($1)) }
  }

  /// A found record, with two expressions beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<
    R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible
  >(
    _ parts: (FullTextFields<R>, SQLExpression<A>, SQLExpression<B>)
  ) -> SelectedMatch<(R, A, B)> {
    var columns = RecordAndValues(parts.0)
    let (a, b) = (columns.add(parts.1), columns.add(parts.2))
    return columns.match { (try $0($1), try a($1), try b($1)) }
  }

  /// A found record, with three expressions beside it.
  @_documentation(visibility: internal)
  public static func buildExpression<
    R: Record, A: DatabaseValueConvertible, B: DatabaseValueConvertible, C: DatabaseValueConvertible
  >(
    _ parts: (FullTextFields<R>, SQLExpression<A>, SQLExpression<B>, SQLExpression<C>)
  ) -> SelectedMatch<(R, A, B, C)> {
    var columns = RecordAndValues(parts.0)
    let (a, b, c) = (columns.add(parts.1), columns.add(parts.2), columns.add(parts.3))
    return columns.match { (try $0($1), try a($1), try b($1), try c($1)) }
  }

  /// The selection.
  @_documentation(visibility: internal)
  public static func buildBlock<Row>(_ match: SelectedMatch<Row>) -> SelectedMatch<Row> { match }
}

/// A found record and the expressions beside it.
@_documentation(visibility: internal)
public struct SelectedMatch<Row> {
  let builder: SelectionBuilder
  let read: @Sendable (RecordRow) throws -> Row
}

/// The columns that are selected: a record's, then the expressions.
private struct RecordAndValues<R: Record> {
  typealias Reader<Value> = @Sendable (RecordRow) throws -> Value

  private var builder = SelectionBuilder()
  private let record: Reader<R>

  init(_ fields: FullTextFields<R>) {
    let table = R.table
    let positions = table.core.identity
    for (column, access) in zip(table.core.columns, table.core.layout.properties) {
      builder.add(fields.record.alias.column(column.name), access)
    }
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
    let index = builder.accesses.count
    let (layout, positions) = (
      RecordLayout([access]), Positions([Int32(truncatingIfNeeded: index)])
    )
    builder.add(expression.node, access)
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
