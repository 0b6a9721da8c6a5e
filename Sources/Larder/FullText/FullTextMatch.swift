import LarderSQLite

/// What a query of ``Record/matching(_:_:)`` reads from: a record's table, with what was found of it.
@_documentation(visibility: internal)
public enum FullTextMatch<R: Record>: SingleSource {
  /// The record's columns, and the match.
  @_documentation(visibility: internal)
  public typealias QueryFields = FullTextFields<R>
  /// Records.
  @_documentation(visibility: internal)
  public typealias QueryRow = R
  /// Nothing: a row that isn't there matches nothing.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Never

  /// The columns as expressions.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> FullTextFields<R> {
    let record = R.queryTables(&names)
    return FullTextFields(record: record, alias: names.next())
  }

  /// Reads records.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> R {
    let read = R.queryReader(&columns)
    // The index has no columns that are read.
    columns.tableIndex += 1
    return read
  }
}

extension Record {
  /// The records in which a pattern is found, by a full-text index.
  ///
  /// ```swift
  /// City.matching(City.text, .allPrefixes(of: "zur")).order { $0.rank }
  /// // SELECT … FROM "city_text" CROSS JOIN "city" ON "city"."id" = "city_text".rowid
  /// // WHERE "city_text"."city_text" MATCH ? ORDER BY "city_text"."rank"
  /// ```
  ///
  /// It is a query as any other, whose closures' first parameter also has ``FullTextFields/rank``,
  /// ``FullTextFields/snippet(_:mark:_:ellipsis:tokens:)`` and ``FullTextFields/highlight(_:mark:_:)``; it can be
  /// joined, counted, limited and paged. To update or delete what is found,
  /// see ``RecordFields/matching(_:_:)``.
  public static func matching(
    _ index: FullTextIndex<Self>, _ pattern: FullTextPattern
  ) -> Query<FullTextMatch<Self>> {
    let tables = table.core.queryTables
    let search = FullTextSearch(index.definition, pattern, tables.aliases[0])
    return Query(search.select(tables))
  }
}

extension RecordFields {
  /// Whether a pattern is found in the row, by a full-text index: as a condition of any query, UPDATE or DELETE.
  ///
  /// ```swift
  /// City.filter { $0.matching(City.text, .all(of: "bern")) }.delete(db)
  /// // DELETE FROM "city" WHERE "city"."id" IN
  /// // (SELECT rowid FROM "city_text" WHERE "city_text" MATCH ?)
  /// ```
  public func matching(
    _ index: FullTextIndex<R>, _ pattern: FullTextPattern
  ) -> SQLExpression<Bool> {
    SQLExpression(FullTextSearch(index.definition, pattern, alias).condition)
  }
}

/// The columns of a record's table in a query of ``Record/matching(_:_:)``, and what is known of the match.
@dynamicMemberLookup
public struct FullTextFields<R: Record>: Sendable {
  let record: RecordFields<R>
  let alias: QueryAlias

  /// A column.
  public subscript<Value>(
    dynamicMember keyPath: KeyPath<R.Columns, Column<R, Value>>
  ) -> SQLExpression<Value> {
    record[dynamicMember: keyPath]
  }

  /// Whether another pattern is found in the row, by whatever index; see ``RecordFields/matching(_:_:)``.
  public func matching(
    _ index: FullTextIndex<R>, _ pattern: FullTextPattern
  ) -> SQLExpression<Bool> {
    record.matching(index, pattern)
  }

  private var search: FullTextSearch? { alias.source as? FullTextSearch }

  /// How well the row matches: the less, the better. It is
  /// [bm25](https://www.sqlite.org/fts5.html#the_bm25_function) with the index's weights, which is negative, and
  /// depends on all rows.
  public var rank: SQLExpression<Double> {
    SQLExpression(search?.rank(alias) ?? .noSearch)
  }

  /// The same with other weights, one for each column of the index.
  public func rank(weights: [Double]) -> SQLExpression<Double> {
    SQLExpression(search?.rank(alias, weights) ?? .noSearch)
  }

  /// A column's text around what was found, which is marked; empty where the column is NULL. See
  /// [snippet](https://www.sqlite.org/fts5.html#the_snippet_function).
  ///
  /// Of a text with NUL a part may be left out by tokenizers of SQLite's that part texts into words. The text isn't
  /// escaped: for HTML, mark with control characters, and replace these after escaping.
  ///
  /// - `start`, `end`: what stands before and behind.
  /// - `ellipsis`: what stands where text is left out.
  /// - `tokens`: how many words at most, 1 to 64.
  public func snippet<Value>(
    _ column: KeyPath<R.Columns, Column<R, Value>>, mark start: String, _ end: String,
    ellipsis: String = "…", tokens: Int = 16
  ) -> SQLExpression<String> {
    let name = R.columns[keyPath: column].name
    return SQLExpression(
      search?.marked(alias, name, start, end, (ellipsis, min(max(tokens, 1), 64))) ?? .noSearch)
  }

  /// A column's whole text, in which what was found is marked; empty where the column is NULL. See
  /// [highlight](https://www.sqlite.org/fts5.html#the_highlight_function), and
  /// ``snippet(_:mark:_:ellipsis:tokens:)``.
  public func highlight<Value>(
    _ column: KeyPath<R.Columns, Column<R, Value>>, mark start: String, _ end: String
  ) -> SQLExpression<String> {
    let name = R.columns[keyPath: column].name
    return SQLExpression(search?.marked(alias, name, start, end, nil) ?? .noSearch)
  }
}

extension SQLFragment {
  fileprivate static var noSearch: SQLFragment { .misuse("there is no full-text search here") }
}
