import CLibPQ
import LarderSQLite

/// A bulk insert into a table by `COPY … FROM STDIN`, several times as fast as INSERT.
///
/// In binary, each row is bound from its first column to its last, and ended; as text, it is a line. All rows
/// are stored, or none. The server's errors are thrown at the end, with the row's number.
///
/// See [COPY](https://www.postgresql.org/docs/current/sql-copy.html).
final class PostgresCopy {
  private let connection: PostgresConnection
  private let sql: String
  private let table: String
  private let types: [Oid]
  private let isText: Bool
  @exclusivity(unchecked) private var buffer = WireBuffer()
  @exclusivity(unchecked) private var rowStart = 0
  @exclusivity(unchecked) private var column = 0
  private var isOpen: Bool { connection.copying == ObjectIdentifier(self) }

  /// How many bytes are handed to libpq at a time.
  private static let chunk = 1 << 16
  private static let header =
    Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Begins a COPY. The names are those in the catalog, without quotes.
  ///
  /// - Parameters:
  ///   - quoted: the table's name as SQL, if it has a schema before it.
  ///   - types: the columns' types, for a COPY in binary; nil for lines that the server parses, into columns
  ///     of any type. Throws `0A000` if a type can't be written in binary here; the rows have to be inserted
  ///     then.
  init(
    into table: String, quoted: String? = nil, _ columns: [String], _ types: [Oid]?,
    on connection: PostgresConnection
  ) throws {
    guard types?.allSatisfy(TypeOID.canBeCopied) ?? true else {
      throw PostgresFailure(
        SQLState.notSupported, "a column has a type that can't be copied in binary form")
    }
    self.connection = connection
    self.table = table
    self.types = types ?? []
    isText = types == nil
    let columns = columns.map(\.quotedIdentifier).joined(separator: ", ")
    sql =
      "COPY \(quoted ?? table.quotedIdentifier) (\(columns)) FROM STDIN (FORMAT \(isText ? "text" : "binary"))"
    let handle = try connection.leavePipeline()
    try connection.check(PQsendQuery(handle, sql))
    try connection.flush(handle)
    guard let answer = try connection.nextResult() else { throw connection.lost() }
    defer { PQclear(answer) }
    guard PQresultStatus(answer) == PGRES_COPY_IN else {
      let failure = connection.failure(answer, sql: sql)
      if connection.handle != nil { _ = try connection.outcome(sql: sql) }
      try connection.enterPipeline()
      throw failure
    }
    connection.copying = ObjectIdentifier(self)
    if isText { return }
    Self.header.withUnsafeBytes { buffer.append($0) }
    beginRow()
  }

  deinit { cancel() }

  // MARK: Rows

  private func beginRow() {
    rowStart = buffer.count
    column = 0
    buffer.append(bigEndian: Int16(truncatingIfNeeded: types.count))
  }

  /// Writes a value, preceded by its length. Throws `ConversionError` if the column can't hold the value; the
  /// row can't be ended then.
  func bind(_ value: EngineValue) throws {
    guard isOpen, column < types.count else {
      throw PostgresFailure(
        SQLState.wrongState, "the row has only \(types.count) columns, or the copy has ended")
    }
    let start = buffer.count
    buffer.append(bigEndian: -1 as Int32)
    if value.storageClass != .null {
      _ = try buffer.write(value, as: types[column], inBinary: true)
      try buffer.checkLength(buffer.count)
      buffer.replace(at: start, byBigEndian: Int32(buffer.count - start - 4))
    }
    column += 1
  }

  /// Ends the row.
  func endRow() throws {
    guard isOpen, column == types.count else {
      throw PostgresFailure(
        SQLState.wrongState,
        "only \(column) of \(types.count) columns are bound, or the copy has ended")
    }
    if buffer.count >= Self.chunk { try send() }
    beginRow()
  }

  /// Writes a line, including its line break.
  func append(line: [UInt8]) throws {
    guard isOpen, isText else { throw Self.ended }
    line.withUnsafeBytes { buffer.append($0) }
    if buffer.count >= Self.chunk { try send() }
  }

  /// Hands the buffer to libpq.
  private func send() throws {
    try put { handle in
      let start = buffer.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return PQputCopyData(handle, start, Int32(buffer.count))
    }
    buffer.count = 0
    // A server that takes all rows lets nothing wait, so that nothing else looks at the clock.
    try connection.stopIfDue()
    if connection.isStopping { try end("interrupted") }
  }

  /// Makes a call that hands data to libpq, and waits until the system has taken the data.
  private func put(_ call: (OpaquePointer) -> Int32) throws {
    do {
      guard let handle = connection.handle, connection.isOpen else { throw connection.lost() }
      var code: Int32 = 0
      while code == 0 {
        code = call(handle)
        guard code >= 0 else { throw connection.lost() }
        try connection.flush(handle)
      }
    } catch {
      connection.copying = nil
      throw error
    }
  }

  // MARK: End

  private static let ended = PostgresFailure(
    SQLState.wrongState, "the copy has ended: its rows were stored or discarded")

  /// Stores the rows, and returns how many there were. Columns bound after the last ``endRow()`` are dropped.
  func finish() throws -> Int {
    guard isOpen else { throw Self.ended }
    if !isText {
      buffer.count = rowStart
      buffer.append(bigEndian: -1 as Int16)
    }
    try send()
    return try end(nil)
  }

  /// Cancels the COPY, which then stores nothing.
  func cancel() {
    guard isOpen else { return }
    // The error only says that the COPY was cancelled.
    _ = try? end("cancelled")
  }

  @discardableResult
  private func end(_ reason: String?) throws -> Int {
    connection.copying = nil
    try put { PQputCopyEnd($0, reason) }
    var count = 0
    let failure = try connection.outcome(sql: sql, copyingInto: table) {
      count = PQcmdTuples($0).flatMap { Int(String(cString: $0)) } ?? 0
    }
    try connection.enterPipeline()
    if let failure { throw failure }
    return count
  }
}

extension PostgresConnection {
  /// Leaves pipeline mode, in which COPY isn't possible. Deferred statements are sent before, in a round trip
  /// of their own.
  fileprivate func leavePipeline() throws -> OpaquePointer {
    if !deferred.isEmpty {
      try roundTrip { _ in }
      try finish()
    }
    let handle = try begin()
    // The COPY itself takes one when it begins, and one when it ends.
    roundTripCount += 2
    isInTransaction = !isIdle
    try check(PQexitPipelineMode(handle))
    return handle
  }

  /// Ends the operation, and returns to pipeline mode.
  fileprivate func enterPipeline() throws {
    end()
    if let handle { try check(PQenterPipelineMode(handle)) }
  }
}
