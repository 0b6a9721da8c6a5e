import CSQLite

// The indexes that a statement lacks, found by trial.

extension Database {
  /// The indexes that would make a statement faster, since SQLite then searches rows that it now scans, or
  /// needn't sort. Empty if there are none. The statement doesn't run, and nothing is changed.
  ///
  /// ```swift
  /// for index in try db.suggestedIndexes(for: "SELECT * FROM city WHERE country = 'NO' ORDER BY population DESC") {
  ///   print(index.sql)   // CREATE INDEX "city_country_population" ON "city" ("country", "population")
  /// }
  /// ```
  ///
  /// Candidates are tried on an empty copy of the schema in memory, with the statistics of
  /// [ANALYZE](https://www.sqlite.org/lang_analyze.html) if there are any, and SQLite's planner chooses among
  /// them: milliseconds, whatever the size of the database. Bound values may be missing. The result doesn't
  /// consider that each index makes writes slower, nor that an index of few distinct values helps little.
  ///
  /// Throws ``DatabaseError`` for a statement that isn't valid, and ``UnsupportedByEngine`` if the engine
  /// isn't SQLite.
  public func suggestedIndexes(for sql: SQL) throws -> [IndexSchema] {
    try IndexAdvisor(self, sql).suggestions()
  }

  /// The suggested indexes, and the rows of the plan (EXPLAIN QUERY PLAN) that the statement would have with
  /// them.
  package func indexAdvice(for sql: SQL) throws -> (indexes: [IndexSchema], plan: [PlanRow]) {
    let advisor = try IndexAdvisor(self, sql)
    let indexes = try advisor.suggestions()
    return (indexes, try advisor.plan(with: indexes))
  }
}

/// Finds the indexes that a statement would use.
///
/// The planner itself chooses. First each column that the statement reads is tried alone, in a schema without
/// other indexes. This leaves the few columns that conditions, joins and orders are about. Then all pairs of
/// these are offered at once. An index that is chosen is offered with one more column, as long as the longer
/// one is chosen. In the end each is made as short as it can be while the plan stays as good.
private final class IndexAdvisor {
  private let source: Database
  private let copy: SchemaCopy
  private let sql: SQL
  private let text: [SQLPiece]
  private var lastCandidate = 0
  /// The most columns of a suggested index. More would narrow the search little.
  private static let mostTerms = 5
  /// The most columns of a table whose pairs are tried.
  private static let mostUseful = 12
  /// The most columns of a table that are tried alone.
  private static let mostColumns = 200

  init(_ source: Database, _ sql: SQL) throws {
    self.source = source
    copy = try SchemaCopy(of: source)
    var sql = sql
    // A caller may have only the text, without values.
    if sql.values.isEmpty {
      sql.values = Array(repeating: nil, count: try copy.database.prepare(sql).parameterCount)
    }
    sql.isCacheable = false
    self.sql = sql
    text = sql.text.sqlTokens
  }

  func suggestions() throws -> [IndexSchema] {
    let before = try plan()
    let terms = try usefulTerms()
    guard terms.contains(where: { !$0.terms.isEmpty }) else { return [] }
    var chosen: [IndexCandidate] = []
    try trying {
      var offered = terms.flatMap { table, terms in
        terms.map { candidate(table, [$0]) }
          + terms.flatMap { first in
            variants(of: terms).filter { $0.base != first.base }
              .map { candidate(table, [first, $0]) }
          }
      }
      for _ in 0..<Self.mostTerms {
        let used = try usedOnes(of: offered)
        guard Set(used.map(\.terms)) != Set(chosen.map(\.terms)) else { break }
        chosen = used
        offered =
          used
          + used.flatMap { used in
            variants(of: terms.first { $0.table == used.table }?.terms ?? []).filter { term in
              !used.terms.contains { $0.base == term.base }
            }.map { candidate(used.table, used.terms + [$0]) }
          }
      }
    }
    chosen = try shortened(chosen)
    guard try !chosen.isEmpty && before < plan(with: chosen) else { return [] }
    return try chosen.map { try schema(of: $0) }
  }

  // MARK: Trying

  /// Runs a closure, and undoes its changes of the copy.
  private func trying<T>(_ body: () throws -> T) throws -> T {
    try copy.database.inSavepoint { database in
      database.setRollbackOnly()
      return try body()
    }
  }

  private func plan() throws -> PlanQuality {
    PlanQuality(
      try copy.database.executeQuery("EXPLAIN QUERY PLAN \(sql)").map { try $0.get(at: 3) })
  }

  private func plan(with candidates: [IndexCandidate]) throws -> PlanQuality {
    try trying {
      try create(candidates)
      return try plan()
    }
  }

  func plan(with indexes: [IndexSchema]) throws -> [PlanRow] {
    try trying {
      for index in indexes { try copy.database.executeUpdate(SQL(raw: index.sql)) }
      return try copy.database.planRows(of: sql)
    }
  }

  private func create(_ candidates: [IndexCandidate]) throws {
    for candidate in candidates {
      try copy.database.executeUpdate(
        SQL(raw: candidate.sql(as: candidate.name, in: candidate.table.database)))
    }
  }

  /// The candidates that SQLite uses if it is offered all.
  private func usedOnes(of candidates: [IndexCandidate]) throws -> [IndexCandidate] {
    try trying {
      try create(candidates)
      let details = try plan().details
      return candidates.filter { candidate in
        details.contains { $0.split(separator: " ").contains(candidate.name[...]) }
      }
    }
  }

  /// Removes the candidates, and the columns at their ends, that don't make the plan better.
  private func shortened(_ candidates: [IndexCandidate]) throws -> [IndexCandidate] {
    var best = candidates
    var quality = try plan(with: best)
    for candidate in candidates {
      var kept: IndexCandidate? = candidate
      while let longer = kept {
        let shorter =
          longer.terms.count > 1
          ? self.candidate(longer.table, Array(longer.terms.dropLast())) : nil
        let others = best.filter { $0 != longer }
        let tried = others + (shorter.map { [$0] } ?? [])
        let found = try plan(with: tried)
        guard !(found < quality) else { break }
        (best, quality, kept) = (tried, found, shorter)
      }
      guard let kept else { continue }
      // Prefers ascending columns if descending ones aren't needed.
      let ascending = self.candidate(kept.table, kept.terms.map(\.ascending))
      let tried = best.map { $0 == kept ? ascending : $0 }
      if ascending.terms != kept.terms, try !(plan(with: tried) < quality) { best = tried }
    }
    return best
  }

  // MARK: Candidates

  private func candidate(_ table: Region.TableName, _ terms: [IndexCandidate.Term])
    -> IndexCandidate
  {
    lastCandidate += 1
    return IndexCandidate(name: "larder_candidate_\(lastCandidate)", table: table, terms: terms)
  }

  /// The terms, in both directions if the statement sorts anything in descending order. (The direction of the
  /// first column doesn't matter: an index is read both ways.)
  private func variants(of terms: [IndexCandidate.Term]) -> [IndexCandidate.Term] {
    guard text.contains(where: { $0.isWord("desc") }) else { return terms }
    return terms.flatMap { [$0, $0.descending] }
  }

  /// The columns and expressions that conditions, joins and orders are about, by table.
  private func usefulTerms() throws -> [(table: Region.TableName, terms: [IndexCandidate.Term])] {
    let columns = try readColumns()
    let collations = text.indices.dropFirst().compactMap { index in
      text[index - 1].isWord("collate") ? text[index].name : nil
    }
    let sorted = text.namesInOrders
    let expressions = text.functionCalls
    return try trying {
      try dropIndexes()
      let bare = try plan()
      var singles: [IndexCandidate] = []
      var useful: Set<IndexCandidate> = []
      for (table, columns) in columns {
        let bases =
          columns.map { IndexCandidate.Term(column: $0, base: $0.quotedIdentifier) }
          + expressions.map { IndexCandidate.Term(column: nil, base: $0) }
        for term in bases.flatMap({ base in [base] + collations.map { base.collated($0) } }) {
          let single = candidate(table, [term])
          // Views, virtual tables, and expressions of other tables' columns can't be indexed.
          guard let plan = try? plan(with: [single]) else { continue }
          singles.append(single)
          let isSorted = term.column.map { sorted.contains($0.foldedName) } ?? false
          if bare < plan || isSorted && term.collation == nil { useful.insert(single) }
        }
      }
      // Some are of use only together with others, such as those of alternatives (OR).
      useful.formUnion(try usedOnes(of: singles))
      return columns.map { table, _ in
        let terms = singles.filter { $0.table == table && useful.contains($0) }.map { $0.terms[0] }
        return (table, Array(terms.prefix(Self.mostUseful)))
      }
    }
  }

  /// The columns that the statement reads, in order, without the row id.
  private func readColumns() throws -> [(Region.TableName, [String])] {
    let connection = copy.database.connection
    let handle = try connection.sqlite()
    connection.authorizer.collectActions(on: handle)
    defer { connection.authorizer.stopCollecting(on: handle) }
    let text = try SQLText(sql.text)
    let (compiled, region) = try connection.collectingRegion(of: text, from: 0) {
      try connection.compileFirst(of: text)
    }
    sqlite3_finalize(compiled.handle)
    return (region?.reads.tables ?? [:]).sorted {
      ($0.key.database, $0.key.table) < ($1.key.database, $1.key.table)
    }
    .compactMap { name, part in
      guard let all = try? copy.database.columns(of: name.table, in: name.database) else {
        return nil
      }
      let key = all.filter { $0.primaryKeyPosition > 0 }
      let rowID = key.count == 1 && key[0].type.lowercased() == "integer" ? key[0].name : nil
      let columns = all.map(\.name).filter { column in
        column != rowID && part.columns?.contains(column.lowercased()) ?? true
      }
      return columns.isEmpty ? nil : (name, Array(columns.prefix(Self.mostColumns)))
    }
  }

  private func dropIndexes() throws {
    for database in copy.databases {
      let indexes = try copy.database.schema(of: database).filter { $0.kind == .index }
      for index in indexes {
        guard let words = index.sql?.sqlTokens.prefix(2), words.allSatisfy({ !$0.isWord("unique") })
        else { continue }
        try copy.database.executeUpdate(
          "DROP INDEX \(identifier: database).\(identifier: index.name)")
      }
    }
  }

  private func schema(of candidate: IndexCandidate) throws -> IndexSchema {
    let taken = Set(try source.schema(of: candidate.table.database).map(\.name.foldedName))
    let base = ([candidate.table.table] + candidate.terms.map { $0.column ?? "expression" })
      .joined(separator: "_")
    var name = base
    var number = 1
    while taken.contains(name.foldedName) {
      number += 1
      name = "\(base)_\(number)"
    }
    return IndexSchema(
      name: name, columns: candidate.terms.map(\.column), terms: candidate.terms.map(\.sql),
      isUnique: false, condition: nil,
      sql: candidate.sql(
        as: name,
        // Tables of these databases are found without the database's name.
        in: ["main", "temp"].contains(candidate.table.database) ? nil : candidate.table.database))
  }
}
