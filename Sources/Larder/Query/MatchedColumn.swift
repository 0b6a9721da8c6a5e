import LarderSQLite

/// A column whose values are matched with the keys of other records, as a join matches them: by the
/// collation that the records' own column declares, or else by this column's.
struct MatchedColumn {
  private let table: String
  private let name: String
  /// The other column's collation, where it isn't this one's.
  private let collation: String?

  /// Throws where one of the columns isn't there.
  init(_ core: TableCore, _ column: String, to other: TableCore, _ key: String) throws {
    let own = core.columns[try core.index(of: column)].collation
    let others = other.columns[try other.index(of: key)].collation
    table = core.name
    name = column
    collation = others?.foldedName == own?.foldedName ? nil : others
  }

  /// The column as it is compared.
  func compared(in table: QueryAlias) -> SQLFragment {
    let column = table.column(name)
    guard let collation else { return column }
    return SQLFragment(column, .collate, SQLFragment(text: collation.quotedIdentifier))
  }

  /// For each of the column's values the keys that it equals. SQLite is asked where the bytes don't
  /// tell, with one query more.
  func matches(
    of values: Set<ExactValue>, among keys: Set<ExactValue>, _ db: Database
  ) throws -> [ExactValue: [ExactValue]] {
    if Self.areExact(values, keys) {
      return Dictionary(uniqueKeysWithValues: values.map { ($0, [$0]) })
    }
    var matches: [ExactValue: [ExactValue]] = [:]
    let all = Array(keys)
    // A statement has 32,766 parameters by default.
    for start in stride(from: 0, to: all.count, by: 10_000) {
      let part = all[start..<min(start + 10_000, all.count)]
      let list = SQLFragment.list(
        part.map { SQLFragment(value: $0.value).parenthesized })
      let table = QueryAlias("matched")
      let column = table.column(name)
      let query: SQLFragment = """
        WITH "key"("value") AS (VALUES \(list)) SELECT "key"."value", \(column) \
        FROM "key" JOIN \(table.definition(of: self.table)) \
        ON \(compared(in: table)) = "key"."value" \
        GROUP BY "key"."value" COLLATE BINARY, \(column) COLLATE BINARY
        """
      var sql = query.sql
      sql.isCacheable = false
      try db.executeQuery(sql).forEach { row in
        let value = ExactValue(try row.get(at: 1))
        matches[value, default: []].append(ExactValue(try row.get(at: 0)))
      }
    }
    return matches
  }

  /// Whether each value is a key, and no two texts differ only in what collations may leave out.
  private static func areExact(_ values: Set<ExactValue>, _ keys: Set<ExactValue>) -> Bool {
    guard values.isSubset(of: keys) else { return false }
    var seen: Set<[UInt8]> = []
    for case .text(let text) in keys.lazy.map(\.value) {
      var folded = text.foldedName
      while folded.last == UInt8(ascii: " ") { folded.removeLast() }
      if !seen.insert(folded).inserted { return false }
    }
    return true
  }
}

extension Query {
  /// Calls a closure with each row in which a column equals one of the keys, for each of these. No
  /// keys ask for no query.
  ///
  /// - Parameters:
  ///   - alias: the name of the column's table.
  ///   - value: a row's value of the column.
  func forEachMatch(
    _ db: Database, _ column: MatchedColumn, in keys: [DatabaseValue],
    alias: (From.QueryFields) -> QueryAlias, _ value: (From.QueryRow) throws -> DatabaseValue,
    _ body: (ExactValue, From.QueryRow) -> Void
  ) throws {
    guard select.isPlain else {
      throw DatabaseError(.misuse, "an association's query can't be grouped, distinct or limited")
    }
    let keys = Set(keys.lazy.filter { !$0.isNull }.map(ExactValue.init))
    guard !keys.isEmpty else { return }
    let rows = try filter { fields in
      SQLExpression<DatabaseValue>(column.compared(in: alias(fields))).in(keys.map(\.value))
    }.fetchAll(db)
    let values = try rows.map { ExactValue(try value($0)) }
    let matches = try column.matches(of: Set(values), among: keys, db)
    for (row, value) in zip(rows, values) {
      for key in matches[value] ?? [] { body(key, row) }
    }
  }
}
