import LarderSQLite

/// One page of a query's rows, and the cursor of the next page.
public struct Page<Row> {
  /// The rows.
  public let rows: [Row]
  /// The cursor by which ``Query/page(_:after:limit:)`` finds the next page; nil if this is the last one.
  public let next: String?
}

extension Page: Sendable where Row: Sendable {}

/// The reason why a page can't be fetched.
public enum PageError: Error, Hashable, Sendable {
  /// The text isn't a cursor, or it was altered.
  case malformedCursor
  /// The cursor belongs to a query with another order or of another table.
  case otherQuery
  /// The limit is less than 1: such pages would never end.
  case limit(Int)
}

extension PageError: CustomStringConvertible {
  /// One line with the remedy.
  public var description: String {
    switch self {
    case .malformedCursor: "the page's cursor isn't one, or was altered: begin with the first page"
    case .otherQuery:
      "the page's cursor is of another table or another order: begin with the first page"
    case .limit(let limit): "a page has 1 row or more, so its limit can't be \(limit)"
    }
  }
}

/// A query that is read in pages, with the primary keys of its tables appended to the order.
@usableFromInline
struct PagedSelect {
  private var select: Select
  let keys: [PageKey]
  /// The number of columns of all tables.
  private let count: Int

  @usableFromInline
  init<From: QuerySource>(_ select: Select, _ source: From.Type) throws {
    guard select.isPlain else {
      throw DatabaseError(.misuse, "a grouped, distinct or limited query can't be read in pages")
    }
    var columns = QueryColumns(select.tables)
    columns.keys = QueryKeys()
    // Decimals are asked for too, so that each table adds its columns one by one.
    columns.areDecimal = []
    _ = From.queryReader(&columns)
    let tables = columns.keys ?? QueryKeys()
    guard !tables.isIncomplete else {
      throw DatabaseError(
        .misuse, "a query of a table without a primary key can't be read in pages")
    }
    var never: Set<String> = []
    for (core, alias, isMissing) in tables.tables where !isMissing {
      for (index, column) in core.columns.enumerated()
      where !column.type.isNullable || index == core.rowIDColumn {
        never.insert(alias.column(column.name).sql.text)
      }
    }
    var keys = (select.order?.parts ?? []).map { PageKey($0, neverNull: never) }
    self.select = select
    for (core, alias, _) in tables.tables {
      try core.checkHasKey()
      for column in core.primaryKey {
        let term = alias.column(column.name)
        let name = term.sql.text
        guard !keys.contains(where: { $0.text == name }) else { continue }
        self.select.add(order: term)
        keys.append(PageKey(term, neverNull: never))
      }
    }
    self.keys = keys
    count = columns.count
  }

  /// - Parameter count: the number of the columns; that of all tables unless it is given.
  func page<Row>(
    _ db: Database, of columns: SQLFragment, count: Int? = nil, after cursor: String?, limit: Int,
    _ read: (PreparedStatement) throws -> Row
  ) throws -> Page<Row> {
    guard limit > 0 else { throw PageError.limit(limit) }
    let limit = min(limit, Int.max - 1)
    let first = count ?? self.count
    var rows: [Row] = []
    var last: [DatabaseValue]?
    var next: String?
    let page = try statement(columns, after: cursor, limit: limit)
    try db.withRows(of: db.take(page, for: .place)) { statement in
      statement.readAtOnce()
      while try statement.step() {
        if rows.count == limit {
          next = last.map { PageCursor($0).text(keys) }
          break
        }
        rows.append(try read(statement))
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

  private func statement(
    _ columns: SQLFragment, after cursor: String?, limit: Int
  ) throws -> SQLFragment {
    var select = select
    if let cursor {
      let values = try PageCursor(cursor, keys).values
      if !values.isEmpty { select.add(condition: PageKey.after(values, keys).parenthesized) }
    }
    // One extra row tells whether there is a next page.
    select.limit = limit + 1
    return select.fragment(.list(columns.parts + keys.map(\.value)))
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
