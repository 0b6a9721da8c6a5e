import LarderSQLite

/// A query of expressions, whose rows are tuples, or values where there is one expression.
///
/// ```swift
/// let totals = try City.all.join(Country.self) { $0.country == $1.code }
///   .group { $1.name }
///   .select { ($1.name, count(), $0.population.sum()) }
///   .fetchAll(db)                                  // [(String, Int, Int?)]
/// ```
public struct Selection<Row>: Sendable {
  @usableFromInline var select: Select
  @usableFromInline let columns: SQLFragment
  @usableFromInline let accesses: [PropertyAccess]
  @usableFromInline let read: @Sendable (RecordRow) throws -> Row

  @usableFromInline
  init(
    _ select: Select, _ columns: SQLFragment, _ accesses: [PropertyAccess],
    read: @escaping @Sendable (RecordRow) throws -> Row
  ) {
    self.select = select
    self.columns = columns
    self.accesses = accesses
    self.read = read
  }

  /// How the columns are stored, for expressions of their values.
  var codings: [ExpressionCoding?] { columns.parts.map(\.coding) }

  /// Which of the columns are keys of tables that aren't missing.
  var keys: [Bool] { columns.parts.map { $0.operation == .key } }

  /// The SELECT statement, as a part of others.
  var fragment: SQLFragment { select.fragment(columns) }

  /// The SELECT statement with its arguments, for reading, logging and tests.
  public var sql: SQL { select.sql(columns) }

  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  public func sql(for db: Database) -> SQL { sql(in: db.dialect) }

  package func sql(in dialect: (any Dialect)?) -> SQL { select.sql(columns, in: dialect) }

  /// No more rows than this, after leaving out some. A negative number counts as zero.
  public func limit(_ count: Int, offset: Int = 0) -> Self {
    var selection = self
    selection.select.limit = max(0, count)
    selection.select.offset = max(0, offset)
    return selection
  }

  /// Each row once.
  public func distinct() -> Self {
    var selection = self
    selection.select.isDistinct = true
    return selection
  }

  /// All rows.
  @inlinable
  public func fetchAll(_ db: Database) throws -> [Row] {
    try SelectionSource(accesses).rows(
      try select.statement(columns, db), db, expecting: select.expectedRowCount, read)
  }

  /// The selection with its first row alone.
  @_documentation(visibility: internal)
  public var first: Selection {
    var first = self
    first.select.limit = min(1, select.limit ?? 1)
    return first
  }

  /// Calls a closure with one row after the other, and keeps none: `{ name, population in … }`.
  @inlinable
  public func forEach(_ db: Database, _ body: (Row) throws -> Void) throws {
    try SelectionSource(accesses).forEach(
      try select.statement(columns, db), db, read, body)
  }
}

/// How the rows of a selection are laid out.
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

  /// The error with the column as SQLite calls it: by its name where the expression is a column, by
  /// the expression's text otherwise.
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
  /// The query with expressions instead of records.
  @inlinable
  public func select<each Value: DatabaseValueConvertible>(
    _ expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) -> Selection<(repeat each Value)> {
    var builder = SelectionBuilder()
    scoped { repeat builder.add(each expressions($0)) }
    // Captures nothing, so that it is specialized where the query is written.
    return Selection(select, builder.columns, builder.accesses) { row in
      try withUnsafeTemporaryAllocation(
        byteCount: max(1, MemoryLayout<(repeat each Value)>.size),
        alignment: MemoryLayout<(repeat each Value)>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: memory)
        // The layout has just put the values there, at the places of a tuple's elements.
        return memory.assumingMemoryBound(to: (repeat each Value).self).move()
      }
    }
  }
}

extension Query {
  // Passing a function for a pack of one makes the compiler (Swift 6.3) crash.
  /// The query with one expression instead of records.
  @inlinable
  public func select<Value: DatabaseValueConvertible>(
    _ expression: (From.QueryFields) -> SQLExpression<Value>
  ) -> Selection<Value> {
    var builder = SelectionBuilder()
    scoped { builder.add(expression($0)) }
    return Selection<Value>(select, builder.columns, builder.accesses) { row in
      try withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        guard let value = memory.baseAddress else { throw RecordLayout.noMemory() }
        try row.read(into: UnsafeMutableRawPointer(value))
        return value.move()
      }
    }
  }
}

/// Gathers the expressions of a selection, one after the other.
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

  @inlinable
  mutating func add<Value: DatabaseValueConvertible>(_ expression: SQLExpression<Value>) {
    add(expression.node, expression.node.coding?.access(for: Value.self) ?? .value(Value.self))
  }

  @usableFromInline
  mutating func add(_ expression: SQLFragment, _ access: PropertyAccess) {
    parts.append(expression)
    accesses.append(access)
  }
}
