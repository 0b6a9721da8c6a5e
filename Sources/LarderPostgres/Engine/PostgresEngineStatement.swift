import CLibPQ
import Glibc
import Larder
import LarderSQLite

/// A statement on the server, behind a `Database`'s prepared statement.
///
/// The bytes of its row's values belong to the result, and stay valid until the next step.
final class PostgresEngineStatement: EngineStatement {
  private let statement: PostgresStatement
  private let engine: PostgresEngine
  private let sql: String
  let parameterNames: [String?]
  let isReadOnly: Bool
  let effects: EngineEffects
  /// What matters behind a pooler: see `PooledStatements.swift`.
  private let isForSession, mustBeAlone: Bool
  private let ownEnd: TransactionControl?
  var readsAtOnce = false
  let row = EngineRow()
  private var hasBegun = false
  /// Whether an execution has used the bound values, so that all are bound anew.
  private var isUsed = false
  /// The COPY to which values go while rows are copied. Unretained: the caller that copies keeps it.
  @exclusivity(unchecked) private var copying: Unmanaged<PostgresCopy>?

  init(
    _ statement: PostgresStatement, of engine: PostgresEngine, _ sql: String, _ text: StatementText
  ) {
    self.statement = statement
    self.engine = engine
    self.sql = sql
    parameterNames = text.names
    isReadOnly = text.isReadOnly
    (isForSession, mustBeAlone, ownEnd) = (text.isForSession, text.mustBeAlone, text.ownEnd)
    let losesDetail = statement.parameters.types.contains(where: TypeOID.losesDetail)
    effects = text.effects.union(losesDetail ? .losesDetail : [])
  }

  var columnNames: [String] { statement.columnNames }
  private(set) var changes = 0

  func bind(_ value: EngineValue, at index: Int) throws {
    if let copying { return try copying._withUnsafeGuaranteedRef { try $0.bind(value) } }
    if isUsed { statement.parameters.removeAll() }
    isUsed = false
    try DatabaseError.converting { try statement.parameters.bind(value, at: index - 1) }
  }

  func step(until deadline: Duration?) throws -> Bool {
    if stepInMemory() { return true }
    return try engine.perform(sql, until: deadline) {
      if !hasBegun {
        hasBegun = true
        isUsed = true
        if try endAltered() { return false }
        if isLentSession, isForSession { throw engine.sessionError(sql) }
        if effects.contains(.session) { engine.connection.isAltered = true }
        // Outside of a transaction, the statement is committed at its end, at a position in the log that is
        // unknown.
        let isAlone = mayWrite && !engine.hasTransaction
        defer { if isAlone { engine.noteWritten() } }
        try executeRetrying()
        if isAlone { try engine.checkStandbys() }
        row.resize(to: statement.columnNames.count)
      }
      defer { changes = statement.changes }
      return try statement.next() && readRow()
    }
  }

  /// Whether a pooler would give the server's connection away after the statement, with what it leaves there.
  private var isLentSession: Bool {
    effects.contains(.session) && engine.connection.isPooled && !engine.hasTransaction
  }

  /// Ends a transaction that SQL of the program's own has begun, if a pooler takes the session after it that
  /// has to be reset before. Returns whether it did.
  private func endAltered() throws -> Bool {
    guard let ownEnd, engine.connection.isAltered, engine.connection.isPooled, engine.hasTransaction
    else { return false }
    if ownEnd == .commit { try engine.commit() } else { try engine.rollback() }
    return true
  }

  private func execute() throws {
    guard isLentSession, !mustBeAlone else {
      return try statement.execute(streaming: isReadOnly && !readsAtOnce)
    }
    try engine.runInOwnTransaction { try statement.execute() }
  }

  /// Runs the statement. Retries it after a conflict if it is a transaction of its own: nothing of it was
  /// done then.
  private func executeRetrying() throws {
    var retry: Retry?
    while true {
      do {
        return try execute()
      } catch let failure as PostgresFailure
        where !engine.hasTransaction
        && (SQLState.isConflict(failure.sqlState)
          || failure.isStalePlan && isLentSession && retry == nil)
      {
        var next =
          retry ?? Retry(limit: engine.configuration.retryLimit, isTransient: { _ in true })
        guard let pause = try? next.pause(after: DatabaseError(failure)) else { throw failure }
        retry = next
        engine.retries?.noteRetry()
        BusyHandler.sleep(pause)
      }
    }
  }

  func stepInMemory() -> Bool { statement.goOn() && readRow() }

  private func readRow() -> Bool {
    for index in row.values.indices {
      row.values[index] = statement.column(index)
      // The server's sums of integers are NUMERIC, and still have to be read as integers.
      if statement.columnTypes[index] == TypeOID.numeric,
        let integer = Int64(String(decoding: row.values[index].bytes, as: UTF8.self))
      {
        row.values[index] = EngineValue(integer)
      }
    }
    return true
  }

  func copy(
    into table: String, _ columns: [String], until deadline: Duration?, failedRow: inout Int?,
    _ bindNext: () throws -> Bool
  ) throws {
    try engine.perform(sql, until: deadline) {
      defer { if !engine.hasTransaction { engine.noteWritten() } }
      do {
        // Errors name the table without its schema.
        let name = table.sqlTokens.last?.name ?? table
        let copy = try PostgresCopy(
          into: name, quoted: table, columns, statement.parameters.types, on: engine.connection)
        copying = .passUnretained(copy)
        // An unfinished COPY is cancelled when its object is deallocated.
        defer { withExtendedLifetime(copy) { copying = nil } }
        while try bindNext() { try copy.endRow() }
        changes = try copy.finish()
      } catch let failure as PostgresFailure {
        failedRow = failure.row
        throw failure
      }
    }
  }

  func reset(until deadline: Duration?) throws {
    hasBegun = false
    readsAtOnce = false
    try engine.perform(sql, until: deadline) { try statement.reset() }
  }
}

extension Database {
  /// Bulk-inserts rows by COPY, as text that the server reads, into columns of any type: all of them, or
  /// none. Returns how many there were.
  ///
  /// - Parameters:
  ///   - failedRow: set to the index, from 0, of the row that couldn't be stored, as far as it is known.
  ///   - failedColumn: set to the name of the column whose value couldn't be stored, as far as it is known.
  ///   - appendNext: appends the line of the next row, with its line break; false after the last.
  package func copyText(
    into table: String, _ columns: [String], failedRow: inout Int?, failedColumn: inout String?,
    _ appendNext: (inout [UInt8]) throws -> Bool
  ) throws -> Int {
    guard let engine = engine as? PostgresEngine else {
      throw UnsupportedByEngine(engine: "SQLite", feature: "COPY")
    }
    return try engine.perform {
      do {
        let copy = try PostgresCopy(into: table, columns, nil, on: engine.connection)
        // An unfinished COPY is cancelled when its object is deallocated.
        defer { withExtendedLifetime(copy) {} }
        var line: [UInt8] = []
        while try appendNext(&line) {
          try copy.append(line: line)
          line.removeAll(keepingCapacity: true)
        }
        return try copy.finish()
      } catch let failure as PostgresFailure {
        failedRow = failure.row
        failedColumn = failure.column.flatMap { columns.contains($0) ? $0 : nil }
        throw failure
      }
    }
  }
}
