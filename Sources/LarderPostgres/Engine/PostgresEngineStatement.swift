import CLibPQ
import LarderSQLite

/// A statement on the server, behind a `Database`'s prepared statement.
///
/// What makes its unsafe memory sound: it belongs to this object alone, one cell for each column, and is
/// given back with it. The bytes that a cell points to are the row's, or those of ``texts``, which stay as
/// they are until the next step.
final class PostgresEngineStatement: EngineStatement {
  private let statement: PostgresStatement
  private let engine: PostgresEngine
  private let sql: String
  let parameterNames: [String?]
  let isReadOnly: Bool
  private var cells = UnsafeMutableBufferPointer<EngineValue>(start: nil, count: 0)
  /// Text that the server sends in another form.
  private var texts: [UnsafeMutableBufferPointer<UInt8>] = []
  private var hasBegun = false

  init(
    _ statement: PostgresStatement, of engine: PostgresEngine, _ sql: String, _ text: StatementText
  ) {
    self.statement = statement
    self.engine = engine
    self.sql = sql
    parameterNames = text.names
    isReadOnly = text.isReadOnly
  }

  deinit {
    dropTexts()
    cells.deallocate()
  }

  var columnNames: [String] { statement.columnNames }
  var changes: Int { statement.changes }

  func bind(_ value: DatabaseValue, at index: Int) throws {
    let parameters = statement.parameters
    // Without a description from the server, which is asked where there are parameters.
    guard index <= parameters.count else { return }
    try parameters.bind(value, at: index - 1)
  }

  func step(until deadline: Duration?) throws -> Bool {
    dropTexts()
    return try engine.perform(sql, until: deadline) {
      if !hasBegun {
        hasBegun = true
        try statement.execute(streaming: isReadOnly)
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

  func value(at index: Int) -> UnsafePointer<EngineValue> {
    let column = statement.column(index)
    var value = EngineValue(column.storageClass)
    switch value.storageClass {
    case .null: break
    case .integer: value.integer = column.integer
    case .real: value.real = column.real
    case .blob: value.bytes = column.bytes
    case .text: read(column, into: &value)
    }
    let cell = cells.baseAddress.unsafelyUnwrapped + index
    cell.pointee = value
    return UnsafePointer(cell)
  }

  /// Reads what the server doesn't send as the text that it is.
  private func read(_ column: PostgresColumn, into value: inout EngineValue) {
    if TypeOID.isText(column.type) { return value.bytes = column.bytes }
    column.withUnsafeBytes { value.bytes = kept($0) }
    // Sums of integers are numeric numbers, and integers nonetheless.
    guard column.type == TypeOID.numeric,
      let integer = Int64(String(decoding: value.bytes, as: UTF8.self))
    else { return }
    value.storageClass = .integer
    value.integer = integer
  }

  private func kept(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = copy.initialize(from: bytes)
    texts.append(copy)
    return UnsafeRawBufferPointer(copy)
  }

  private func dropTexts() {
    for text in texts { text.deallocate() }
    texts.removeAll(keepingCapacity: true)
  }

  func reset() {
    hasBegun = false
    dropTexts()
    // What goes wrong here goes wrong with the connection, which the next call tells.
    _ = try? engine.perform(sql) { try statement.reset() }
  }

  func finalize() { reset() }
}
