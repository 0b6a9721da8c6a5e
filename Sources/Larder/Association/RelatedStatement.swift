import LarderSQLite

/// The statement that finds records by a list of keys: for all owners of an association at once.
///
/// Usually a row contains the key that found it, in one of its columns. If a collation or an affinity makes
/// different values equal, the list is joined as a table, whose numbers tell which keys found a row. A
/// limit numbers the rows of each key by a window function.
struct RelatedStatement<Target: Record> {
  private let select: Select
  let comparison: KeyComparison
  private let columns: SQLFragment
  private let columnCount: Int
  private let read: (QueryCursor) throws -> Target
  /// The column with the keys, qualified by its table's name in the query.
  private let key: SQLFragment
  /// The position of that column in a row.
  private let keyIndex: Int
  private let isReferredTo: Bool
  private let limit: Int?
  private let offset: Int

  /// Throws if a column doesn't exist, or if the query is grouped, distinct or limited.
  init(_ records: RelatedRecords<Target>, _ db: Database) throws {
    var select = records.query.select
    guard select.isPlain else {
      throw DatabaseError(
        .misuse,
        """
        an association's query can't be grouped, distinct or limited: use the association's own limit, \
        which is for each owner
        """)
    }
    let (column, ownerKey) = (records.column, records.ownerKey)
    isReferredTo = records.isReferredTo
    comparison =
      try isReferredTo ? KeyComparison(column, ownerKey, db) : KeyComparison(ownerKey, column, db)
    var index = try column.index
    if let link = records.link {
      let comparison = try KeyComparison(link.key, link.foreignKey, db)
      index += Target.table.core.columns.count
      select.join(.join, link.table) { names in
        SQLExpression<Bool>(
          comparison.equals(
            key: names.tables.alias(at: 0).column(link.key.name),
            foreignKey: names.tables.alias(at: 1).column(link.foreignKey.name)))
      }
    }
    var columns = QueryColumns(select.tables)
    read = Target.queryReader(&columns)
    if records.link != nil { _ = columns.add(column.table) }
    self.columns = columns.list
    columnCount = columns.count
    key = select.tables.alias(at: records.link == nil ? 0 : 1).column(column.name)
    keyIndex = index
    (limit, offset) = (records.limit, records.offset)
    self.select = select
  }

  // MARK: The statement

  // Names that no table of a program has.
  private static var list: String { "larder_list" }
  private static var keys: String { "larder_key" }
  private static var rows: String { "larder_row" }

  /// - Parameter isJoined: whether the keys are joined as a table; its number is selected as the last column.
  func fragment(_ values: ArraySlice<DatabaseValue>, isJoined: Bool) -> SQLFragment {
    let list = MemberList(DatabaseValue.self, Array(values), isCoded: false)
    var select = select
    guard isJoined else {
      select.add(condition: key.infix(.in, operand: SQLFragment(.members(list))))
      return limited(select, columns, by: key, with: [])
    }
    // SQLite assumes that the list is short, and would scan all rows for each key. A CROSS JOIN in this order
    // makes it build an index on the list. An index of the rows is used by the IN condition below.
    let (key, comparison, isReferredTo) = (key, comparison, isReferredTo)
    let table = QueryTableDefinition(name: Self.keys, source: nil, codings: [])
    select.join(.crossJoin, table) { names in
      let value = (names.tables.aliases.last ?? .none).column("value")
      return SQLExpression<Bool>(
        isReferredTo
          ? comparison.equals(key: key, listed: value)
          : comparison.equals(foreignKey: key, listed: value))
    }
    if isReferredTo ? comparison.usesIndexOfKey : comparison.usesIndexOfForeignKey {
      select.add(
        condition: key.infix(.in, operand: "(SELECT \(name: "value") FROM \(name: Self.keys))"))
    }
    let number = (select.tables.aliases.last ?? .none).column("number")
    return limited(select, "\(columns), \(number)", by: number, with: keyTables(list, values))
  }

  /// The keys as a table: each key's number, and its value as the key's column stores it.
  private func keyTables(_ list: MemberList, _ values: ArraySlice<DatabaseValue>) -> [SQLFragment] {
    let columns: SQLFragment = "(\(name: "number"), \(name: "value")) AS"
    let rows = SQLFragment(.rows(list))
    if comparison.isStored(values) {
      return ["\(name: Self.keys)\(columns) MATERIALIZED (\(rows))"]
    }
    let value = comparison.stored(SQLFragment(text: "\"value\""))
    return [
      "\(name: Self.list)\(columns) (\(rows))",
      """
      \(name: Self.keys)\(columns) MATERIALIZED \
      (SELECT \(name: "number"), \(value) FROM \(name: Self.list))
      """,
    ]
  }

  /// The statement with at most `limit` rows of each partition.
  private func limited(
    _ select: Select, _ columns: SQLFragment, by part: SQLFragment, with tables: [SQLFragment]
  ) -> SQLFragment {
    guard let limit else {
      let statement = select.fragment(columns)
      return tables.isEmpty ? statement : "WITH \(.list(tables)) \(statement)"
    }
    var select = select
    let order = select.order.map { SQLFragment(" ORDER BY \($0.orderingTerms)") }
    select.order = nil
    let number: SQLFragment = "\(.call("row_number")) OVER (PARTITION BY \(part)\(order))"
    let count = columnCount + (tables.isEmpty ? 0 : 1)
    let names = (1...count).map { SQLFragment(text: "\"c\($0)\"") }
    let last = SQLFragment(text: "\"number\"")
    let rows: SQLFragment = """
      \(name: Self.rows)(\(.list(names + [last]))) AS (\(select.fragment("\(columns), \(number)")))
      """
    let (end, isTooLarge) = offset.addingReportingOverflow(limit)
    var condition = SQLFragment(last, .lessOrEqual, value: isTooLarge ? .max : end)
    if offset > 0 { condition = SQLFragment(last, .greater, value: offset).infix(.and, condition) }
    return """
      WITH \(.list(tables + [rows])) SELECT * FROM \(name: Self.rows) WHERE \(condition) \
      ORDER BY \(last)
      """
  }

  // MARK: Rows

  func read(
    _ keys: OwnerKeys, _ part: Range<Int>, isJoined: Bool, _ db: Database,
    into found: inout FoundRecords<Target>
  ) throws {
    let statement = try db.take(fragment(keys.values[part], isJoined: isJoined))
    try db.withRows(of: statement) { statement in
      statement.readAtOnce()
      let cursor = QueryCursor(statement)
      func column(_ index: Int) -> ColumnReader {
        ColumnReader(
          statement: cursor.handle, index: Int32(truncatingIfNeeded: index), format: cursor.format)
      }
      while try statement.step() {
        let row = try read(cursor)
        let key = try DatabaseValue(column: column(keyIndex))
        let numbers =
          isJoined
          ? [part.lowerBound + Int(column(columnCount).integer)] : keys.equal[ExactValue(key: key)]
        guard let numbers, numbers.allSatisfy(part.contains) else {
          throw DatabaseError(
            .mismatch, "a related row's key is none of the keys that were searched for")
        }
        for number in numbers {
          // A record with exactly that key comes first, before others whose keys only compare equal.
          let isFirst = isReferredTo && ExactValue(key) == ExactValue(keys.values[number])
          found.places[number].insert(
            found.rows.count, at: isFirst ? 0 : found.places[number].endIndex)
        }
        found.rows.append(row)
      }
    }
  }
}
