import LarderSQLite

/// The statement that finds records by a list of keys: for all owners of an association at once.
///
/// Mostly a row has the key that it was found by in one of its columns. Where a collation or an affinity
/// makes different values equal, the list is joined as a table, and its numbers tell which keys a row was
/// found by. A limit counts the rows of each key by a window function.
struct RelatedStatement<Target: Record> {
  private let select: Select
  private let comparison: KeyComparison
  private let columns: SQLFragment
  private let columnCount: Int
  private let read: (QueryCursor) throws -> Target
  /// The column that has the keys, by its table's name in the query.
  private let key: SQLFragment
  /// Where that column is in a row.
  private let keyIndex: Int
  private let isReferredTo: Bool
  private let limit: Int?
  private let offset: Int

  /// Throws where a column isn't there, and for a query whose rows aren't just those of its table.
  init(_ records: RelatedRecords<Target>, _ db: Database) throws {
    var select = records.query.select
    guard select.isPlain else {
      throw DatabaseError(
        .misuse,
        """
        an association's query can't be grouped, distinct or limited: limit the association, for each \
        owner
        """)
    }
    let (column, ownerKey) = (records.column, records.ownerKey)
    isReferredTo = records.isReferredTo
    comparison =
      try isReferredTo
      ? KeyComparison(column, ownerKey, db) : KeyComparison(ownerKey, column, db)
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

  /// Whether rows tell by themselves which of these keys they were found by.
  func isExact(for keys: some Collection<DatabaseValue>) -> Bool { comparison.isExact(for: keys) }

  // MARK: The statement

  // No table of a program has these names.
  private static var list: String { "larder_list" }
  private static var keys: String { "larder_key" }
  private static var rows: String { "larder_row" }

  /// - Parameter isJoined: whether the keys are a table, whose numbers come after the columns.
  func fragment(_ values: ArraySlice<DatabaseValue>, isJoined: Bool) -> SQLFragment {
    let list = MemberList(DatabaseValue.self, Array(values), isCoded: false)
    var select = select
    guard isJoined else {
      select.add(condition: key.infix(.in, operand: SQLFragment(.members(list))))
      return limited(select, columns, by: key, with: [])
    }
    // SQLite takes the list for short, and would look through all rows for each key: with a join in this
    // order it makes an index of the list. One of the rows finds them where there is one.
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
        condition: key.infix(
          .in, operand: "(SELECT \(name: "value") FROM \(name: Self.keys))"))
    }
    let number = (select.tables.aliases.last ?? .none).column("number")
    return limited(select, "\(columns), \(number)", by: number, with: keyTables(list, values))
  }

  /// The keys as a table: each with its number, and as the key's column stores it.
  private func keyTables(
    _ list: MemberList, _ values: ArraySlice<DatabaseValue>
  ) -> [SQLFragment] {
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

  /// The statement with no more rows of each part than the limit.
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
    if offset > 0 {
      condition = SQLFragment(last, .greater, value: offset).infix(.and, condition)
    }
    return """
      WITH \(.list(tables + [rows])) SELECT * FROM \(name: Self.rows) WHERE \(condition) \
      ORDER BY \(last)
      """
  }

  // MARK: Rows

  /// Adds the rows that some of the keys find.
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
          throw DatabaseError(.mismatch, "a row has another key than those that it was found by")
        }
        for number in numbers {
          // What is referred to is the record with that very key, should others equal it.
          let isFirst = isReferredTo && ExactValue(key) == ExactValue(keys.values[number])
          found.places[number].insert(
            found.rows.count, at: isFirst ? 0 : found.places[number].endIndex)
        }
        found.rows.append(row)
      }
    }
  }
}
