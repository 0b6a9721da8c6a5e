import CLibPQ
import Glibc
import Larder
import LarderSQLite

/// A statement on the server, behind a `Database`'s prepared statement.
///
/// The bytes that its row's values point to are the result's, and stay as they are until the next step.
final class PostgresEngineStatement: EngineStatement {
  private let statement: PostgresStatement
  private let engine: PostgresEngine
  private let sql: String
  let parameterNames: [String?]
  let isReadOnly: Bool
  let effects: EngineEffects
  var readsAtOnce = false
  let row = EngineRow()
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
    let losesDetail = statement.parameters.types.contains(where: TypeOID.losesDetail)
    effects = text.effects.union(losesDetail ? .losesDetail : [])
  }

  var columnNames: [String] { statement.columnNames }
  private(set) var changes = 0

  func bind(_ value: EngineValue, at index: Int) throws {
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
    if stepInMemory() { return true }
    return try engine.perform(sql, until: deadline) {
      if !hasBegun {
        hasBegun = true
        isUsed = true
        if effects.contains(.session) { engine.connection.isAltered = true }
        // In no transaction it is committed at its end, in a place that nobody knows.
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

  /// Runs the statement, and again where it is a transaction of its own that others were in the way of: nothing of it
  /// was done then.
  private func executeRetrying() throws {
    var retry: Retry?
    while true {
      do {
        return try statement.execute(streaming: isReadOnly && !readsAtOnce)
      } catch let failure as PostgresFailure
        where SQLState.isConflict(failure.sqlState) && !engine.hasTransaction
      {
        var next =
          retry ?? Retry(limit: engine.configuration.retryLimit, isTransient: { _ in true })
        guard let pause = try? next.pause(after: DatabaseError(failure)) else { throw failure }
        retry = next
        engine.noteRetry()
        usleep(UInt32(pause / .microseconds(1)))
      }
    }
  }

  func stepInMemory() -> Bool { statement.goOn() && readRow() }

  private func readRow() -> Bool {
    for index in row.values.indices {
      row.values[index] = statement.column(index)
      // Sums of integers are numeric numbers, and integers nonetheless.
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
        let copy = try PostgresCopy(
          into: table, columns, statement.parameters.types, on: engine.connection)
        copying = .passUnretained(copy)
        // What isn't finished is cancelled with the object.
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
  /// Inserts many rows by COPY, as text that the server reads, into columns of any type: all of them, or none.
  /// Returns how many there were.
  ///
  /// - Parameters:
  ///   - failedRow: set to the row that couldn't be stored, from 0, as far as that is known.
  ///   - appendNext: appends the line of the next row, with its end; false after the last.
  package func copyText(
    into table: String, _ columns: [String], failedRow: inout Int?,
    _ appendNext: (inout [UInt8]) throws -> Bool
  ) throws -> Int {
    guard let engine = engine as? PostgresEngine else {
      throw UnsupportedByEngine(engine: "SQLite", feature: "COPY")
    }
    return try engine.perform {
      do {
        let copy = try PostgresCopy(textInto: table, columns, on: engine.connection)
        // What isn't finished is cancelled with the object.
        defer { withExtendedLifetime(copy) {} }
        var line: [UInt8] = []
        while try appendNext(&line) {
          try copy.append(line: line)
          line.removeAll(keepingCapacity: true)
        }
        return try copy.finish()
      } catch let failure as PostgresFailure {
        failedRow = failure.row
        throw failure
      }
    }
  }
}
