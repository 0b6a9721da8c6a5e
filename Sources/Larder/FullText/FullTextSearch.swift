import LarderSQLite

/// A search for a pattern in an index, as a part of a query: in FTS5's SQL, or as another engine writes it.
package final class FullTextSearch: Sendable {
  /// The part of a search that a query asks for.
  package struct Part: Sendable {
    package enum Kind: Hashable, Sendable {
      /// The record's table, joined with the index.
      case table
      case matches
      case rank([Double])
      case marked(String, String, String, tokens: Int?)
    }

    package let search: FullTextSearch
    package let kind: Kind
  }

  package let index: FullTextDefinition
  package let pattern: FullTextPattern.Node
  /// The record's table.
  let record: QueryAlias

  init(_ index: FullTextDefinition, _ pattern: FullTextPattern, _ record: QueryAlias) {
    self.index = index
    self.pattern = pattern.node
    self.record = record
  }

  /// A column of the record's table.
  package func column(_ name: String) -> SQLFragment { record.column(name) }

  /// The most bytes that a pattern may have: for each term that FTS5 adds, it goes through all terms again.
  static let longestPattern = 10_000

  /// The query for all matches. The index is the outer loop, since the table finds rows by their key, whereas
  /// FTS5 would search for the pattern again for each row.
  func select(_ tables: QueryTables) -> Select {
    if let error = index.declarationError {
      // The index isn't read, since its absence would be reported instead of this error.
      var select = Select(QueryTables(tables.text, tables.aliases + [QueryAlias(index.name)]))
      select.add(condition: .refused(error))
      return select
    }
    let taken = tables.aliases.map(\.name) + (QueryScope.isInside ? QueryScope.names : [])
    let alias = QueryAlias(QueryAlias.newName(for: index.name, besides: taken), source: self)
    let key = SQLFragment(
      record.column(index.key, isNullable: false), .equal, SQLFragment(text: alias.prefix + "rowid")
    )
    let joined = SQLFragment(alias.definition(of: index.name), .crossJoin, tables.text)
    let table = tables.text
    let text = SQLFragment(
      .form(.textSearch(Part(search: self, kind: .table)), [table], SQLFragment(joined, .on, key)),
      .lowest)
    var select = Select(QueryTables(text, tables.aliases + [alias]))
    select.add(condition: match(alias.column(index.name)))
    return select
  }

  /// Whether the row with the record's key is found.
  var condition: SQLFragment {
    if let error = index.declarationError { return .refused(error) }
    let rows: SQLFragment =
      "(SELECT rowid FROM \(name: index.name) WHERE \(match("\(name: index.name)")))"
    return part(
      SQLFragment(record.column(index.key, isNullable: false), .in, rows), .matches)
  }

  private func match(_ table: SQLFragment) -> SQLFragment {
    part("\(table) MATCH \(argument)", .matches)
  }

  func rank(_ alias: QueryAlias, _ weights: [Double] = []) -> SQLFragment {
    if weights.isEmpty {
      // SQLite 3.40 crashes where rows in the order of this column are marked, the index has less than all details, and a
      // part of the pattern has no term.
      let rank =
        index.detail == .full
        ? alias.column("rank", isNullable: false)
        : "bm25(\(.list([alias.column(index.name)] + index.weights.map { SQLFragment(value: $0) })))"
      return part(rank, .rank(index.weights))
    }
    guard weights.count == index.columns.count, weights.allSatisfy(\.isFinite) else {
      return .misuse("the weights have to be finite, one for each column of “\(index.name)”")
    }
    let arguments = [alias.column(index.name)] + weights.map { SQLFragment(value: $0) }
    return part("bm25(\(.list(arguments)))", .rank(weights))
  }

  /// A column's text with marks: all of it, or an excerpt of so many terms.
  func marked(
    _ alias: QueryAlias, _ column: String, _ start: String, _ end: String,
    _ part: (ellipsis: String, tokens: Int)?
  ) -> SQLFragment {
    guard let number = index.columns.firstIndex(of: column) else {
      return .misuse("“\(column)” isn't a column of the full-text index “\(index.name)”")
    }
    guard index.storage != .contentless else {
      return .misuse(
        "the full-text index “\(index.name)” doesn't store its texts, so none can be marked")
    }
    let table = alias.column(index.name)
    let marks = SQLFragment.list([
      SQLFragment(text: "\(number)"), SQLFragment(value: start), SQLFragment(value: end),
    ])
    let text: SQLFragment
    if let part {
      text = """
        snippet(\(table), \(marks), \(SQLFragment(value: part.ellipsis)), \
        \(SQLFragment(text: "\(part.tokens)")))
        """
    } else {
      text = "highlight(\(table), \(marks))"
    }
    return self.part("coalesce(\(text), '')", .marked(column, start, end, tokens: part?.tokens))
  }

  /// A part of the search in SQLite's SQL, and the one that other engines write in its place.
  private func part(_ sqlite: SQLFragment, _ kind: Part.Kind) -> SQLFragment {
    SQLFragment(
      .form(.textSearch(Part(search: self, kind: kind)), [sqlite], sqlite), sqlite.precedence,
      isNullable: false)
  }

  // MARK: The pattern

  /// The error that keeps the search from running; nil if there is none.
  package var refusal: (any Error)? {
    guard pattern.texts.reduce(0, { $0 + $1.utf8.count }) <= Self.longestPattern else {
      return DatabaseError(
        .tooBig, "a full-text pattern can't have more than \(Self.longestPattern) bytes")
    }
    if let column = pattern.columns.first(where: { !index.columns.contains($0) }) {
      return DatabaseError(
        .misuse, "“\(column)” isn't a column of the full-text index “\(index.name)”")
    }
    // FTS5 would take the NUL for the end.
    if pattern.hasRawNUL {
      return DatabaseError(.misuse, "a raw full-text pattern can't contain a NUL")
    }
    if pattern == .tooDeep {
      return DatabaseError(
        .tooBig, "a full-text pattern can't have more than \(FullTextPattern.deepest) levels")
    }
    return nil
  }

  private var argument: SQLFragment {
    refusal.map(SQLFragment.refused) ?? SQLFragment(value: pattern.expression)
  }
}
