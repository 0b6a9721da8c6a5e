import CLibPQ
import Larder
import LarderSQLite

/// A statement on the server, behind a `Database`'s prepared statement.
///
/// What makes its unsafe memory sound: it belongs to this object alone, one cell for each column, and is
/// given back with it. The bytes that a cell points to are the row's, and stay as they are until the next step.
final class PostgresEngineStatement: EngineStatement {
  private let statement: PostgresStatement
  private let engine: PostgresEngine
  private let sql: String
  let parameterNames: [String?]
  let isReadOnly: Bool
  var readsAtOnce = false
  @exclusivity(unchecked) private var cells = UnsafeMutableBufferPointer<EngineValue>(
    start: nil, count: 0)
  private var hasBegun = false
  /// Whether the values are those of an execution, after which all are bound anew.
  private var isUsed = false
  /// Where values go while rows are copied, not retained: who copies keeps it.
  @exclusivity(unchecked) private var copying: Unmanaged<PostgresCopy>?

  init(
    _ statement: PostgresStatement, of engine: PostgresEngine, _ sql: String, _ text: StatementText
  ) {
    self.statement = statement
    self.engine = engine
    self.sql = sql
    parameterNames = text.names
    isReadOnly = text.isReadOnly
  }

  deinit { cells.deallocate() }

  var columnNames: [String] { statement.columnNames }
  var changes: Int { statement.changes }

  func bind(_ value: DatabaseValue, at index: Int) throws {
    if let copying { return try copying._withUnsafeGuaranteedRef { try $0.bind(value) } }
    if isUsed { statement.parameters.removeAll() }
    isUsed = false
    do {
      try statement.parameters.bind(value, at: index - 1)
    } catch let failure as PostgresFailure {
      throw DatabaseError(failure)
    }
  }

  func step(until deadline: Duration?) throws -> Bool {
    if statement.goOn() { return true }
    return try engine.perform(sql, until: deadline) {
      if !hasBegun {
        hasBegun = true
        isUsed = true
        try statement.execute(streaming: isReadOnly && !readsAtOnce)
        if cells.count != statement.columnNames.count { allocateCells() }
      }
      return try statement.next()
    }
  }

  private func allocateCells() {
    cells.deallocate()
    cells = .allocate(capacity: statement.columnNames.count)
    cells.initialize(repeating: EngineValue(.null))
  }

  func copy(
    into table: String, _ columns: [String], until deadline: Duration?, failedRow: inout Int?,
    _ bindNext: () throws -> Bool
  ) throws {
    try engine.perform(sql, until: deadline) {
      do {
        let copy = try PostgresCopy(
          into: table, columns, statement.parameters.types, on: engine.connection)
        copying = .passUnretained(copy)
        // What isn't finished is cancelled with the object.
        defer { withExtendedLifetime(copy) { copying = nil } }
        while try bindNext() { try copy.endRow() }
        _ = try copy.finish()
      } catch let failure as PostgresFailure {
        failedRow = failure.row
        throw failure
      }
    }
  }

  func value(at index: Int) -> UnsafePointer<EngineValue> {
    let cell = cells.baseAddress.unsafelyUnwrapped + index
    cell.pointee = statement.column(index)
    // Sums of integers are numeric numbers, and integers nonetheless.
    if !statement.texts.isEmpty, statement.columnTypes[index] == TypeOID.numeric,
      let integer = Int64(String(decoding: cell.pointee.bytes, as: UTF8.self))
    {
      cell.pointee.storageClass = .integer
      cell.pointee.integer = integer
    }
    return UnsafePointer(cell)
  }

  func reset() throws {
    hasBegun = false
    readsAtOnce = false
    try engine.perform(sql) { try statement.reset() }
  }
}
