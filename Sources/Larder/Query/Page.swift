// Keyset pagination: a page begins after the values of the last row, instead of counting rows with OFFSET,
// so that every page is as fast as the first one.

import LarderSQLite

/// One page of a query's rows, and the cursor of the next page.
public struct Page<Row: Sendable>: Sendable {
  /// The rows.
  public let rows: [Row]
  /// The cursor by which ``Query/page(_:after:limit:)`` finds the next page; nil if this is the last one.
  public let next: String?
}

/// The reason why a page can't be fetched.
public enum PageError: Error, Hashable, Sendable {
  /// The text isn't a cursor, or it was altered.
  case malformedCursor
  /// The cursor belongs to a query with another order or of another table.
  case otherQuery
}

extension Query where From: SingleSource, From.QueryRow: Record {
  /// A page of the query's rows: the first one, or the one that follows another.
  ///
  /// ```swift
  /// let query = City.all.order { $0.population.desc }
  /// let first = try query.page(db, limit: 20)
  /// let second = try query.page(db, after: first.next, limit: 20)
  /// // … WHERE "city"."population" <= ? AND ("city"."population" < ? OR
  /// // "city"."population" = ? AND "city"."id" > ?)
  /// // ORDER BY "city"."population" DESC, "city"."id" LIMIT ?
  /// ```
  ///
  /// A page begins after the last row of the previous one, whatever was inserted or deleted since. It is as
  /// fast as the first one if an index has the query's order. The primary key is added to the order to make
  /// it total. NULLs are ordered too, except in the key: where an Optional key can be NULL in the
  /// database, many rows can have that key, and this throws
  /// ``RecordError/declaration(table:problem:)``.
  ///
  /// The cursor is URL-safe text. It contains the last row's values of the ordering terms, which anybody
  /// can read. An altered cursor throws ``PageError`` or begins elsewhere in the same rows, no more. A
  /// query that is grouped, distinct or limited throws ``LarderSQLite/DatabaseError``. A negative limit
  /// counts as zero.
  public func page(
    _ db: Database, after cursor: String? = nil, limit: Int
  ) throws -> Page<From.QueryRow> {
    let (query, keys) = try paged()
    let limit = min(Swift.max(0, limit), Int.max - 1)
    let page = try query.page(keys, after: cursor, limit: limit)
    var rows: [From.QueryRow] = []
    var last: [DatabaseValue]?
    var next: String?
    let (read, _) = query.reader
    let first = From.QueryRow.table.core.columns.count
    try db.withRows(of: db.take(page, for: .place)) { statement in
      statement.readAtOnce()
      let row = QueryCursor(statement)
      while try statement.step() {
        if rows.count == limit {
          // The cursor of an empty page leads to the place where that page began, perhaps the first row.
          next = last.map { PageCursor($0).text(keys) } ?? cursor ?? PageCursor([]).text(keys)
          break
        }
        rows.append(try read(row))
        guard rows.count == limit else { continue }
        let arena = statement.arena
        last = try keys.indices.map {
          try DatabaseValue(
            column: ColumnReader(
              statement: arena.statement, index: Int32(truncatingIfNeeded: first + $0),
              format: arena.format))
        }
      }
    }
    return Page(rows: rows, next: next)
  }

  /// The query with its primary key appended to the order, and all ordering terms.
  func paged() throws -> (Self, [PageKey]) {
    let core = From.QueryRow.table.core
    try core.checkHasKey()
    guard select.isPlain, let alias = select.tables.aliases.first else {
      throw DatabaseError(.misuse, "a grouped, distinct or limited query can't be read in pages")
    }
    var never: Set<String> = []
    for (index, column) in core.columns.enumerated()
    where !column.type.isNullable || index == core.rowIDColumn {
      never.insert(alias.column(column.name).sql.text)
    }
    var keys = (select.order?.parts ?? []).map { PageKey($0, neverNull: never) }
    var query = self
    for column in core.primaryKey {
      let term = alias.column(column.name)
      let name = term.sql.text
      guard !keys.contains(where: { $0.text == name }) else { continue }
      query.select.add(order: term)
      keys.append(PageKey(term, neverNull: never))
    }
    return (query, keys)
  }

  private func page(
    _ keys: [PageKey], after cursor: String?, limit: Int
  ) throws -> SQLFragment {
    var query = self
    if let cursor {
      let values = try PageCursor(cursor, keys).values
      if !values.isEmpty {
        query.select.add(condition: PageKey.after(values, keys).parenthesized)
      }
    }
    // One extra row tells whether there is a next page.
    query.select.limit = limit + 1
    let columns = query.reader.columns.parts + keys.map(\.value)
    return query.select.fragment(.list(columns))
  }
}

/// A term of a paged query's order.
struct PageKey {
  /// The expression that is compared, in parentheses if an operand of a comparison needs them.
  let expression: SQLFragment
  /// The expression without its collation, which isn't a part of the value.
  var value: SQLFragment {
    expression.operation == .collate ? expression.left ?? expression : expression
  }
  let text: String
  let isDescending: Bool
  let nullsFirst: Bool
  let canBeNull: Bool

  /// - Parameter neverNull: the columns that can't be NULL.
  init(_ term: SQLFragment, neverNull: Set<String>) {
    var expression = term
    var isDescending = false
    var nullsFirst: Bool?
    while expression.kind == .unary, let inner = expression.left {
      switch expression.operation {
      case .descending: isDescending = true
      case .nullsFirst: nullsFirst = nullsFirst ?? true
      case .nullsLast: nullsFirst = nullsFirst ?? false
      default:
        self.init(expression, isDescending, nullsFirst, neverNull)
        return
      }
      expression = inner
    }
    self.init(expression, isDescending, nullsFirst, neverNull)
  }

  private init(
    _ expression: SQLFragment, _ isDescending: Bool, _ nullsFirst: Bool?, _ neverNull: Set<String>
  ) {
    self.isDescending = isDescending
    self.nullsFirst = nullsFirst ?? !isDescending
    canBeNull = !neverNull.contains(expression.sql.text)
    self.expression = expression.parenthesized(in: .comparison)
    text = self.expression.sql.text
  }

  /// The condition for rows that come after these values.
  static func after(_ values: [DatabaseValue], _ keys: [PageKey]) -> SQLFragment {
    let terms = Array(zip(keys, values))
    // If all terms have the same direction, SQLite compares row values, and finds them in an index.
    if terms.count > 1, let first = keys.first,
      terms.allSatisfy({
        $0.isDescending == first.isDescending && !$1.isNull && (!$0.canBeNull || $0.nullsFirst)
      })
    {
      let left = SQLFragment.list(keys.map(\.expression)).parenthesized
      let right = SQLFragment.list(values.map { SQLFragment(value: $0) }).parenthesized
      return SQLFragment(left, first.isDescending ? .less : .greater, right)
    }
    var condition: SQLFragment?
    for (key, value) in terms.reversed() {
      let later = key.after(value)
      let equal = condition.map { SQLFragment(key.equal(value), .and, $0.parenthesized(in: .or)) }
      condition =
        switch (later, equal) {
        case (let later?, let equal?): SQLFragment(later, .or, equal)
        case (let later?, nil): later
        case (nil, let equal): equal
        }
    }
    let all = condition ?? "0"
    // The first term alone is repeated as a range, for which SQLite can use an index.
    guard terms.count > 1, let (key, value) = terms.first, !value.isNull,
      !key.canBeNull || key.nullsFirst
    else { return all }
    let start = key.compared(key.isDescending ? .lessOrEqual : .greaterOrEqual, value)
    return SQLFragment(start, .and, all.parenthesized)
  }

  private func after(_ value: DatabaseValue) -> SQLFragment? {
    if value.isNull { return nullsFirst ? SQLFragment(.isNotNull, expression) : nil }
    let later = compared(isDescending ? .less : .greater, value)
    guard canBeNull && !nullsFirst else { return later }
    return SQLFragment(later, .or, SQLFragment(.isNull, expression)).parenthesized
  }

  private func equal(_ value: DatabaseValue) -> SQLFragment {
    value.isNull ? SQLFragment(.isNull, expression) : compared(.equal, value)
  }

  private func compared(_ operation: SQLOperator, _ value: DatabaseValue) -> SQLFragment {
    SQLFragment(expression, operation, SQLFragment(value: value))
  }
}
