import CLibPQ
import Glibc
import LarderSQLite

/// Round trips: what is sent, and reading its results in the same order, up to the end that Sync marks.
///
/// The connection stays in pipeline mode, so that BEGIN and the deallocation of statements travel with
/// what comes next. Only COPY leaves it.
///
/// See [Pipeline Mode](https://www.postgresql.org/docs/current/libpq-pipeline-mode.html).
extension PostgresConnection {
  /// Whether the transaction's BEGIN has not been sent.
  var hasDeferredBegin: Bool { isIdle && !deferred.isEmpty }

  /// Ends a transaction whose BEGIN has not been sent: whether that is so.
  func discardDeferredBegin() -> Bool {
    guard hasDeferredBegin else { return false }
    deferred = []
    return true
  }

  /// Runs something before the transaction that has just begun.
  func beforeDeferredBegin<T>(_ body: () throws -> T) rethrows -> T {
    let deferred = deferred
    self.deferred = []
    defer { self.deferred = deferred }
    return try body()
  }

  // MARK: Round trips

  /// Sends what a closure gives to libpq, behind what was put off, whose results it reads. Throws if that has
  /// failed.
  func roundTrip(_ send: (OpaquePointer) throws -> Void) throws {
    let handle = try begin()
    isInTransaction = !isIdle || !deferred.isEmpty
    // Not in a transaction, which an error would abort. They end with a Sync of their own.
    var discarded: [String] = []
    if isIdle, keepsStatements {
      discarded = names.takeDiscarded()
      for name in discarded { try sendPlain("DEALLOCATE \(name)", handle) }
      if !discarded.isEmpty { try check(PQpipelineSync(handle)) }
    }
    let deferred = deferred
    for sql in deferred { try sendPlain(sql, handle) }
    try send(handle)
    try check(PQpipelineSync(handle))
    try flush(handle)
    for _ in discarded { _ = try outcome(sql: nil) }
    if !discarded.isEmpty { _ = try readToSync() }
    self.deferred = []
    for sql in deferred {
      guard var failure = try outcome(sql: sql) else { continue }
      failure.sql = sql
      try fail(failure)
    }
  }

  /// Sends a statement without parameters.
  private func sendPlain(_ sql: String, _ handle: OpaquePointer) throws {
    try check(PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1))
  }

  /// libpq takes nothing more when it is out of memory, or the connection is broken.
  func check(_ code: Int32) throws {
    guard code == 1 else { throw lost() }
  }

  /// Waits until all is sent. What the server sends meanwhile is read, since it may wait for that.
  func flush(_ handle: OpaquePointer) throws {
    while true {
      let code = PQflush(handle)
      if code == 0 { return }
      guard code == 1 else { throw lost() }
      try wait(for: POLLIN | POLLOUT)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
  }

  // MARK: Reading

  /// The next result; nil after the last one of a statement. Whoever asks clears it.
  func nextResult() throws -> OpaquePointer? {
    while true {
      guard let handle, isOpen else { throw lost() }
      guard PQisBusy(handle) == 1 else {
        try stopIfDue()
        return PQgetResult(handle)
      }
      try wait(for: POLLIN)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
  }

  /// Whether there is one that has arrived.
  func hasResult() -> Bool {
    guard let handle, isOpen else { return true }
    return PQisBusy(handle) == 0 || PQconsumeInput(handle) == 0 || PQisBusy(handle) == 0
  }

  /// Reads all results of a statement: its failure, if it has failed.
  func outcome(
    sql: String?, copyingInto relation: String? = nil, _ use: (OpaquePointer) -> Void = { _ in }
  ) throws -> PostgresFailure? {
    var failed: PostgresFailure?
    while let result = try nextResult() {
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY: use(result)
      case PGRES_PIPELINE_ABORTED: break
      case PGRES_PIPELINE_SYNC:
        hasReadSync = true
        return failed
      case PGRES_FATAL_ERROR:
        failed = failed ?? failure(result, sql: sql, copyingInto: relation)
        if handle == nil { return failed }
      default: throw abandon(SQLState.notSupported, Self.copyMessage)
      }
    }
    return failed
  }

  static let copyMessage = "COPY is run by calls of its own, and not as a statement"

  /// Reads up to the end of the round trip. The failure is one of committing: constraints that are deferred,
  /// or a conflict with other transactions.
  func readToSync() throws -> PostgresFailure? {
    var failed: PostgresFailure?
    hasReadSync = false
    while !hasReadSync, let handle {
      // Else there would be nothing to wait for.
      guard PQtransactionStatus(handle) == PQTRANS_ACTIVE else {
        throw abandon("08P01", "the end of the results is missing")
      }
      let next = try outcome(sql: nil)
      failed = failed ?? next
    }
    return failed
  }

  /// Ends the operation by reading the end of its round trip.
  func finish() throws {
    let failure = try readToSync()
    end()
    if let failure { throw failure }
  }

  /// Ends the operation by a failure.
  func fail(_ failure: PostgresFailure) throws -> Never {
    if handle != nil { _ = try readToSync() }
    end()
    throw failure
  }

  // MARK: Statements without parameters

  /// Runs one statement, and returns its command tag: `COMMIT` answers `ROLLBACK` where the transaction has
  /// failed. Rows are thrown away.
  @discardableResult
  func run(_ sql: String) throws -> String {
    try Self.checkText(sql)
    try roundTrip { try sendPlain(sql, $0) }
    var tag = ""
    if let failure = try outcome(sql: sql, { tag = String(cString: PQcmdStatus($0)) }) {
      try fail(failure)
    }
    try finish()
    return tag
  }

  /// Runs statements in one round trip, each of which needs those before it to have succeeded.
  ///
  /// - Parameters:
  ///   - following: statements behind them in the same round trip, as parts that run whatever becomes of others, and
  ///     whose failures are nobody's.
  ///   - resets: whether the session is made as it was behind all of them.
  ///   - done: counts those of which the server has said that they have.
  ///
  /// Returns the first row of the last statement, whose columns are bigints; nil where there is none.
  @discardableResult
  func run(
    all statements: [String], then following: [[String]] = [], resets: Bool = false,
    done: inout Int
  ) throws -> [Int64]? {
    let resetting = resets ? resetParts : []
    try roundTrip { handle in
      for sql in statements { try sendPlain(sql, handle) }
      for part in following + resetting {
        try check(PQpipelineSync(handle))
        for sql in part { try sendPlain(sql, handle) }
      }
    }
    var row: [Int64]?
    var failed: PostgresFailure?
    for sql in statements where failed == nil {
      failed = try outcome(sql: sql) { row = Self.integers(of: $0) }
      if failed == nil { done += 1 }
    }
    if following.isEmpty, resetting.isEmpty {
      if let failed { try fail(failed) }
      try finish()
      return row
    }
    let last = try readToSync()
    failed = failed ?? last
    for _ in following { _ = try readToSync() }
    var isReset = resets
    for _ in resetting where try readToSync() != nil { isReset = false }
    end()
    if isReset { noteReset() }
    // A part that has begun a transaction and failed.
    if status == .failedTransaction, failed == nil { try run("ROLLBACK") }
    if let failed { throw failed }
    return row
  }

  /// NULL is 0.
  private static func integers(of result: OpaquePointer) -> [Int64]? {
    guard PQntuples(result) > 0 else { return nil }
    return (0..<PQnfields(result)).map { column in
      guard PQgetlength(result, 0, column) == 8, let bytes = PQgetvalue(result, 0, column) else {
        return 0
      }
      return Int64(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: Int64.self))
    }
  }

  /// The server would take a NUL for the end.
  static func checkText(_ sql: String) throws {
    if sql.utf8.contains(0) {
      throw PostgresFailure(
        SQLState.wrongState, "the SQL contains NUL, at which the server would stop")
    }
  }
}
