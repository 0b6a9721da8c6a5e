import LarderSQLite

/// A query of expressions. Its rows are tuples, or single values if there is only one expression.
///
/// ```swift
/// let totals = try City.all.join(Country.self) { $0.country == $1.code }
///   .group { $1.name }
///   .select { ($1.name, count(), $0.population.sum()) }
///   .fetchAll(db)                                  // [(String, Int, Int?)]
/// ```
@dynamicMemberLookup
public struct Selection<Row>: Sendable {
  @usableFromInline var select: Select
  @usableFromInline let columns: SQLFragment
  @usableFromInline let accesses: [PropertyAccess]
  @usableFromInline let read: @Sendable (RecordRow) throws -> Row
  /// The function that makes a query readable in pages, which needs the types of its tables.
  @usableFromInline let paged: @Sendable (Select) throws -> PagedSelect

  @usableFromInline
  init(
    _ select: Select, _ columns: SQLFragment, _ accesses: [PropertyAccess],
    paged: @escaping @Sendable (Select) throws -> PagedSelect,
    read: @escaping @Sendable (RecordRow) throws -> Row
  ) {
    self.select = select
    self.columns = columns
    self.accesses = accesses
    self.read = read
    self.paged = paged
  }

  /// The stored form of each column, for expressions over the values.
  var codings: [ExpressionCoding?] { columns.parts.map(\.coding) }

  /// For each column, whether it is a key that is never NULL.
  var keys: [Bool] { columns.parts.map { $0.operation == .key } }

  /// The SELECT statement, as a part of others.
  var fragment: SQLFragment { select.fragment(columns) }

  /// The SELECT statement with its arguments, for reading, logging and tests.
  public var sql: SQL { select.sql(columns) }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { sql(in: db.dialect) }

  package func sql(in dialect: (any Dialect)?) -> SQL { select.sql(columns, in: dialect) }

  /// At most `count` rows, after skipping `offset` rows. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    var selection = self
    selection.select.limit = max(0, count)
    selection.select.offset = max(0, offset)
    return selection
  }

  /// Removes duplicate rows (SELECT DISTINCT).
  public func distinct() -> Self {
    var selection = self
    selection.select.isDistinct = true
    return selection
  }

  /// All rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, ``LarderSQLite/ConversionError`` for a value that doesn't fit
  ///   its type, and ``RecordError`` for a table that doesn't fit its declaration.
  @inlinable
  public func fetchAll(_ db: Database) throws -> [Row] {
    try SelectionSource(accesses).rows(
      try select.statement(columns, db), db, expecting: select.expectedRowCount, read)
  }

  /// The selection limited to its first row.
  @_documentation(visibility: internal)
  public var first: Selection {
    var first = self
    first.select.limit = min(1, select.limit ?? 1)
    return first
  }

  /// Whether the selection has rows, as a condition of another query.
  public var exists: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment("\(select.exists)", isNullable: false))
  }

  /// Calls a closure with each row in turn, without keeping any: `{ name, population in … }`.
  /// - Throws: the errors of ``fetchAll(_:)``, and those of the closure.
  @inlinable
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try SelectionSource(accesses).forEach(
      try select.statement(columns, db), db, read, body)
  }
}

/// The layout of a selection's rows, and the positions of their columns.
@usableFromInline
struct SelectionSource {
  @usableFromInline let layout: RecordLayout
  @usableFromInline let positions: Positions

  @usableFromInline
  init(_ accesses: [PropertyAccess]) {
    self.init(accesses, at: Positions(accesses.indices.map { Int32(truncatingIfNeeded: $0) }))
  }

  init(_ accesses: [PropertyAccess], at positions: Positions) {
    layout = RecordLayout(accesses)
    self.positions = positions
  }

  @inlinable
  func rows<Row>(
    _ statement: PreparedStatement, _ db: Database, expecting count: Int,
    _ read: @Sendable (RecordRow) throws -> Row
  ) throws -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(count)
    statement.readAtOnce()
    try forEach(statement, db, read) { rows.append($0) }
    return rows
  }

  @inlinable
  func forEach<Row>(
    _ statement: PreparedStatement, _ db: Database,
    _ read: @Sendable (RecordRow) throws -> Row, _ body: (Row) throws -> Void
  ) throws {
    try db.withRows(of: statement) { statement in
      let row = RecordRow(statement, positions.first, layout)
      while try statement.step() {
        let values: Row
        do {
          values = try read(row)
        } catch {
          throw describe(error, statement)
        }
        try body(values)
      }
    }
  }

  /// The error with SQLite's name of the column: its name if the expression is a column, or else the
  /// expression's text.
  @usableFromInline
  func describe(_ error: any Error, _ statement: PreparedStatement) -> any Error {
    guard let failure = error as? ColumnFailure else { return error }
    guard let error = failure.error as? ConversionError else { return failure.error }
    let index = Int(positions.first[failure.column])
    let names = statement.columnNames.names
    let name = names.indices.contains(index) ? names[index] : "\(index + 1)"
    let short = name.count > 60 ? name.prefix(59) + "…" : name[...]
    return ConversionError(error, column: String(short), index: index, sql: statement.sql)
  }
}

extension Query {
  /// Selects expressions instead of records.
  @inlinable @_disfavoredOverload
  public func select<each Value>(
    _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    var builder = SelectionBuilder()
    scoped { repeat builder.add(each expressions($0)) }
    // The closure captures nothing, so that it is specialized at the query's call site.
    return Selection(
      select, builder.columns, builder.accesses, paged: { try PagedSelect($0, From.self) }
    ) { row in
      try withUnsafeTemporaryAllocation(
        byteCount: max(1, MemoryLayout<(repeat each Value)>.size),
        alignment: MemoryLayout<(repeat each Value)>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: memory)
        // The layout has just initialized the memory, at the offsets of a tuple's elements.
        return memory.assumingMemoryBound(to: (repeat each Value).self).move()
      }
    }
  }
}

extension Query {
  // A separate overload, because passing a function for a pack of one crashes the compiler (Swift 6.3).
  /// Selects one expression instead of records.
  @inlinable
  public func select<Value>(
    _ expression: (From.QueryFields) -> SQLExpression<Value>
  ) -> Selection<Value> {
    var builder = SelectionBuilder()
    scoped { builder.add(expression($0)) }
    return Selection<Value>(
      select, builder.columns, builder.accesses, paged: { try PagedSelect($0, From.self) }
    ) { row in
      try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        guard let value = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: UnsafeMutableRawPointer(value))
        return value.move()
      }
    }
  }
}

/// Collects the expressions of a selection, in order.
@usableFromInline
struct SelectionBuilder {
  private var parts: [SQLFragment] = []
  @usableFromInline var columns: SQLFragment { parts.count == 1 ? parts[0] : .list(parts) }
  @usableFromInline private(set) var accesses: [PropertyAccess] = []

  @usableFromInline
  init() {
    parts.reserveCapacity(4)
    accesses.reserveCapacity(4)
  }

  /// Adds an expression: a coded column's, or of a type that knows how it is stored.
  @inlinable
  mutating func add<Value>(_ expression: SQLExpression<Value>) {
    if let access = expression.node.coding?.access(for: Value.self) ?? .value(of: Value.self) {
      add(expression.node, access)
    } else {
      add(unreadable: Value.self)
    }
  }

  /// An expression that isn't a column, of a type that only a column's coding can read.
  @usableFromInline
  mutating func add(unreadable type: any Any.Type) {
    add(
      .misuse("a selected \(type) has to be a column with a coding, not computed"),
      .value(Int64.self))
  }

  @usableFromInline
  mutating func add(_ expression: SQLFragment, _ access: PropertyAccess) {
    parts.append(expression)
    accesses.append(access)
  }
}
