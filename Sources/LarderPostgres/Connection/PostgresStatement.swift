import CLibPQ
import Glibc
import LarderSQLite

extension PostgresConnection {
  /// Prepares a statement. Without parameters nothing is sent: the statement is compiled in the round trip of
  /// its first execution. Otherwise the server tells the parameters' types.
  func prepare(_ sql: String, parameterCount: Int? = nil) throws -> PostgresStatement {
    try Self.checkText(sql)
    let statement = PostgresStatement(sql, on: self)
    if parameterCount != 0 { try statement.describe() }
    return statement
  }
}

/// A prepared statement, its execution and its rows.
///
/// Safety: a libpq result belongs to the statement from the moment it is returned until it is cleared, which
/// happens when the statement moves on. Results don't need the connection that they came from. Values point
/// into the result, or into ``texts``, which go with the row.
final class PostgresStatement {
  let sql: String
  private let connection: PostgresConnection
  /// The name on the server; empty if the statement isn't kept there.
  private var name = ""
  /// The hash of the statement's text and its parameters' types.
  private var hash = ""
  /// The name by which the statement was run last.
  private var sentName = ""
  /// The generation of the connection's names when the statement was prepared.
  private var generation = 0
  /// Whether the server has the statement by its name.
  private var isPrepared: Bool { !name.isEmpty && generation == connection.names.generation }
  /// Whether the types of its parameters are known.
  private var isDescribed = false
  /// Whether the statement has run since, so that an error can only be about its plan.
  private var hasRun = false
  @exclusivity(unchecked) private(set) var parameters = PostgresParameters(types: [])
  private(set) var columnNames: [String] = []
  @exclusivity(unchecked) private(set) var columnTypes: [Oid] = []
  /// The columns' types that aren't plain, by their positions; nil until they are known.
  @exclusivity(unchecked) private var specialTypes: [ServerType?]?
  /// Whether there are any: one test for each value of all other statements.
  @exclusivity(unchecked) private var hasSpecialTypes = false
  /// How many rows were inserted, changed or deleted; known once the last row was read.
  private(set) var changes = 0

  @exclusivity(unchecked) private var current: OpaquePointer?
  @exclusivity(unchecked) private var row: Int32 = -1
  @exclusivity(unchecked) private var rowCount: Int32 = 0
  /// The values of the row that are converted from the server's form.
  @exclusivity(unchecked) private var texts: [UnsafeMutableRawBufferPointer] = []
  /// Whether results are on the way.
  @exclusivity(unchecked) private var isRunning = false
  /// Whether the results on the way are unwanted.
  @exclusivity(unchecked) private(set) var isUnwanted = false
  /// The rows that were read ahead because another statement had to run, and the failure that ended them, if
  /// any.
  private var rest: OpaquePointer?
  private var restFailure: PostgresFailure?

  init(_ sql: String, on connection: PostgresConnection) {
    self.sql = sql
    self.connection = connection
  }

  deinit {
    // Errors can't be thrown here. Afterwards the statement isn't streaming.
    try? reset()
    try? readToEnd()
    releaseName()
  }

  // MARK: Preparation

  /// Has the server compile the statement and tell the types of parameters and columns. The server keeps it
  /// by a name only later, when the statement runs.
  func describe() throws {
    try connection.roundTrip { handle in
      try connection.check(PQsendPrepare(handle, "", sql, 0, nil))
      try connection.check(PQsendDescribePrepared(handle, ""))
    }
    if let failure = try connection.outcome(sql: sql) { try connection.fail(failure) }
    let failure = try connection.outcome(sql: sql) { description in
      let types = (0..<PQnparams(description)).map { PQparamtype(description, $0) }
      // Bound values stay if the types are the same when the statement is prepared anew.
      if types != parameters.types { parameters = PostgresParameters(types: types) }
      readColumns(of: description)
    }
    if let failure { try connection.fail(failure) }
    try connection.finish()
    isDescribed = true
    hash = ""
    try parameters.lookUp(on: connection)
    try checkColumns()
  }

  /// Takes a name by which the server keeps the statement. Returns whether it has to be compiled for that.
  private func takeName() -> Bool {
    if isPrepared { return false }
    if hash.isEmpty { hash = StatementNames.hash(sql, parameters.types) }
    let taken = connection.names.take(hash)
    name = taken.name
    generation = connection.names.generation
    hasRun = taken.isKnown
    return !taken.isKnown
  }

  /// Gives the name back.
  ///
  /// - Parameter isThere: whether the server has the statement.
  private func releaseName(isThere: Bool = true) {
    if isPrepared { connection.names.release(name, isThere: isThere) }
    name = ""
  }

  private func readColumns(of result: OpaquePointer) {
    let count = PQnfields(result)
    let isKnown =
      columnTypes.count == count && isPrepared
      && (0..<count).allSatisfy { PQftype(result, $0) == columnTypes[Int($0)] }
    if isKnown { return }
    columnTypes = (0..<count).map { PQftype(result, $0) }
    specialTypes = nil
    columnNames = (0..<count).map { PQfname(result, $0).map { String(cString: $0) } ?? "" }
  }

  /// Finds out how the columns that aren't plain are read. Throws if one of them can't be.
  private func checkColumns() throws {
    guard specialTypes == nil else { return }
    let isPlain = columnTypes.allSatisfy(TypeOID.canBeRead) || connection.configuration.readsText
    hasSpecialTypes = !isPlain
    if isPlain { return specialTypes = [] }
    let types = try connection.types.types(columnTypes, on: connection)
    for (index, type) in types.enumerated() where type == nil {
      throw PostgresFailure(
        SQLState.notSupported,
        "the type of column “\(columnNames[index])” (OID \(columnTypes[index])) can't be read: cast it to text"
      )
    }
    specialTypes = types.map { type in
      // A domain is sent as the type that it is based on.
      if case .plain? = type { nil } else { type }
    }
  }

  // MARK: Execution

  /// Runs the statement, up to its first row or its end.
  ///
  /// - Parameter streaming: whether rows are read as they come, instead of all at once: slower, but with
  ///   memory for one row.
  func execute(streaming: Bool = false) throws {
    try reset()
    let types = parameters.types
    do {
      try start(streaming: streaming)
    } catch var failure as PostgresFailure {
      guard isOutdated(by: failure) else { throw failure }
      guard connection.status == .idle else {
        failure.isStalePlan = true
        throw failure
      }
      if !isDescribed, !types.isEmpty { try describe() }
      // The values were bound for the types that the parameters had.
      guard parameters.types == types else { throw failure }
      try start(streaming: streaming)
    }
  }

  /// Whether a failure means that the server has to compile the statement anew: the schema has changed under
  /// the plan, or a pooler, or a DISCARD, has lost the statement.
  private func isOutdated(by failure: PostgresFailure) -> Bool {
    guard !sentName.isEmpty else { return false }
    if failure.isStalePlan, hasRun {
      connection.names.retire(sentName, hash)
      releaseName()
      isDescribed = false
      return true
    }
    let isStray = [SQLState.unknownStatement, SQLState.duplicateStatement].contains(
      failure.sqlState)
    guard isStray, failure.message.contains(sentName) else { return false }
    name = ""
    connection.noteStrayStatement()
    return true
  }

  private func start(streaming: Bool) throws {
    if !isDescribed, parameters.count > 0 { try describe() }
    let isKept = connection.keepsStatements
    let isNew = isKept && takeName()
    sentName = isKept ? name : ""
    var hasFailed = true
    defer { if isNew, hasFailed { releaseName(isThere: false) } }
    try connection.roundTrip { handle in
      let (count, values) = (Int32(parameters.count), parameters.pointers)
      if isNew { try connection.check(PQsendPrepare(handle, name, sql, count, parameters.types)) }
      let (lengths, formats) = (parameters.lengths, parameters.formats)
      let format: ValueFormat = connection.configuration.readsText ? .text : .binary
      let code =
        isKept
        ? PQsendQueryPrepared(handle, name, count, values, lengths, formats, format.rawValue)
        : PQsendQueryParams(
          handle, sql, count, parameters.types, values, lengths, formats, format.rawValue)
      try connection.check(code)
    }
    if isNew, let failure = try connection.outcome(sql: sql) { try connection.fail(failure) }
    hasFailed = false
    if streaming { try connection.check(PQsetSingleRowMode(connection.handle)) }
    changes = 0
    isRunning = true
    connection.streaming = self
    stand(on: try fetch())
    try checkColumns()
    hasRun = isPrepared
  }

  /// Reads on to the next result with rows; nil at the end.
  private func fetch() throws -> OpaquePointer? {
    var rows: OpaquePointer?
    do {
      while let result = try connection.nextResult() {
        let status = PQresultStatus(result)
        switch status {
        case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK:
          if row < 0 { readColumns(of: result) }
          if status == PGRES_SINGLE_TUPLE { return result }
          note(result)
          if PQntuples(result) > 0 { rows = result } else { PQclear(result) }
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
          note(result)
          PQclear(result)
        case PGRES_FATAL_ERROR:
          let failure = connection.failure(result, sql: sql, hasValues: parameters.count > 0)
          PQclear(result)
          stopRunning()
          try connection.fail(failure)
        default:
          PQclear(result)
          throw connection.abandon(SQLState.notSupported, PostgresConnection.copyMessage)
        }
      }
      stopRunning()
      try connection.finish()
    } catch {
      stopRunning()
      PQclear(rows)
      throw error
    }
    return rows
  }

  private func stopRunning() {
    isRunning = false
    isUnwanted = false
    connection.streaming = nil
  }

  /// Reads how many rows were changed from the command tag of a statement that changes rows: `INSERT 0 3`.
  private func note(_ result: OpaquePointer) {
    guard let tag = PQcmdStatus(result), let count = PQcmdTuples(result) else { return }
    switch UInt8(bitPattern: tag[0]) {
    case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"), UInt8(ascii: "M"):
      changes = Int(strtol(count, nil, 10))
    default: break
    }
  }

  // MARK: Rows

  private func stand(on result: OpaquePointer?) {
    PQclear(current)
    current = result
    row = -1
    rowCount = result.map { PQntuples($0) } ?? 0
  }

  /// Steps to the next row that is in memory. Returns whether there is one.
  @inline(__always)
  func goOn() -> Bool {
    if !texts.isEmpty { dropTexts() }
    guard row + 1 < rowCount else { return false }
    row += 1
    return true
  }

  /// Steps to the next row. Returns whether there is one.
  func next() throws -> Bool {
    if goOn() { return true }
    guard current != nil else { return false }
    do {
      stand(on: try rest ?? (isRunning ? fetch() : nil))
      rest = nil
    } catch {
      stand(on: nil)
      throw error
    }
    if rowCount == 0 {
      stand(on: nil)
      defer { restFailure = nil }
      if let restFailure { throw restFailure }
      return false
    }
    row = 0
    return true
  }

  /// A value of the current row, valid until the statement moves on.
  @inline(__always)
  func column(_ index: Int) -> EngineValue {
    guard let current, row >= 0, row < rowCount, columnTypes.indices.contains(index) else {
      return EngineValue(.null)
    }
    let column = Int32(truncatingIfNeeded: index)
    let length = PQgetlength(current, row, column)
    if length == 0, PQgetisnull(current, row, column) == 1 { return EngineValue(.null) }
    let bytes = UnsafeRawBufferPointer(start: PQgetvalue(current, row, column), count: Int(length))
    let type = columnTypes[index]
    if hasSpecialTypes, let special = specialTypes?[index] {
      // Bytes that are no such value become a blob, which no reader of text takes.
      return ServerValueText.text(of: bytes, special)
        .map { EngineValue(.text, $0.withUnsafeBytes { kept($0) }) } ?? EngineValue(.blob, bytes)
    }
    if connection.configuration.readsText { return value(ofText: bytes, type) }
    if type == TypeOID.numeric, var text = NumericFormat.text(of: bytes) {
      return EngineValue(.text, text.withUTF8 { kept(UnsafeRawBufferPointer($0)) })
    }
    let value = EngineValue(bytes, of: type)
    // SQLite has no NaN, so it becomes NULL.
    return value.storageClass == .real && value.real.isNaN ? EngineValue(.null) : value
  }

  /// A value that the server has written as text.
  private func value(ofText bytes: UnsafeRawBufferPointer, _ type: Oid) -> EngineValue {
    guard type == TypeOID.bytea, let blob = EngineValue.blob(ofText: bytes) else {
      return EngineValue(text: bytes, of: type)
    }
    return EngineValue(.blob, blob.withUnsafeBytes { kept($0) })
  }

  private func kept(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    copy.copyMemory(from: text)
    texts.append(copy)
    return UnsafeRawBufferPointer(copy)
  }

  private func dropTexts() {
    for text in texts { text.deallocate() }
    texts.removeAll(keepingCapacity: true)
  }

  /// Reads the rows that are on the way into memory, since another statement has to run. A failure is thrown
  /// when these rows have been read.
  func takeRest() throws {
    if isUnwanted { return try readToEnd() }
    guard let kept = PQcopyResult(current, PG_COPYRES_ATTRS) else {
      throw PostgresFailure(SQLState.outOfMemory, "out of memory")
    }
    do {
      while isRunning, let result = try fetch() {
        defer { PQclear(result) }
        guard KeptRows.append(result, to: kept) else {
          throw connection.abandon(SQLState.outOfMemory, "out of memory")
        }
      }
    } catch let failure as PostgresFailure {
      restFailure = failure
    }
    rest = kept
  }

  /// Reads the results on the way, and discards them.
  func readToEnd() throws {
    while isRunning, let result = try fetch() { PQclear(result) }
  }

  /// Ends the execution: reads what has arrived, and throws a failure in it that wasn't thrown yet.
  ///
  /// In a transaction, rows on the way are left there, since cancelling them would abort it. A rollback that
  /// comes next may cancel them; any other operation reads them all first.
  func reset() throws {
    defer {
      dropTexts()
      stand(on: nil)
      PQclear(rest)
      rest = nil
      restFailure = nil
    }
    for _ in 0..<1_000 {
      guard isRunning, connection.hasResult() else { break }
      PQclear(try fetch())
    }
    isUnwanted = isRunning
    if !connection.isInTransaction { try connection.endRows() }
    if let restFailure { throw restFailure }
  }
}
