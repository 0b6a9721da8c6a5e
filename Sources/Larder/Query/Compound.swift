import LarderSQLite

/// Several queries with rows of the same type, combined into one: a
/// [compound SELECT](https://www.sqlite.org/lang_select.html#compound_select_statements).
///
/// ```swift
/// try City.filter { $0.population > 1_000_000 }
///   .union(City.filter { $0.isCapital })
///   .order(byColumn: 2)
///   .fetchAll(db)
/// // SELECT … FROM "city" WHERE … UNION SELECT … FROM "city" WHERE … ORDER BY 2
/// ```
///
/// The parts are combined from left to right. A part's order counts only if the part is limited.
public struct Compound<Row>: CombinableStatement, Sendable {
  private var parts: SQLFragment
  private var order: [SQLFragment] = []
  private var limit: Int?
  private var offset = 0
  private var isCompound = false
  /// Whether each column holds Decimals.
  private let areDecimal: [Bool]
  /// The selected columns, which tell how each is stored; empty for queries of records.
  let columns: [SQLFragment]
  private var isOrderedByDecimal = false
  private let read: @Sendable (Database, SQLFragment, (Row) throws -> Void) throws -> Void

  fileprivate init(
    _ parts: SQLFragment, _ areDecimal: [Bool], _ columns: [SQLFragment] = [],
    read: @escaping @Sendable (Database, SQLFragment, (Row) throws -> Void) throws -> Void
  ) {
    self.parts = parts
    self.areDecimal = areDecimal
    self.columns = columns
    self.read = read
  }

  /// The statement with its arguments, for reading, logging and tests.
  public var sql: SQL { sql(in: nil) }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { sql(in: db.dialect) }

  package func sql(in dialect: (any Dialect)?) -> SQL { fragment.sql(in: dialect) }

  var fragment: SQLFragment {
    let order: SQLFragment? =
      order.isEmpty ? nil : " ORDER BY \(SQLFragment.list(order).orderingTerms)"
    let limit = isLimited ? SQLFragment(.limit(limit, offset: offset)) : nil
    return "\(isOrderedByDecimal ? named : parts)\(order)\(limit)"
  }

  /// The rows with named columns: ordering by a Decimal needs the column's name.
  private var named: SQLFragment {
    let names = areDecimal.indices.map { SQLFragment(text: "c\($0 + 1)".quotedIdentifier) }
    return #"WITH "compound"(\#(.list(names))) AS (\#(parts)) SELECT * FROM "compound""#
  }

  private var isLimited: Bool { limit != nil || offset > 0 }

  private func with(_ change: (inout Self) -> Void) -> Self {
    var compound = self
    change(&compound)
    return compound
  }

  /// Orders rows by a column, counted from 1. Earlier columns take precedence.
  ///
  /// A position without a column throws when the rows are fetched.
  public func order(byColumn position: Int, descending: Bool = false) -> Self {
    let isDecimal = areDecimal.indices.contains(position - 1) && areDecimal[position - 1]
    let column =
      isDecimal
      ? SQLFragment(text: "c\(position)".quotedIdentifier).decimalKey
      : SQLFragment(text: "\(position)")
    return with {
      $0.order.append(descending ? SQLFragment(.descending, column) : column)
      if isDecimal { $0.isOrderedByDecimal = true }
    }
  }

  /// At most `count` rows, after skipping `offset` rows. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    with {
      $0.limit = Swift.max(0, count)
      $0.offset = Swift.max(0, offset)
    }
  }

  /// All rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` or ``LarderSQLite/ConversionError`` for a
  ///   row that can't be read.
  public func fetchAll(_ db: Database) throws -> [Row] {
    var rows: [Row] = []
    try forEach(db) { rows.append($0) }
    return rows
  }

  /// The query limited to its first row.
  @_documentation(visibility: internal)
  public var first: Compound { with { $0.limit = min(1, limit ?? 1) } }

  /// Calls a closure with each row in turn, without keeping any.
  /// - Throws: the errors of ``fetchAll(_:)``, and those of the closure.
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try read(db, fragment, body)
  }

  /// Whether the query has rows, as a condition of another query.
  public var exists: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment("EXISTS (\(fragment))", isNullable: false))
  }

  /// The query itself.
  @_documentation(visibility: internal)
  public var compound: Compound { self }

  /// - Parameter isTighter: whether the operation binds tighter on other engines (INTERSECT), so that a
  ///   compound on the left becomes a subquery too.
  func combined(_ operation: SQLFragment, _ other: Self, isTighter: Bool = false) -> Self {
    let left = isTighter && isCompound ? fragment.asTable : part(of: self)
    // SQLite combines from left to right, so a compound on the right becomes a subquery.
    let right = other.isCompound ? other.fragment.asTable : part(of: other)
    let isMatched = zip(columns, other.columns).allSatisfy { $1.matching($0) === $1 }
    let rows = isMatched ? right : "SELECT \(.list(columns.map { _ in .notMatching }))"
    var compound = Self("\(left)\(operation)\(rows)", areDecimal, columns, read: read)
    compound.isCompound = true
    return compound
  }

  /// The same query with a function applied to each row.
  func mapped<Result>(_ make: @escaping @Sendable (Row) -> Result) -> Compound<Result> {
    let read = read
    var compound = Compound<Result>(parts, areDecimal, columns) { db, fragment, body in
      try read(db, fragment) { try body(make($0)) }
    }
    compound.order = order
    compound.limit = limit
    compound.offset = offset
    compound.isOrderedByDecimal = isOrderedByDecimal
    return compound
  }

  /// A query that throws when it runs.
  static var refused: Self {
    let problem = SQLFragment.misuse(
      "selections whose rows a Swift function makes can't be combined")
    return Self("SELECT \(problem)", []) { db, fragment, _ in
      try db.withRows(of: db.take(fragment)) { _ in }
    }
  }

  private func part(of other: Self) -> SQLFragment {
    other.order.isEmpty && !other.isLimited ? other.parts : other.fragment.asTable
  }
}

extension SQLFragment {
  /// The statement as a subquery: SELECT * FROM (…).
  fileprivate var asTable: SQLFragment { "SELECT * FROM (\(self)) AS combined" }
}

extension Select {
  /// The statement as a part of a compound. Only a limited part keeps its order.
  fileprivate func part(_ columns: SQLFragment) -> SQLFragment {
    if limit != nil || offset > 0 { return fragment(columns).asTable }
    var part = self
    part.order = nil
    return part.fragment(columns)
  }
}

extension Query: CombinableStatement {
  /// The query as a part of compounds.
  @_documentation(visibility: internal)
  public var compound: Compound<From.QueryRow> {
    let tables = select.tables
    var columns = QueryColumns(tables, areCompared: true)
    columns.areDecimal = []
    _ = From.queryReader(&columns)
    return Compound(select.part(columns.list), columns.areDecimal ?? []) { db, fragment, body in
      var columns = QueryColumns(tables)
      let read = From.queryReader(&columns)
      try db.withRows(of: db.take(fragment)) { statement in
        let cursor = QueryCursor(statement)
        while try statement.step() { try body(read(cursor)) }
      }
    }
  }
}

extension Selection: CombinableStatement {
  /// The statement as a part of a compound.
  var part: SQLFragment { select.part(columns) }

  /// The selection as a part of compounds.
  @_documentation(visibility: internal)
  public var compound: Compound<Row> {
    let (accesses, read) = (accesses, read)
    return Compound(part, codings.map { $0?.isDecimal == true }, columns.parts) {
      db, fragment, body in
      try SelectionSource(accesses).forEach(try db.take(fragment), db, read, body)
    }
  }
}
