import LarderSQLite

/// The source of the query ``Record/matching(_:_:)``: a record's table together with the matches in it.
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
    // The index has no columns to read, so it is skipped.
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
  /// It is a query like any other, whose closures' first parameter also has ``FullTextFields/rank`` and
  /// marked texts. To update or delete the rows that it finds, see ``RecordFields/matching(_:_:)``.
  public static func matching(
    _ index: FullTextIndex<Self>, _ pattern: FullTextPattern
  ) -> Query<FullTextMatch<Self>> {
    let tables = table.core.queryTables
    let search = FullTextSearch(index.definition, pattern, tables.aliases[0])
    return Query(search.select(tables))
  }
}

extension RecordFields {
  /// Whether a pattern is found in the row, by a full-text index: a condition of any query, UPDATE or DELETE.
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

/// The columns of a record's table in a query of ``Record/matching(_:_:)``, with
/// the match's rank and marked texts.
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

  /// Whether another pattern is found in the row, by any index; see ``RecordFields/matching(_:_:)``.
  public func matching(
    _ index: FullTextIndex<R>, _ pattern: FullTextPattern
  ) -> SQLExpression<Bool> {
    record.matching(index, pattern)
  }

  private var search: FullTextSearch? { alias.source as? FullTextSearch }

  /// How well the row matches: the lower, the better. The rank is
  /// [bm25](https://www.sqlite.org/fts5.html#the_bm25_function) with the index's
  /// weights. It is negative, and depends on all rows.
  ///
  /// In a query of a record with a property of this name it throws `ResultCode.misuse`, since one could be taken for
  /// the other: `$0.rank(weights: [])` is the match's rank there, and `$0[dynamicMember: \.rank]` the column.
  public var rank: SQLExpression<Double> {
    if search?.index.hasOwnRank == true {
      return SQLExpression(
        .misuse(
          "“\(R.table.name)” has a property rank of its own: write $0[dynamicMember: \\.rank] for it, and "
            + "$0.rank(weights: []) for how well a row matches"))
    }
    return rank(weights: [])
  }

  /// The rank with other weights, one for each column of the index; with the index's own if there are none.
  public func rank(weights: [Double]) -> SQLExpression<Double> {
    SQLExpression(search?.rank(alias, weights) ?? .noSearch)
  }

  /// An excerpt of a column's text around the matches, which are marked; empty where the column is NULL. See
  /// [snippet](https://www.sqlite.org/fts5.html#the_snippet_function).
  ///
  /// It takes linear time, which FTS5's own doesn't. The text isn't escaped: for HTML, mark with control characters,
  /// and replace these after escaping.
  ///
  /// - `start`, `end`: the marks before and after a match.
  /// - `ellipsis`: the text in the place of text that is left out.
  /// - `tokens`: the maximum number of words, 1 to 64.
  public func snippet<Value>(
    _ column: KeyPath<R.Columns, Column<R, Value>>, mark start: String, _ end: String,
    ellipsis: String = "…", tokens: Int = 16
  ) -> SQLExpression<String> {
    let name = R.columns[keyPath: column].name
    return SQLExpression(
      search?.marked(alias, name, start, end, (ellipsis, min(max(tokens, 1), 64))) ?? .noSearch)
  }

  /// A column's whole text, in which the matches are marked; empty where the column is NULL. See
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
  fileprivate static var noSearch: SQLFragment { .misuse("the query has no full-text search") }
}
