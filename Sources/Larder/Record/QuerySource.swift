import LarderSQLite

/// What a query reads from: a record's table, an Optional record's (joined where there is a row), or
/// a join of several. Records conform by being records; the requirements are for queries only.
@_documentation(visibility: internal)
public protocol QuerySource: Sendable {
  /// What a query's closures get: the columns as expressions.
  associatedtype QueryFields
  /// What a row of the query is.
  associatedtype QueryRow
  /// The same where rows may be missing: what joins make of it that keep the other side's rows.
  associatedtype QueryNullable

  /// The tables, each with the name that it has in the query.
  static func queryTables(_ names: inout QueryNames) -> QueryFields
  /// What makes a row of the columns of all tables, one after the other.
  static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> QueryRow
}

/// What is one table: a record's, or a ``CommonTable``.
@_documentation(visibility: internal)
public protocol SingleSource: QuerySource {}

/// The names of a query's tables, in order.
@_documentation(visibility: internal)
public struct QueryNames {
  @usableFromInline let tables: QueryTables
  @usableFromInline var index = 0

  @inlinable
  init(_ tables: QueryTables) { self.tables = tables }

  /// The name of the next table.
  @inlinable
  mutating func next() -> QueryAlias {
    defer { index += 1 }
    return tables.alias(at: index)
  }
}

/// The columns that are selected, as the tables take theirs.
@_documentation(visibility: internal)
public struct QueryColumns {
  @usableFromInline let tables: QueryTables
  @usableFromInline var tableIndex = 0
  /// The columns of all tables so far.
  @inlinable var list: SQLFragment { columns ?? SQLFragment.empty }
  @usableFromInline var columns: SQLFragment?
  @usableFromInline var count = 0
  /// Whether each column holds Decimals; nil unless somebody wants to know.
  @usableFromInline var areDecimal: [Bool]?
  /// Whether rows are compared as a whole: of texts that are equal Decimals one is selected.
  @usableFromInline let areCompared: Bool

  @inlinable
  init(_ tables: QueryTables, areCompared: Bool = false) {
    self.tables = tables
    self.areCompared = areCompared
  }

  /// Adds the columns of the next table, and returns where they are in the row.
  @inlinable
  mutating func add(_ core: TableCore) -> Positions {
    guard count == 0, tables.alias(at: tableIndex) === core.alias, areDecimal == nil,
      !(areCompared && core.hasDecimals)
    else {
      return add(columnsOf: core)
    }
    tableIndex += 1
    count = core.identity.count
    columns = core.qualifiedColumns
    return core.identity
  }

  @usableFromInline
  mutating func add(columnsOf core: TableCore) -> Positions {
    add(core.columns.map(\.name), core.columns.map { $0.type.kind == .decimal })
  }

  /// How the next table's columns are stored, where it is no record's.
  var codings: [ExpressionCoding?] { tables.alias(at: tableIndex).codings }

  /// The names of the next table's columns, of so many.
  func names(_ count: Int) -> [String] {
    let alias = tables.alias(at: tableIndex)
    return (0..<count).map { CommonColumns.name($0, of: alias) }
  }

  /// Adds the next table's columns of these names.
  mutating func add(_ columns: [String]) -> Positions {
    let codings = codings
    return add(
      columns,
      columns.indices.map { codings.indices.contains($0) && codings[$0]?.isDecimal == true })
  }

  private mutating func add(_ columns: [String], _ areDecimal: [Bool]) -> Positions {
    self.areDecimal? += areDecimal
    let prefix = tables.alias(at: tableIndex).prefix
    let start = Int32(truncatingIfNeeded: count)
    tableIndex += 1
    let names = columns.map { prefix + $0.quotedIdentifier }
    if areCompared, areDecimal.contains(true) {
      for (name, isDecimal) in zip(names, areDecimal) {
        let column = SQLFragment(text: name)
        self.columns = (isDecimal ? column.decimal(as: nil) : column).added(to: self.columns)
      }
    } else if !names.isEmpty {
      self.columns = SQLFragment(text: names.joined(separator: ", ")).added(to: self.columns)
    }
    count += columns.count
    return Positions(Array(start..<Int32(truncatingIfNeeded: count)))
  }
}

/// The row that a query's statement stands on.
@_documentation(visibility: internal)
public struct QueryCursor {
  @usableFromInline let statement: PreparedStatement
  // Read once for all rows: each look into the statement is checked for exclusive access.
  @usableFromInline let handle: OpaquePointer
  @usableFromInline let format: StorageFormat

  /// - Parameter statement: one whose execution has begun.
  @usableFromInline
  init(_ statement: PreparedStatement) {
    self.statement = statement
    handle = statement.arena.statement
    format = statement.arena.format
  }
}
