import LarderSQLite

/// A source that a query reads from: a record's table, an Optional record's (joined where there is a row), or
/// a join of several. Every record conforms; the requirements are for queries only.
@_documentation(visibility: internal)
public protocol QuerySource: Sendable {
  /// The parameter of a query's closures: the columns as expressions.
  associatedtype QueryFields
  /// The type of the query's rows.
  associatedtype QueryRow
  /// This source where its rows may be missing: in a join that keeps the other side's rows.
  associatedtype QueryNullable

  /// Returns the fields of the tables, each under the name that it has in the query.
  static func queryTables(_ names: inout QueryNames) -> QueryFields
  /// Adds the columns of all tables, one after the other, and returns a closure that reads a row.
  static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> QueryRow
}

/// A source that is a single table: a record's, or a ``CommonTable``.
@_documentation(visibility: internal)
public protocol SingleSource: QuerySource {}

/// The names of a query's tables, in order.
@_documentation(visibility: internal)
public struct QueryNames {
  @usableFromInline let tables: QueryTables
  @usableFromInline var index = 0

  @inlinable
  init(_ tables: QueryTables) { self.tables = tables }

  @inlinable
  mutating func next() -> QueryAlias {
    defer { index += 1 }
    return tables.alias(at: index)
  }
}

/// The columns that are selected. Each table adds its own in turn.
@_documentation(visibility: internal)
public struct QueryColumns {
  @usableFromInline let tables: QueryTables
  @usableFromInline var tableIndex = 0
  /// The columns of all tables so far.
  @inlinable var list: SQLFragment { columns ?? SQLFragment.empty }
  @usableFromInline var columns: SQLFragment?
  @usableFromInline var count = 0
  /// Whether each column holds Decimals; nil unless it is asked for.
  @usableFromInline var areDecimal: [Bool]?
  /// The tables with their keys; nil unless they are asked for.
  var keys: QueryKeys?
  /// Whether whole rows are compared, as by DISTINCT. Equal Decimals are then selected as the same text.
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
    else { return add(columnsOf: core) }
    tableIndex += 1
    count = core.identity.count
    columns = core.qualifiedColumns
    return core.identity
  }

  @usableFromInline
  mutating func add(columnsOf core: TableCore) -> Positions {
    keys?.add(core, tables.alias(at: tableIndex))
    return add(core.columns.map(\.name), core.columns.map { $0.type.kind == .decimal })
  }

  /// The codings of the next table's columns, if it isn't a record's.
  var codings: [ExpressionCoding?] { tables.alias(at: tableIndex).codings }

  /// The names of the next table's first columns, up to this number.
  func names(_ count: Int) -> [String] {
    let alias = tables.alias(at: tableIndex)
    return (0..<count).map { CommonColumns.name($0, of: alias) }
  }

  mutating func add(_ columns: [String]) -> Positions {
    keys?.isIncomplete = true
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

/// The current row of a query's statement.
@_documentation(visibility: internal)
public struct QueryCursor {
  @usableFromInline let statement: PreparedStatement
  // Read once for all rows, since each access to the statement is checked for exclusivity.
  @usableFromInline let handle: OpaquePointer
  @usableFromInline let format: StorageFormat

  /// - Parameter statement: a statement whose execution has begun.
  @usableFromInline
  init(_ statement: PreparedStatement) {
    self.statement = statement
    handle = statement.arena.statement
    format = statement.arena.format
  }
}

/// The records' tables of a query, in order, for the keys by which its rows are told apart.
struct QueryKeys {
  /// The tables, their names in the query, and whether a join may have no row of them.
  private(set) var tables: [(core: TableCore, alias: QueryAlias, isMissing: Bool)] = []
  /// Whether the query reads from a table that isn't a record's.
  var isIncomplete = false
  /// Whether a join may have no row of the next table.
  var isMissing = false

  mutating func add(_ core: TableCore, _ alias: QueryAlias) {
    tables.append((core, alias, isMissing))
    isMissing = false
  }
}
