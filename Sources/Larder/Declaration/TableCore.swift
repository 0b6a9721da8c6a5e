import LarderSQLite
import Synchronization

/// The positions of a table's columns in a row.
///
/// Its pointer is sound: the memory is freed only with the object, and never written after the initializer.
@usableFromInline
final class Positions: @unchecked Sendable {
  @usableFromInline let first: UnsafePointer<Int32>
  @usableFromInline let count: Int

  init(_ numbers: [Int32]) {
    count = numbers.count
    let memory = UnsafeMutablePointer<Int32>.allocate(capacity: max(1, numbers.count))
    for (index, number) in numbers.enumerated() { (memory + index).initialize(to: number) }
    first = UnsafePointer(memory)
  }

  deinit { first.deallocate() }
}

/// The part of a table that isn't generic over its records, so that it is compiled only once.
@usableFromInline
package final class TableCore: Sendable {
  @usableFromInline package let name: String
  /// The schema that statements name; nil for none.
  @usableFromInline package let schema: String?
  package let columns: [ColumnDefinition]
  let constraints: [TableConstraintDefinition]
  let options: TableOptions
  /// The ``DeclarationState``, which operations check.
  @usableFromInline let state: Atomic<UInt8>
  var problem: DeclarationProblem { fitting.problem }
  /// The declaration for the comparison with databases' tables.
  let fitting: TableFitting
  @usableFromInline let tableNumber: Int
  let initializer: InitializerCheck
  let recordType: String
  /// The types of the last key that passed the check against the key's columns.
  @usableFromInline let knownKey = Atomic<UInt>(0)
  let propertyTypes: [any Any.Type]
  let sql: RecordSQL
  /// The properties of the columns.
  @usableFromInline package let layout: RecordLayout
  /// Whether a column of the key has a coding of its own.
  @usableFromInline let hasCodedKey: Bool
  @usableFromInline let hasDecimals: Bool
  /// Whether a column counts the updates of a row.
  @usableFromInline let hasVersion: Bool
  /// The column that SQLite fills when it is NULL: a nullable integer that is the whole key.
  let rowIDColumn: Int?

  /// This table as a query's only one, under its own name.
  @usableFromInline let tables: QueryTables
  @usableFromInline let alias: QueryAlias
  @usableFromInline let qualifiedColumns: SQLFragment

  @usableFromInline let find: RecordStatement
  @usableFromInline let select: RecordStatement
  /// The positions of the columns in a row of ``select``: the same as in the table.
  @usableFromInline let identity: Positions
  let insert: RecordStatement
  let update: RecordStatement
  let upsert: RecordStatement
  let delete: RecordStatement
  /// Further statements, made on demand.
  private let further = Lock<[StatementKey: RecordStatement]>([:])

  @usableFromInline
  init(
    _ name: String, in schema: String? = nil, _ declaration: TableDeclaration, tupleSize: Int,
    columns problemOfColumns: @escaping @Sendable ([String], [UInt]) -> String?,
    make: @escaping RecordMaker
  ) {
    self.name = name
    self.schema = schema
    columns = declaration.columns
    layout = RecordLayout(declaration.properties)
    constraints = declaration.constraints
    options = declaration.options
    recordType = declaration.recordType
    propertyTypes = declaration.properties.map(\.valueType)
    let problem =
      layout.size == tupleSize
      ? declaration.problem(table: name, schema: schema)
      : "its columns' values have no layout in memory"
    initializer = InitializerCheck(declaration.properties, declaration.readers, layout, make)
    let key = columns.indices.filter { [columns] in columns[$0].isPrimaryKey }
    hasCodedKey = key.contains { [columns] in columns[$0].code != nil }
    hasDecimals = columns.contains { $0.type.kind == .decimal }
    rowIDColumn =
      key.count == 1 && columns[key[0]].type == .integer.optional && columns[key[0]].isOfRowIDType
        && options.isDisjoint(with: [.withoutRowID, .view]) ? key[0] : nil
    let storages = declaration.storages
    fitting = TableFitting(
      name, in: schema, columns, options, countsRows: rowIDColumn != nil,
      DeclarationProblem(problem) { [names = columns.map(\.name)] in
        problemOfColumns(names, storages)
      })
    tableNumber = fitting.number
    var state: DeclarationState =
      problem != nil ? .wrong : initializer.isDone ? [] : .uncheckedInitializer
    state.insert(.untried)
    if fitting.isUnlikeDeclared.load(ordering: .relaxed) { state.insert(.unlikeDeclared) }
    if options.contains(.view) { state.insert(.view) }
    if options.contains(.part) { state.insert(.part) }
    if let rowIDColumn, !layout.properties[rowIDColumn].isWritable { state.insert(.constantKey) }
    self.state = Atomic(state.rawValue)

    let table = SQLFragment(text: name.quoted(in: schema), of: fitting, fitting.number)
    sql = RecordSQL(table: table, name: name, columns: columns)
    hasVersion = sql.version != nil
    alias = QueryAlias(name)
    let prefix = alias.prefix
    qualifiedColumns = SQLFragment(
      text: columns.map { prefix + $0.name.quotedIdentifier }.joined(separator: ", "))
    tables = QueryTables(table, [alias], ownColumns: qualifiedColumns)
    identity = Positions(columns.indices.map { Int32(truncatingIfNeeded: $0) })
    find = RecordStatement(sql.find)
    select = RecordStatement(sql.select)
    insert = RecordStatement(sql.insert())
    update = RecordStatement(sql.update())
    upsert = RecordStatement(sql.upsert())
    delete = RecordStatement(sql.delete)
  }

  /// A statement that is made at its first use. Its text has to be the same for all engines.
  func statement(
    _ key: StatementKey, _ make: () throws -> SQLFragment
  ) rethrows -> RecordStatement {
    try further.withLock { further in
      if let statement = further[key] { return statement }
      let statement = RecordStatement(try make())
      further[key] = statement
      return statement
    }
  }

  /// Whether the row id or a version may not fit its property, which shows only once the row is written.
  var mayNotTakeIntegers: Bool {
    let columns = [rowIDColumn, sql.version].compactMap { $0 }
    return columns.contains { self.columns[$0].code != nil || layout.properties[$0].size < 8 }
  }

  @usableFromInline var hasTimestamps: Bool { !(sql.updated.isEmpty && sql.created.isEmpty) }
  package var quotedName: String { name.quoted(in: schema) }

  var primaryKey: [ColumnDefinition] { columns.filter(\.isPrimaryKey) }

  @inlinable @inline(__always)
  func check() throws {
    if _slowPath(isInState([.wrong, .untried])) { try checkDeclaration() }
  }

  @usableFromInline
  func checkDeclaration() throws {
    let problem = problem.text
    if problem != nil { state.bitwiseOr(DeclarationState.wrong.rawValue, ordering: .relaxed) }
    state.bitwiseAnd(~DeclarationState.untried.rawValue, ordering: .relaxed)
    if let problem { throw RecordError.declaration(table: name, problem: problem) }
  }

  @inlinable @inline(__always)
  func isInState(_ state: DeclarationState) -> Bool {
    self.state.load(ordering: .relaxed) & state.rawValue != 0
  }

  /// Throws where the declaration is wrong, or there is no key to tell rows by.
  @usableFromInline @inline(__always)
  func checkHasKey() throws {
    try check()
    if _slowPath(sql.key.isEmpty) { throw keyError }
  }

  @usableFromInline
  var keyError: RecordError {
    @inline(never) get {
      .declaration(table: name, problem: "it has no primary key to find a row by")
    }
  }

  // MARK: Errors

  /// The key of a record; NULL for the parts that can't be stored.
  func key(of record: UnsafeRawPointer, _ db: Database) -> [DatabaseValue] {
    sql.key.map { (try? layout.value(of: $0, in: record, db.dateFormat)) ?? .null }
  }

  /// Adds the column, if there is one, to an error of writing a record.
  package func describe(
    _ error: any Error, writing record: UnsafeRawPointer, _ db: Database, sql text: String
  ) -> any Error { describe(error, sql: text, index: { $0 }, key: key(of: record, db)) }

  /// Adds the column and the key, if there are any, to an error of reading a row.
  @usableFromInline
  func describe(_ error: any Error, reading row: RecordRow, sql text: String) -> any Error {
    describe(
      error, sql: text, index: { Int(row.positions[$0]) },
      key: sql.key.compactMap {
        try? DatabaseValue(
          column: ColumnReader(
            statement: row.statement, index: row.positions[$0], format: row.format))
      })
  }

  private func describe(
    _ error: any Error, sql text: String, index: (Int) -> Int,
    key: @autoclosure () -> [DatabaseValue]
  ) -> any Error {
    guard let failure = error as? ColumnFailure else { return error }
    guard let error = failure.error as? ConversionError else { return failure.error }
    let column = columns[failure.column].name
    return RecordError.conversion(
      table: name, column: column, key: key(),
      error: ConversionError(error, column: column, index: index(failure.column), sql: text))
  }
}

/// Identifies one of a table's statements that insert rows.
struct StatementKey: Hashable {
  /// The name of the statement's engine; nil for SQLite.
  var engine: String?
  var rows = 1
  var policy: String?
  var isUpsert = false
  /// The column that is left out, on engines other than SQLite.
  var leftOut: Int?
  var returned: [Int] = []
}
