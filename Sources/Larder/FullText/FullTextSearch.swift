import LarderSQLite

/// A pattern in an index, as a part of a query: FTS5's SQL, and where the engine has another,
/// what that writes.
final class FullTextSearch: Sendable {
  let index: FullTextDefinition
  let pattern: FullTextPattern.Node
  /// The record's table.
  let record: QueryAlias

  init(_ index: FullTextDefinition, _ pattern: FullTextPattern, _ record: QueryAlias) {
    self.index = index
    self.pattern = pattern.node
    self.record = record
  }

  /// How many bytes a pattern may have: FTS5 looks at each term of it anew for each that it adds.
  static let longestPattern = 10_000

  /// The query of all that is found. The index is gone through first, since the table finds rows by their key, and
  /// FTS5 would look for the pattern anew for each row.
  func select(_ tables: QueryTables) -> Select {
    if let error = index.declarationError {
      // There may be no such index, which would be the error.
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
      .form(.textSearch { table }, [table], SQLFragment(joined, .on, key)), .lowest)
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
      return part(alias.column("rank", isNullable: false), .rank(index.weights))
    }
    guard weights.count == index.columns.count, weights.allSatisfy(\.isFinite) else {
      return .misuse("there isn't a weight for each column of “\(index.name)”")
    }
    let arguments = [alias.column(index.name)] + weights.map { SQLFragment(value: $0) }
    return part("bm25(\(.list(arguments)))", .rank(weights))
  }

  /// A column's text with marks: all of it, or a part of so many terms.
  func marked(
    _ alias: QueryAlias, _ column: String, _ start: String, _ end: String,
    _ part: (ellipsis: String, tokens: Int)?
  ) -> SQLFragment {
    guard let number = index.columns.firstIndex(of: column) else {
      return .misuse("“\(column)” is no column of the full-text index “\(index.name)”")
    }
    guard index.storage != .contentless else {
      return .misuse("the full-text index “\(index.name)” has no texts that could be marked")
    }
    if !index.tokenizer.overlaps,
      [start, end, part?.ellipsis ?? ""].contains(where: { $0.utf8.contains(0) })
    {
      return .misuse("what marks a text has no NUL, which FTS5 takes for its end")
    }
    let table = alias.column(index.name)
    let marks = SQLFragment.list([
      SQLFragment(text: "\(number)"), SQLFragment(value: start), SQLFragment(value: end),
    ])
    let text: SQLFragment
    let prefix = SQLFragment(text: index.tokenizer.overlaps ? "larder_" : "")
    if let part {
      text = """
        \(prefix)snippet(\(table), \(marks), \(SQLFragment(value: part.ellipsis)), \
        \(SQLFragment(text: "\(part.tokens)")))
        """
    } else {
      text = "\(prefix)highlight(\(table), \(marks))"
    }
    return self.part("coalesce(\(text), '')", .marked(column, start, end, tokens: part?.tokens))
  }

  /// A part of the search, and which one it is for other engines.
  private func part(_ sqlite: SQLFragment, _ vectors: VectorPart) -> SQLFragment {
    SQLFragment(
      .form(.textSearch { [self] in vectorPart(vectors) }, [sqlite], sqlite), sqlite.precedence,
      isNullable: false)
  }

  // MARK: The pattern

  /// What keeps the pattern from being looked for in the index; nil for nothing.
  var refusal: (any Error)? {
    guard pattern.texts.reduce(0, { $0 + $1.utf8.count }) <= Self.longestPattern else {
      return DatabaseError(
        .tooBig, "a full-text pattern has no more than \(Self.longestPattern) bytes")
    }
    if let column = pattern.columns.first(where: { !index.columns.contains($0) }) {
      return DatabaseError(
        .misuse, "“\(column)” is no column of the full-text index “\(index.name)”")
    }
    // FTS5 would take it for the end.
    if pattern.hasRawNUL { return DatabaseError(.misuse, "a raw full-text pattern has a NUL") }
    if pattern == .tooDeep {
      return DatabaseError(
        .tooBig, "a full-text pattern has no more than \(FullTextPattern.deepest) levels")
    }
    return nil
  }

  private var argument: SQLFragment {
    refusal.map(SQLFragment.refused) ?? SQLFragment(value: pattern.expression)
  }
}
