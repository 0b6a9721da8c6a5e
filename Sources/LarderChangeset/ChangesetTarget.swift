import Larder

/// A table to which changes are applied, with its compiled statements. They are ordinary statements of the
/// connection, so that its followers are told of the changes.
final class ChangesetTarget {
  let table: RecordedTable
  private let database: Database
  /// The quoted names of the changeset's columns. The table may have more.
  private let columns: [String]
  /// Whether this is `sqlite_stat1`, the result of ANALYZE, which has no key that SQLite enforces.
  private let isStatistics: Bool
  private var statements: [Kind: PreparedStatement] = [:]

  private enum Kind: Hashable {
    case insertion, deletion, search
    /// By the columns that are set (1) and compared (2).
    case update([UInt8])
  }

  /// How many statements stay compiled.
  private static let largestCount = 64
  private static let statistics = "sqlite_stat1"

  /// Finds the main database's table of the same name; nil if there is none. Throws `ResultCode.schema` if it
  /// has fewer columns or another key.
  static func find(_ table: RecordedTable, in database: Database) throws -> ChangesetTarget? {
    let found = try database.connection.untracked {
      try database.executeQuery(
        "SELECT name, pk FROM pragma_table_info(\(table.name), 'main') ORDER BY cid"
      ).map { row in
        (name: try row.get(at: 0, as: String.self), isKey: try row.get(at: 1, as: Int.self) > 0)
      }
    }
    guard !found.isEmpty else { return nil }
    let isStatistics = table.name.foldedName.elementsEqual(statistics.utf8)
    let keys = isStatistics ? found.indices.map { $0 < 2 } : found.map(\.isKey)
    guard keys.count >= table.columnCount,
      table.keys.indices.allSatisfy({ table.isKey($0) == keys[$0] }),
      !keys.dropFirst(table.columnCount).contains(true)
    else {
      throw DatabaseError(
        .schema,
        "the table \(table.name) has fewer columns, or another key, than in the changeset")
    }
    let columns = found.prefix(table.columnCount).map(\.name.quotedIdentifier)
    return ChangesetTarget(table, database, columns, isStatistics: isStatistics)
  }

  private init(
    _ table: RecordedTable, _ database: Database, _ columns: [String], isStatistics: Bool
  ) {
    self.table = table
    self.database = database
    self.columns = columns
    self.isStatistics = isStatistics
  }

  // MARK: Changes

  /// Inserts a row. Returns false if it violates a constraint.
  func insert(_ row: [RecordedValue]) throws -> Bool {
    if isStatistics, try find(row) != nil { return false }
    return try whereAllowed { try execute(insertStatement(), adapted(row)) } != nil
  }

  /// Deletes the row with a record's key; if `comparing`, only while all of its values match. Returns the
  /// number of deleted rows, or nil if a constraint is violated.
  func delete(_ row: [RecordedValue], comparing: Bool) throws -> Int? {
    try whereAllowed { try execute(deleteStatement(), deletionValues(row, comparing)) }
  }

  /// Deletes the row with a record's key. Throws if a constraint is violated.
  func remove(_ row: [RecordedValue]) throws {
    _ = try execute(deleteStatement(), deletionValues(row, false))
  }

  private func deletionValues(_ row: [RecordedValue], _ comparing: Bool) -> [RecordedValue] {
    let hasOthers = columns.count > table.primaryKey.count
    return adapted(row) + (hasOthers ? [.integer(comparing ? 0 : 1)] : [])
  }

  /// Updates the row with a change's key; if `comparing`, only while its values before the change match.
  /// Returns the number of updated rows, or nil if a constraint is violated.
  func update(_ change: RecordedChange, comparing: Bool) throws -> Int? {
    let (old, new) = (adapted(change.old), adapted(change.new))
    let set = columns.indices.filter { isSet($0, by: change) }.map { new[$0] }
    let compared = columns.indices.filter { isCompared($0, by: change, comparing) }.map { old[$0] }
    return try whereAllowed { try execute(updateStatement(change, comparing), set + compared) }
  }

  /// The stored row with a record's key, cut to the changeset's columns; nil if there is none.
  func find(_ record: [RecordedValue]) throws -> [DatabaseValue]? {
    let statement = try searchStatement()
    return try statement.with(table.key(of: adapted(record))) {
      try statement.begin()
      guard try statement.step() else { return nil }
      var row = try statement.row(columns.count) { try DatabaseValue(column: $0) }
      if isStatistics, row[1] == .null { row[1] = .blob([]) }
      return row
    }
  }

  // MARK: Statements

  private func isSet(_ index: Int, by change: RecordedChange) -> Bool {
    !table.isKey(index) && change.new[index].isDefined
  }

  private func isCompared(_ index: Int, by change: RecordedChange, _ comparing: Bool) -> Bool {
    table.isKey(index) || (comparing && change.old[index].isDefined)
  }

  private var name: String { "main.\(table.name.quotedIdentifier)" }

  private func insertStatement() throws -> PreparedStatement {
    try statement(.insertion) {
      let values = columns.map { _ in "?" }.joined(separator: ", ")
      return "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(values))"
    }
  }

  private func deleteStatement() throws -> PreparedStatement {
    try statement(.deletion) {
      // The statistics' index column may be NULL.
      let equals = isStatistics ? "IS" : "="
      let isKey = table.primaryKey.map { "\(columns[$0]) \(equals) ?\($0 + 1)" }
      let others = columns.indices.filter { !table.isKey($0) }
        .map { "\(columns[$0]) IS ?\($0 + 1)" }
      let text = "DELETE FROM \(name) WHERE \(isKey.joined(separator: " AND "))"
      return others.isEmpty
        ? text : text + " AND (?\(columns.count + 1) OR \(others.joined(separator: " AND ")))"
    }
  }

  private func searchStatement() throws -> PreparedStatement {
    try statement(.search) {
      let isKey = table.primaryKey.map { "\(columns[$0]) IS ?" }.joined(separator: " AND ")
      return "SELECT \(columns.joined(separator: ", ")) FROM \(name) WHERE \(isKey)"
    }
  }

  private func updateStatement(
    _ change: RecordedChange, _ comparing: Bool
  ) throws -> PreparedStatement {
    let mask = columns.indices.map { index -> UInt8 in
      (isSet(index, by: change) ? 1 : 0) | (isCompared(index, by: change, comparing) ? 2 : 0)
    }
    return try statement(.update(mask)) {
      let set = columns.indices.filter { mask[$0] & 1 != 0 }.map { "\(columns[$0]) = ?" }
      let compared = columns.indices.filter { mask[$0] & 2 != 0 }.map { "\(columns[$0]) IS ?" }
      return "UPDATE \(name) SET \(set.joined(separator: ", "))"
        + " WHERE \(compared.joined(separator: " AND "))"
    }
  }

  private func statement(_ kind: Kind, _ sql: () -> String) throws -> PreparedStatement {
    if let statement = statements[kind] { return statement }
    let statement = try database.connection.prepare(sql(), isPersistent: true)
    if statements.count >= Self.largestCount { statements.removeAll() }
    statements[kind] = statement
    return statement
  }

  /// The number of rows that a closure changes; nil if that violates a constraint and the transaction is
  /// still open.
  private func whereAllowed(_ body: () throws -> Int) throws -> Int? {
    do {
      return try body()
    } catch let error as DatabaseError
      where error.code == .constraint && database.connection.hasTransaction
    {
      return nil
    }
  }

  private func execute(_ statement: PreparedStatement, _ values: [RecordedValue]) throws -> Int {
    try statement.with(values) { try statement.run() }
  }

  /// Maps an empty blob back to NULL in the statistics' index column. A table without an index has NULL
  /// there, which sessions write as an empty blob, since columns of a key mustn't be NULL.
  private func adapted(_ record: [RecordedValue]) -> [RecordedValue] {
    guard isStatistics, case .blob(let bytes) = record[1], bytes.isEmpty else { return record }
    var record = record
    record[1] = .null
    return record
  }
}
