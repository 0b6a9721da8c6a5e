import LarderSQLite

/// Some rows of a long list, and the way to the next ones.
public struct Page<Row: Sendable>: Sendable {
  /// The rows.
  public let rows: [Row]
  /// What ``Query/page(_:after:limit:)`` needs for the next page; nil if this is the last one.
  public let next: String?
}

/// Why a page can't be fetched.
public enum PageError: Error, Hashable, Sendable {
  /// The text is no cursor, or was changed.
  case malformedCursor
  /// The cursor belongs to a query in another order, or of another table.
  case otherQuery
}

extension Query where From: Record {
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
  /// A page begins behind the last row of the one before, whatever was inserted or deleted since,
  /// and takes as long as the first one if an index has the query's order. The primary key is
  /// added to the order, so that it is that of all rows. NULLs have their place in it.
  ///
  /// The cursor is text for URLs. It holds the last row's values of the order, which anybody can
  /// read; a changed one throws ``PageError`` or begins elsewhere in the same rows, no more.
  /// A query that is grouped, distinct or limited throws ``LarderSQLite/DatabaseError``. A negative
  /// limit counts as zero.
  public func page(
    _ db: Database, after cursor: String? = nil, limit: Int
  ) throws -> Page<From> {
    let (query, keys) = try paged()
    let limit = min(Swift.max(0, limit), Int.max - 1)
    let sql = try query.pageSQL(keys, after: cursor, limit: limit)
    var rows: [From] = []
    var last: [DatabaseValue]?
    var next: String?
    let (read, _) = query.reader
    let first = From.table.core.columns.count
    try db.withRows(of: db.take(bound: sql)) { statement in
      let row = QueryCursor(statement)
      while try statement.step() {
        if rows.count == limit {
          // A page without rows leads to where it began, which may be the beginning.
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

  /// The query with its key as the last terms of the order, and all terms.
  func paged() throws -> (Self, [PageKey]) {
    let core = From.table.core
    try core.checkHasKey()
    guard select.isPlain, let alias = select.tables.aliases.first else {
      throw DatabaseError(.misuse, "a grouped, distinct or limited query has no pages")
    }
    let prefix = alias.prefix
    var never: Set<String> = []
    for (index, column) in core.columns.enumerated()
    where !column.type.isNullable || index == core.rowIDColumn {
      never.insert(prefix + column.name.quotedIdentifier)
    }
    var keys = (select.order?.parts ?? []).map {
      PageKey($0.sql, $0.precedence, neverNull: never)
    }
    var query = self
    for column in core.primaryKey {
      let name = prefix + column.name.quotedIdentifier
      guard !keys.contains(where: { $0.expression.text == name }) else { continue }
      query.select.add(order: TextNode(SQL(raw: name)))
      keys.append(PageKey(SQL(raw: name), .atom, neverNull: never))
    }
    return (query, keys)
  }

  func pageSQL(_ keys: [PageKey], after cursor: String?, limit: Int) throws -> SQL {
    var query = self
    if let cursor {
      let values = try PageCursor(cursor, keys).values
      if !values.isEmpty {
        query.select.add(condition: TextNode(PageKey.after(values, keys), .lowest))
      }
    }
    // One row more tells whether there is a next page.
    query.select.limit = limit + 1
    let expressions = SQL(keys.map(\.expression), separator: ", ")
    return query.select.sql(.list(query.reader.columns, TextNode(expressions)))
  }
}

/// A term of a paged query's order.
struct PageKey {
  let expression: SQL
  let isDescending: Bool
  let nullsFirst: Bool
  let canBeNull: Bool

  /// Takes a term apart. Its words stand at the end of the text, where no expression has them:
  /// names are quoted, calls end with a parenthesis, and SQL of the program's own is in
  /// parentheses.
  init(_ term: SQL, _ precedence: Precedence, neverNull: Set<String>) {
    var expression = term
    func takes(_ word: String) -> Bool {
      guard expression.text.hasSuffix(word) else { return false }
      expression.text.removeLast(word.count)
      return true
    }
    let (first, last) = (takes(" NULLS FIRST"), takes(" NULLS LAST"))
    let isDescending = takes(" DESC")
    self.isDescending = isDescending
    nullsFirst = first || (!last && !isDescending)
    canBeNull = !neverNull.contains(expression.text)
    // It stands beside a comparison.
    self.expression = precedence > .comparison ? expression : SQL("(", expression, ")")
  }

  /// The condition for rows that come after these values.
  static func after(_ values: [DatabaseValue], _ keys: [PageKey]) -> SQL {
    let terms = Array(zip(keys, values))
    // One order for all: SQLite compares rows of values, and finds them in an index.
    if terms.count > 1, let first = keys.first,
      terms.allSatisfy({
        $0.isDescending == first.isDescending && !$1.isNull && (!$0.canBeNull || $0.nullsFirst)
      })
    {
      let left = SQL("(", SQL(keys.map(\.expression), separator: ", "), ")")
      let right = SQL("(", SQL(values.map { SQL(bound: $0) }, separator: ", "), ")")
      return SQL(left, first.isDescending ? " < " : " > ", right)
    }
    var condition: SQL?
    for (key, value) in terms.reversed() {
      let later = key.after(value)
      let equal = condition.map { rest in
        SQL(key.equal(value), " AND ", rest.text.contains(" OR ") ? SQL("(", rest, ")") : rest)
      }
      condition =
        switch (later, equal) {
        case (let later?, let equal?): SQL(later, " OR ", equal)
        case (let later?, nil): later
        case (nil, let equal): equal
        }
    }
    let all = condition ?? SQL(raw: "0")
    // The first term alone, said once more, is what SQLite finds in an index.
    guard terms.count > 1, let (key, value) = terms.first, !value.isNull,
      !key.canBeNull || key.nullsFirst
    else { return all }
    let start = SQL(key.expression, key.isDescending ? " <= " : " >= ", SQL(bound: value))
    return SQL(start, " AND ", SQL("(", all, ")"))
  }

  private func after(_ value: DatabaseValue) -> SQL? {
    if value.isNull { return nullsFirst ? SQL("", expression, " IS NOT NULL") : nil }
    let later = SQL(expression, isDescending ? " < " : " > ", SQL(bound: value))
    return canBeNull && !nullsFirst
      ? SQL(SQL("(", later, " OR "), "", SQL("", expression, " IS NULL)")) : later
  }

  private func equal(_ value: DatabaseValue) -> SQL {
    value.isNull
      ? SQL("", expression, " IS NULL") : SQL(expression, " = ", SQL(bound: value))
  }
}

/// The values of a row's order as text: a version, a sum over what follows and over the query's
/// order, and the values, in base 64.
struct PageCursor {
  let values: [DatabaseValue]

  init(_ values: [DatabaseValue]) { self.values = values }

  private static let version: UInt8 = 1

  private static func order(_ keys: [PageKey]) -> UInt32 {
    sum(
      keys.flatMap {
        Array("\($0.expression.text)|\($0.isDescending)|\($0.nullsFirst);".utf8)
      })
  }

  /// FNV-1a: it finds accidents, and isn't meant to keep out those who want to compute it.
  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  func text(_ keys: [PageKey]) -> String {
    var body: [UInt8] = []
    func append(_ tag: UInt8, _ bytes: some Collection<UInt8>) {
      body.append(tag)
      if tag >= 3 { body += Self.bytes(UInt64(bytes.count)) }
      body += bytes
    }
    for value in values {
      switch value {
      case .null: append(0, [])
      case .integer(let number): append(1, Self.bytes(UInt64(bitPattern: number)))
      case .real(let number): append(2, Self.bytes(number.bitPattern))
      case .text(let text): append(3, Array(text.utf8))
      case .blob(let bytes): append(4, bytes)
      }
    }
    let bytes = [Self.version] + Self.bytes(Self.order(keys)) + Self.bytes(Self.sum(body)) + body
    return URLBase64.text(of: bytes)
  }

  init(_ text: String, _ keys: [PageKey]) throws {
    guard let bytes = URLBase64.bytes(of: text) else { throw PageError.malformedCursor }
    var rest = bytes[...]
    func take(_ count: UInt64) throws -> ArraySlice<UInt8> {
      guard count <= UInt64(rest.count) else { throw PageError.malformedCursor }
      defer { rest = rest.dropFirst(Int(count)) }
      return rest.prefix(Int(count))
    }
    func integer(_ count: UInt64) throws -> UInt64 {
      try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard try integer(1) == UInt64(Self.version) else { throw PageError.malformedCursor }
    let order = try integer(4)
    guard try integer(4) == UInt64(Self.sum(rest)) else { throw PageError.malformedCursor }
    guard order == UInt64(Self.order(keys)) else { throw PageError.otherQuery }
    var values: [DatabaseValue] = []
    while !rest.isEmpty {
      // However many values a text holds, no more are made of them than the query has.
      guard values.count < keys.count else { throw PageError.malformedCursor }
      switch try integer(1) {
      case 0: values.append(.null)
      case 1: values.append(.integer(Int64(bitPattern: try integer(8))))
      case 2:
        let number = Double(bitPattern: try integer(8))
        guard !number.isNaN else { throw PageError.malformedCursor }
        values.append(.real(number))
      case 3: values.append(.text(String(decoding: try take(integer(8)), as: UTF8.self)))
      case 4: values.append(.blob(Array(try take(integer(8)))))
      default: throw PageError.malformedCursor
      }
    }
    guard values.isEmpty || values.count == keys.count else { throw PageError.malformedCursor }
    self.values = values
  }

  private static func bytes<I: FixedWidthInteger>(_ number: I) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
