import LarderSQLite

/// A common table expression: a query that other queries read from as from a table.
///
/// ```swift
/// let big = CommonTable("big", City.filter { $0.population > 1_000_000 }
///   .select { ($0.name, $0.country) })
/// try big.all.join(Country.self) { $0.columns.1 == $1.code }
///   .select { ($0.columns.0, $1.name) }.fetchAll(db)
/// ```
///
/// Its columns are those of the selection, in order, and stored in the same form. A recursive table also
/// reads from itself:
///
/// ```swift
/// let tree = CommonTable(
///   recursive: "tree", Division.filter { $0.code == 110_000 }.select { ($0.code, $0.name) }
/// ) { tree in
///   Division.all.join(common: tree) { $0.parent == $1.columns.0 }.select { division, _ in
///     (division.code, division.name)
///   }
/// }
/// // … FROM (WITH RECURSIVE "tree"("c1", "c2") AS (SELECT … UNION ALL SELECT … FROM "division"
/// // JOIN "tree" ON "division"."parent" = "tree"."c1") SELECT * FROM "tree") AS "tree"
/// ```
///
/// See [WITH](https://www.sqlite.org/lang_with.html).
public struct CommonTable<each Value: DatabaseValueConvertible>: QueryTable, Sendable {
  /// The table's name and definition.
  @_documentation(visibility: internal)
  public let definition: QueryTableDefinition

  /// The columns as expressions, which a query's closures get.
  @_documentation(visibility: internal)
  public typealias QueryFields = CommonFields<repeat each Value>
  /// The type of the table's rows.
  @_documentation(visibility: internal)
  public typealias QueryRow = CommonRow<repeat each Value>
  /// The table with columns that may be NULL.
  @_documentation(visibility: internal)
  public typealias QueryNullable = NullableCommonTable<repeat each Value>

  /// A table of a selection's rows.
  public init(_ name: String, _ selection: Selection<(repeat each Value)>) {
    self.init(name, "WITH", selection.fragment, selection.codings, keys: selection.keys)
  }

  /// A table of the rows of several queries, combined into one.
  @_disfavoredOverload
  public init(_ name: String, _ compound: Compound<(repeat each Value)>) {
    self.init(name, "WITH", compound.fragment, compound.columns.map(\.coding), keys: [])
  }

  /// A recursive table: the seed's rows, and those that the step makes of each row, until it makes none.
  ///
  /// - `distinct`: whether a repeated row is dropped (UNION), which ends cycles.
  /// - `step`: a selection that reads from the table itself once.
  public init(
    recursive name: String, distinct: Bool = false, _ seed: Selection<(repeat each Value)>,
    @RecursiveStep<(repeat each Value)> step: (CommonTable) -> Selection<(repeat each Value)>
  ) {
    let itself = CommonTable(
      definition: QueryTableDefinition(name: name, source: nil, codings: seed.codings))
    let next = step(itself)
    self.init(
      name, "WITH RECURSIVE",
      "\(seed.part)\(distinct ? " UNION " : " UNION ALL ")\(next.fragment)", seed.codings,
      keys: zip(seed.keys, next.keys).map { $0 && $1 })
  }

  init(definition: QueryTableDefinition) { self.definition = definition }

  /// A table whose rows a table-valued function of the connection returns, which SQLite alone has.
  package init(calling name: String, _ arguments: [SQLFragment], columns: [String]) {
    var codings: [ExpressionCoding?] = []
    repeat codings.append(.own(of: (each Value).self))
    let list = SQLFragment.list(arguments.map { $0.parenthesized(in: .lowest) })
    let call: SQLFragment = "\(name: name)(\(list))"
    self.init(
      definition: QueryTableDefinition(
        name: name, source: SQLFragment(.form(.tableFunction, [call], call)), codings: codings,
        columns: CommonColumns(columns)))
  }

  private init(
    _ name: String, _ with: SQLFragment, _ rows: SQLFragment, _ codings: [ExpressionCoding?],
    keys: [Bool]
  ) {
    let columns = SQLFragment.list(
      Self.columnNames.map { SQLFragment(text: $0.quotedIdentifier) })
    let source: SQLFragment =
      "(\(with) \(name: name)(\(columns)) AS (\(rows)) SELECT * FROM \(name: name))"
    self.init(
      definition: QueryTableDefinition(
        name: name, source: source, codings: codings, columns: CommonColumns([], keys: keys)))
  }

  /// A query of all rows of the table.
  public var all: Query<CommonTable> {
    let taken = QueryScope.isInside ? QueryScope.names : []
    let name = QueryAlias(
      QueryAlias.newName(for: definition.name, besides: taken), codings: definition.codings,
      source: definition.columns)
    return Query(Select(QueryTables(definition.named(name.name), [name])))
  }

  private static var columnNames: [String] {
    var names: [String] = []
    for _ in repeat (each Value).self { names.append("c\(names.count + 1)") }
    return names
  }

  /// The columns as expressions.
  @_documentation(visibility: internal)
  public static func queryTables(
    _ names: inout QueryNames
  ) -> CommonFields<repeat each Value> {
    let table = names.next()
    var number = 0
    func column<V: DatabaseValueConvertible>(_ type: V.Type) -> SQLExpression<V> {
      number += 1
      let isKey = CommonColumns.isKey(number - 1, of: table)
      return SQLExpression<V>(
        table.column(
          CommonColumns.name(number - 1, of: table),
          as: .column(isKey: isKey, V.columnType.kind), coding: table.codings.at(number - 1)))
    }
    return CommonFields((repeat column((each Value).self)))
  }

  /// Reads the columns.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> CommonRow<repeat each Value> {
    var accesses: [PropertyAccess] = []
    let codings = columns.codings
    func add<V: DatabaseValueConvertible>(_ type: V.Type) {
      accesses.append(codings.at(accesses.count)?.access(for: type) ?? .value(type))
    }
    repeat add((each Value).self)
    let source = SelectionSource(accesses, at: columns.add(columns.names(accesses.count)))
    let layout = source.layout
    return { cursor in
      let row = RecordRow(cursor.handle, source.positions.first, layout, cursor.format)
      return try withUnsafeTemporaryAllocation(
        byteCount: Swift.max(1, MemoryLayout<QueryRow>.size),
        alignment: MemoryLayout<QueryRow>.alignment
      ) { memory in
        guard let memory = memory.baseAddress else { throw RecordLayout.noMemory() }
        do {
          try row.read(into: memory)
        } catch {
          throw source.describe(error, cursor.statement)
        }
        // The layout has just initialized the memory, at the offsets of a tuple's elements; a row consists
        // of the tuple alone.
        return memory.assumingMemoryBound(to: QueryRow.self).move()
      }
    }
  }
}

extension [ExpressionCoding?] {
  fileprivate func at(_ index: Int) -> ExpressionCoding? { index < count ? self[index] : nil }
}

/// A result builder that has the compiler type-check a recursive table's step on its own. As a part of the
/// call, it tried all combinations of both selections, which took seconds.
@resultBuilder
@_documentation(visibility: internal)
public enum RecursiveStep<Row> {
  /// The step.
  @_documentation(visibility: internal)
  public static func buildExpression(_ selection: Selection<Row>) -> Selection<Row> { selection }
  /// The step.
  @_documentation(visibility: internal)
  public static func buildBlock(_ selection: Selection<Row>) -> Selection<Row> { selection }
}

/// The columns of a ``CommonTable`` in a query.
@_documentation(visibility: internal)
public struct CommonFields<each Value: DatabaseValueConvertible>: Sendable {
  /// The columns as expressions, in order.
  public let columns: (repeat SQLExpression<each Value>)

  init(_ columns: (repeat SQLExpression<each Value>)) { self.columns = columns }
}

/// A ``CommonTable`` on the nullable side of an outer join.
///
/// A separate type, since the Swift 6.3 compiler doesn't find the columns of a ``CommonTable`` of Optionals
/// that it has derived from another table's types.
@_documentation(visibility: internal)
public struct NullableCommonTable<each Value: DatabaseValueConvertible>: SingleSource, Sendable {
  private typealias Table = CommonTable<repeat (each Value).AsOptional>

  /// The columns as expressions, which a query's closures get.
  @_documentation(visibility: internal)
  public typealias QueryFields = NullableCommonFields<repeat each Value>
  /// The type of the table's rows.
  @_documentation(visibility: internal)
  public typealias QueryRow = CommonRow<repeat (each Value).AsOptional>
  /// The same type, since its columns are Optional already.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Self

  /// The columns as expressions.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> QueryFields {
    let table = names.next()
    var number = 0
    func column<V: DatabaseValueConvertible>(_ type: V.Type) -> SQLExpression<V> {
      number += 1
      return SQLExpression<V>(
        table.column(
          CommonColumns.name(number - 1, of: table), coding: table.codings.at(number - 1)))
    }
    return QueryFields(columns: (repeat column((each Value).AsOptional.self)))
  }

  /// Reads the columns.
  @_documentation(visibility: internal)
  public static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> QueryRow
  {
    Table.queryReader(&columns)
  }
}

/// The columns of a ``NullableCommonTable`` in a query.
@_documentation(visibility: internal)
public struct NullableCommonFields<each Value: DatabaseValueConvertible>: Sendable {
  /// The columns as expressions, in order.
  public let columns: (repeat SQLExpression<(each Value).AsOptional>)
}

/// A row of a ``CommonTable``.
@_documentation(visibility: internal)
public struct CommonRow<each Value: DatabaseValueConvertible>: Sendable {
  /// The values of the columns, in order.
  public let columns: (repeat each Value)

  // A separate type, since the Swift 6.3 compiler crashes on tuples that are an associated type.
}

/// A table that a query can read from besides records' tables: a ``CommonTable`` or ``BoundTable``.
///
/// Joins are generic over this protocol rather than over the types of the columns.
@_documentation(visibility: internal)
public protocol QueryTable: SingleSource {
  /// The table's name and definition.
  var definition: QueryTableDefinition { get }
}

extension Record {
  /// See `Query.join`.
  public static func join<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (RecordFields<Self>, Other.QueryFields) -> SQLExpression<Bool>
  ) -> Query<Join2<Self, Other>> {
    all.join(common: other, on: condition)
  }

  /// See `Query.leftJoin`.
  public static func leftJoin<Other: QueryTable>(
    common other: Other,
    @SQLCondition on condition: (RecordFields<Self>, Other.QueryNullable.QueryFields) ->
      SQLExpression<Bool>
  ) -> Query<Join2<Self, Other.QueryNullable>> where Other.QueryNullable: QuerySource {
    all.leftJoin(common: other, on: condition)
  }
}
