import Larder

// Calls of table-valued functions in queries.

extension TableFunction {
  /// The function's rows for these arguments, as a table that a query reads from or joins. See
  /// `CommonTable`.
  ///
  /// ```swift
  /// let series = TableFunction("series") { (from: Int, to: Int) in from...to }
  /// try series(1, 12).all.leftJoin(Sale.self) { $0.columns == $1.month }.fetchAll(db)
  /// // … FROM "series"(?, ?) AS "series" LEFT JOIN "sale" ON "series"."value" = "sale"."month"
  /// ```
  ///
  /// The connection has to know the function: register it by `createFunction` in
  /// `Configuration.prepareDatabase`.
  public func callAsFunction(_ argument: repeat each Argument) -> CommonTable<Row>
  where Row: DatabaseValueConvertible {
    var arguments: [SQLFragment] = []
    repeat arguments.append(SQLFragment(value: each argument))
    return CommonTable(calling: name, arguments, columns: columns)
  }

  /// The same for rows of several columns.
  public func callAsFunction<each Value: DatabaseValueConvertible>(
    _ argument: repeat each Argument
  ) -> CommonTable<repeat each Value> where Row == (repeat each Value) {
    var arguments: [SQLFragment] = []
    repeat arguments.append(SQLFragment(value: each argument))
    return CommonTable(calling: name, arguments, columns: columns)
  }

  /// The same with expressions as arguments, such as columns of the table that the function is joined to:
  ///
  /// ```swift
  /// try City.all.join(each: { words($0.name) }).select { city, word in (city.id, word.columns) }
  /// // … FROM "city" JOIN "words"("city"."name") AS "words" ON TRUE
  /// ```
  @_disfavoredOverload  // literals are expressions, too
  public func callAsFunction(
    _ argument: repeat SQLExpression<each Argument>
  ) -> CommonTable<Row> where Row: DatabaseValueConvertible {
    var arguments: [SQLFragment] = []
    repeat arguments.append((each argument).node)
    return CommonTable(calling: name, arguments, columns: columns)
  }

  /// The same for rows of several columns.
  @_disfavoredOverload
  public func callAsFunction<each Value: DatabaseValueConvertible>(
    _ argument: repeat SQLExpression<each Argument>
  ) -> CommonTable<repeat each Value> where Row == (repeat each Value) {
    var arguments: [SQLFragment] = []
    repeat arguments.append((each argument).node)
    return CommonTable(calling: name, arguments, columns: columns)
  }
}

extension Query where From: SingleSource {
  /// Joins each row with the rows that a table-valued function of its columns returns; see
  /// ``LarderVirtualTables/TableFunction``.
  public func join<Other: QueryTable>(
    @TableOfEach each rows: (From.QueryFields) -> Other
  ) -> Query<Join2<From, Other>> {
    joined(each: scoped(rows).definition)
  }
}

extension Record {
  /// Joins each row with the rows that a table-valued function of its columns returns.
  public static func join<Other: QueryTable>(
    @TableOfEach each rows: (RecordFields<Self>) -> Other
  ) -> Query<Join2<Self, Other>> {
    all.join(each: rows)
  }
}

/// A result builder that has the compiler type-check the closure of `join(each:)` on its own. Together with
/// the steps around it, the compiler didn't find the table's columns.
@resultBuilder
@_documentation(visibility: internal)
public enum TableOfEach {
  /// The table.
  @_documentation(visibility: internal)
  public static func buildExpression<Table: QueryTable>(_ table: Table) -> Table { table }
  /// The table.
  @_documentation(visibility: internal)
  public static func buildBlock<Table: QueryTable>(_ table: Table) -> Table { table }
}
