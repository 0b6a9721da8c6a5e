import LarderSQLite

/// Several queries of the same rows as one: a
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
/// The parts are combined from left to right. The order of a part counts only where it is limited.
public struct Compound<Row>: CompoundPart, Sendable {
  private var parts: SQL
  private var order: [SQL] = []
  private var limit: Int?
  private var offset = 0
  private var isCompound = false
  private let read: @Sendable (Database, SQL, (Row) throws -> Void) throws -> Void

  fileprivate init(
    _ parts: SQL,
    read: @escaping @Sendable (Database, SQL, (Row) throws -> Void) throws -> Void
  ) {
    self.parts = parts
    self.read = read
  }

  /// The statement with its arguments, for reading, logging and tests.
  public var sql: SQL {
    var sql = parts
    if !order.isEmpty { sql.append(" ORDER BY ", SQL(order, separator: ", ")) }
    sql.appendLimit(limit, offset)
    return sql
  }

  private func with(_ change: (inout Self) -> Void) -> Self {
    var compound = self
    change(&compound)
    return compound
  }

  /// In the order of a column, counted from 1, where those that were named before are equal.
  ///
  /// A column that isn't there throws when the rows are fetched.
  public func order(byColumn position: Int, descending: Bool = false) -> Self {
    with { $0.order.append(SQL(raw: "\(position)\(descending ? " DESC" : "")")) }
  }

  /// No more rows than this, after leaving out some. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    with {
      $0.limit = Swift.max(0, count)
      $0.offset = Swift.max(0, offset)
    }
  }

  /// All rows.
  public func fetchAll(_ db: Database) throws -> [Row] {
    var rows: [Row] = []
    try forEach(db) { rows.append($0) }
    return rows
  }

  /// The first row, or nil if there is none.
  public func fetchOne(_ db: Database) throws -> Row? {
    try with { $0.limit = min(1, limit ?? 1) }.fetchAll(db).first
  }

  /// Calls a closure with one row after the other, and keeps none.
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try read(db, sql, body)
  }

  /// The number of rows.
  public func fetchCount(_ db: Database) throws -> Int {
    try db.value(SQL("SELECT count(*) FROM (", sql, ")"), arguments: Arguments(), as: Int.self) ?? 0
  }

  /// The query itself.
  public var compound: Compound { self }

  fileprivate func combined(_ operation: String, _ other: Self) -> Self {
    let left = part(of: self)
    // SQLite combines from left to right: what is compound on the right becomes one table.
    let right = other.isCompound ? SQL("SELECT * FROM (", other.sql, ")") : part(of: other)
    var compound = Self(SQL(left, " \(operation) ", right), read: read)
    compound.isCompound = true
    return compound
  }

  private func part(of other: Self) -> SQL {
    other.order.isEmpty && other.limit == nil && other.offset == 0
      ? other.parts : SQL("SELECT * FROM (", other.sql, ")")
  }
}

/// What several queries as one are made of: a ``Query``, a ``Selection`` or a ``Compound``.
public protocol CompoundPart<Row> {
  /// What a row is.
  associatedtype Row
  /// The query as a part of compound ones.
  var compound: Compound<Row> { get }
}

extension CompoundPart {
  /// What this and another query have, each row once. See ``Compound``.
  public func union(_ other: some CompoundPart<Row>) -> Compound<Row> {
    compound.combined("UNION", other.compound)
  }
  /// What this and another query have.
  public func unionAll(_ other: some CompoundPart<Row>) -> Compound<Row> {
    compound.combined("UNION ALL", other.compound)
  }
  /// What is in both, each row once.
  public func intersect(_ other: some CompoundPart<Row>) -> Compound<Row> {
    compound.combined("INTERSECT", other.compound)
  }
  /// What is in this but not in the other, each row once.
  public func except(_ other: some CompoundPart<Row>) -> Compound<Row> {
    compound.combined("EXCEPT", other.compound)
  }
}

extension SQL {
  /// Appends LIMIT and OFFSET where there are any.
  mutating func appendLimit(_ limit: Int?, _ offset: Int) {
    if limit != nil || offset > 0 { append(" LIMIT ", SQL(bound: limit ?? -1)) }
    if offset > 0 { append(" OFFSET ", SQL(bound: offset)) }
  }
}

extension Select {
  /// The statement as a part of a compound one, where only a limited query has an order.
  fileprivate func part(_ columns: SQLNode) -> SQL {
    if limit != nil || offset > 0 { return SQL("SELECT * FROM (", sql(columns), ")") }
    var part = self
    part.order = nil
    return part.sql(columns)
  }
}

extension Query: CompoundPart {
  /// The query as a part of compound ones.
  public var compound: Compound<From.QueryRow> {
    let tables = select.tables
    return Compound(select.part(reader.columns)) { db, sql, body in
      var columns = QueryColumns(tables)
      let read = From.queryReader(&columns)
      try db.withRows(of: db.take(bound: sql)) { statement in
        let cursor = QueryCursor(statement)
        while try statement.step() { try body(read(cursor)) }
      }
    }
  }
}

extension Selection: CompoundPart {
  /// The statement as a part of a compound one.
  var part: SQL { select.part(columns) }

  /// The selection as a part of compound ones.
  public var compound: Compound<Row> {
    let (accesses, read) = (accesses, read)
    return Compound(part) { db, sql, body in
      try SelectionSource(accesses).forEach(try db.take(bound: sql), db, read, body)
    }
  }
}
