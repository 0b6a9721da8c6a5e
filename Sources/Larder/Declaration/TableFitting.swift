import LarderSQLite
import Synchronization

/// A declaration as statements refer to it, compared with each connection's table once per schema.
final class TableFitting: ExpectedTable {
  /// The number by which statements identify the declaration.
  let number = TableNumber.next()
  let name: String
  /// The schema that the declaration names.
  private let schema: String?
  let columns: [ColumnDefinition]
  let foldedNames: [[UInt8]]
  /// The positions of the key's columns.
  let key: [Int]
  /// Whether SQLite chooses keys that are nil.
  let countsRows: Bool
  let isView: Bool
  let problem: DeclarationProblem
  /// Whether on some connection, contrary to the declaration, keys have to be given, rows have no row id, or
  /// values would be converted. Only then is a connection's own fit looked up.
  let isUnlikeDeclared: Atomic<Bool>
  private let isWithoutRowID: Bool

  init(
    _ name: String, in schema: String?, _ columns: [ColumnDefinition], _ options: TableOptions,
    countsRows: Bool,
    _ problem: DeclarationProblem
  ) {
    self.name = name
    self.schema = schema
    self.columns = columns
    foldedNames = columns.map(\.name.foldedName)
    self.countsRows = countsRows
    self.problem = problem
    key = columns.indices.filter { columns[$0].isPrimaryKey }
    isView = options.contains(.view)
    isWithoutRowID = options.contains(.withoutRowID)
    // A row id that is never written has to be nil in records that are inserted, which has to be checked.
    isUnlikeDeclared = Atomic(countsRows && key.contains { !columns[$0].isWritten })
  }

  /// Throws if the declaration is wrong, or if this use of the table would lose or change a value.
  func check(for use: TableUse, _ schema: SchemaReader) throws {
    var problem = problem.text
    if problem == nil { problem = try fit(schema)?.problem(for: use) }
    if let problem { throw RecordError.declaration(table: name, problem: problem) }
  }

  /// The fit with the connection's table; nil if there is none, or on another engine, whose types differ.
  private func fit(_ schema: SchemaReader) throws -> TableFit? {
    guard schema.isSQLite else { return nil }
    guard self.schema == nil else {
      // Tables of attached databases are taken as declared. The note is that they have been looked at.
      schema[finding: number] = self
      return nil
    }
    if let known = schema[finding: number] as? TableFit { return known }
    guard let table = try schema.table(name) else { return nil }
    let fit = try TableFit(self, table, schema)
    schema[finding: number] = fit
    let found = fit.findings
    let isUnlike =
      found.keepsKey || fit.misreturns && !isWithoutRowID || !found.converting.isEmpty
      || !found.neededKeys.isEmpty
    if isUnlike { isUnlikeDeclared.store(true, ordering: .relaxed) }
    return fit
  }

  @inline(__always)
  func keepsKey(_ db: Database) -> Bool { known(db)?.findings.keepsKey == true }

  func neededKeys(_ db: Database) -> [Int] { known(db)?.findings.neededKeys ?? [] }

  func misreturns(_ db: Database) -> Bool { isWithoutRowID || known(db)?.misreturns == true }

  func converting(_ db: Database) -> [ConvertingColumn] { known(db)?.findings.converting ?? [] }

  /// The fit on a connection whose table has been looked at; nil if all fits are as declared.
  private func known(_ db: Database) -> TableFit? {
    isUnlikeDeclared.load(ordering: .relaxed) ? db.schemaReader[finding: number] as? TableFit : nil
  }
}

extension TableCore: ExpectedTable {
  @usableFromInline package var number: Int { tableNumber }

  /// Checks the fit for the table's own statements, and notes in the state whether it is unlike declared.
  @usableFromInline
  package func check(for use: TableUse, _ schema: SchemaReader) throws {
    defer {
      if fitting.isUnlikeDeclared.load(ordering: .relaxed) {
        state.bitwiseOr(DeclarationState.unlikeDeclared.rawValue, ordering: .relaxed)
      }
    }
    try fitting.check(for: use, schema)
  }

  func reference(as alias: String) -> SQLFragment {
    SQLFragment(
      text: QueryAlias.definition(of: name, in: schema, as: alias), of: fitting, fitting.number)
  }

  /// Throws if a record can't be written to the table that the database has.
  func checkFits(
    _ record: UnsafeRawPointer, _ written: [Int], for use: TableUse, _ db: Database
  ) throws {
    if use.contains(.insertion) {
      if let rowIDColumn { try checkUnwrittenKey(rowIDColumn, of: record, db) }
      for column in fitting.neededKeys(db) { try checkKey(column, of: record, db) }
    }
    for column in fitting.converting(db) where written.contains(column.index) {
      let value = try layout.value(of: column.index, in: record, db.dateFormat)
      if column.changes(value) { throw problem(of: column, key: key(of: record, db)) }
    }
  }

  /// Throws if a record lacks a part of its key that SQLite wouldn't choose.
  private func checkKey(_ column: Int, of record: UnsafeRawPointer, _ db: Database) throws {
    guard try layout.value(of: column, in: record, db.dateFormat) == .null else { return }
    let name = columns[column].name
    let problem =
      column == rowIDColumn
      ? """
      its key “\(name)” isn't the row id in the database, so SQLite would store NULL for a key that is \
      nil: give each record a key, or declare the column INTEGER PRIMARY KEY
      """
      : """
      its key “\(name)” can be NULL in the database, so SQLite would store NULL for a key that is nil, and \
      the row couldn't be found by it: give each record a key
      """
    throw RecordError.declaration(table: self.name, problem: problem)
  }

  /// Throws if a record has a key that would never be written.
  private func checkUnwrittenKey(
    _ column: Int, of record: UnsafeRawPointer, _ db: Database
  ) throws {
    let isWritten = columns[column].isWritten
    if try isWritten || layout.value(of: column, in: record, db.dateFormat) == .null { return }
    throw RecordError.declaration(
      table: self.name,
      problem: """
        its key “\(columns[column].name)” is read-only, so the row's key would differ from the record's: \
        leave out .readOnly, or insert records whose key is nil
        """)
  }
}
