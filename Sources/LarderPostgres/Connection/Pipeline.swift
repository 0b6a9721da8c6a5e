import CLibPQ
import Glibc
import LarderSQLite

/// Round trips: sending requests, and reading their results in the same order, up to the end that Sync marks.
///
/// The connection stays in pipeline mode, so that BEGIN and the deallocation of statements are sent with the
/// next statement. Only COPY leaves it.
///
/// See [Pipeline Mode](https://www.postgresql.org/docs/current/libpq-pipeline-mode.html).
extension PostgresConnection {
  /// Whether the transaction's BEGIN has not been sent yet.
  var hasDeferredBegin: Bool { isIdle && !deferred.isEmpty }

  /// Ends a transaction whose BEGIN has not been sent yet. Returns whether there was one.
  func discardDeferredBegin() -> Bool {
    guard hasDeferredBegin else { return false }
    deferred = []
    return true
  }

  /// Runs a closure before the deferred BEGIN, and so outside of its transaction.
  func beforeDeferredBegin<T>(_ body: () throws -> T) rethrows -> T {
    let deferred = deferred
    self.deferred = []
    defer { self.deferred = deferred }
    return try body()
  }

  // MARK: Round trips

  /// Sends the requests that a closure gives to libpq, after the deferred statements. Reads the results of
  /// the latter, and throws if one has failed.
  func roundTrip(_ send: (OpaquePointer) throws -> Void) throws {
    let handle = try begin()
    roundTripCount += 1
    isInTransaction = !isIdle || !deferred.isEmpty
    // DEALLOCATE isn't sent in a transaction, which its error would abort. It ends with a Sync of its own.
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

  /// Throws if libpq has refused a request: it is out of memory, or the connection is broken.
  func check(_ code: Int32) throws {
    guard code == 1 else { throw lost() }
  }

  /// Waits until everything is sent. Results are read meanwhile, since the server may wait for that.
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

  /// The next result, which the caller clears; nil after the last one of a statement.
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

  /// Whether the next result can be read without waiting.
  func hasResult() -> Bool {
    guard let handle, isOpen else { return true }
    return PQisBusy(handle) == 0 || PQconsumeInput(handle) == 0 || PQisBusy(handle) == 0
  }

  /// Reads all results of a statement. Returns its failure, if it has failed.
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

  static let copyMessage = "COPY can't be run as a statement: use the calls for copying rows"

  /// Reads up to the end of the round trip. A failure there comes from committing: a deferred constraint, or
  /// a conflict with other transactions.
  func readToSync() throws -> PostgresFailure? {
    var failed: PostgresFailure?
    hasReadSync = false
    while !hasReadSync, let handle {
      // If the server isn't active, the wait would never end.
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

  /// Ends the operation with a failure.
  func fail(_ failure: PostgresFailure) throws -> Never {
    if handle != nil { _ = try readToSync() }
    end()
    throw failure
  }

  // MARK: Statements without parameters

  /// Runs one statement, and returns its command tag: `COMMIT` answers `ROLLBACK` if the transaction has
  /// failed. Rows are discarded.
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

  /// Runs statements in one round trip. Each runs only if those before it have succeeded.
  ///
  /// - Parameters:
  ///   - following: further parts of the same round trip. Each part runs whether or not the others succeed,
  ///     and its failure is ignored.
  ///   - resets: whether the session is reset at the end.
  ///
  /// Returns the first row of the last statement, whose columns are bigints; nil if there is none.
  @discardableResult
  func run(
    all statements: [String], then following: [[String]] = [], resets: Bool = false
  ) throws -> [Int64]? {
    confirmedCount = 0
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
      if failed == nil { confirmedCount += 1 }
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
    // A part may have begun a transaction and failed in it.
    if status == .failedTransaction, failed == nil { try run("ROLLBACK") }
    if let failed { throw failed }
    return row
  }

  /// The integers in a result's first row, with 0 for NULL; nil if there is no row.
  private static func integers(of result: OpaquePointer) -> [Int64]? {
    guard PQntuples(result) > 0 else { return nil }
    return (0..<PQnfields(result)).map { column in
      guard PQgetlength(result, 0, column) == 8, let bytes = PQgetvalue(result, 0, column) else {
        return 0
      }
      return Int64(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: Int64.self))
    }
  }

  /// Throws for text with a NUL, at which the server would stop.
  static func checkText(_ sql: String) throws {
    if sql.utf8.contains(0) {
      throw PostgresFailure(
        SQLState.wrongState, "the SQL contains a NUL, where the server would stop reading")
    }
  }
}
