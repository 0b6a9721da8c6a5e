import FoundationEssentials
import Glibc
import Larder
import LarderSQLite

/// A connection to a server behind a `Database`.
final class PostgresEngine: CatalogedEngine {
  let connection: PostgresConnection
  let name = "PostgreSQL"
  let dialect: any SQLDialect
  let isReadOnly = false
  /// The maximum number of parameters. The protocol counts them in 16 bits, but libpq takes no description of
  /// them that is longer than 30,000 bytes.
  let variableLimit = 7_498
  let interrupts: InterruptHandle
  /// BEGIN with the isolation level.
  private let exactBeginning: String
  private(set) var lossError: DatabaseError?
  /// The time at which the connection is replaced by another.
  private let end: Duration
  private var lastUse = MonotonicClock.now
  /// Whether the transaction is a whole scope, at the end of which the session is reset.
  private var isScopes = false
  /// The keys that the transaction has written.
  var keys = ChosenKeys()
  /// The retries of the pool, which count those of statements outside of transactions.
  let retries: PostgresRetries?
  /// Whether the session has the lock for transactions that run one at a time.
  var hasTurn = false
  /// Whether the outcome of the transaction's commit doesn't matter: it only reads, or is repeated until it
  /// has had its effect.
  var isReading = false
  /// How many scopes' savepoints are open.
  var savepointCount = 0
  /// Whether the outermost savepoint has begun the transaction.
  var isSavepointOutermost = false

  /// Whether a savepoint was rolled back, with which the transaction has lost the locks of what it had read.
  var hasLostLocks = false
  /// The query for what the transaction has read; nil if it wasn't needed yet.
  var locksStatement: PostgresStatement?

  /// The servers to reconnect to.
  let servers: ServerList
  let configuration: PostgresConfiguration
  var tokens: CommitTokens?
  /// How far the server had replayed the log when it was asked last.
  var replayed = CommitPosition()
  /// The replicas, which are told the position in the server's log after each commit, so that reads see it.
  private let replicas: Replicas?

  /// Connects. Throws ``DatabaseError`` if that fails, without the password.
  init(
    _ servers: ServerList, _ configuration: PostgresConfiguration,
    _ dialect: any Dialect = PostgresDialect(), retries: PostgresRetries? = nil,
    replicas: Replicas? = nil
  ) throws {
    self.servers = servers
    self.configuration = configuration
    self.retries = retries
    self.replicas = replicas
    self.dialect = EngineDialect(dialect)
    // The time is random, so that connections aren't replaced all at once.
    let life = configuration.longestConnectionLife?.bounded ?? .seconds(1 << 40)
    end = MonotonicClock.now + life * Double.random(in: 0.9...1)
    exactBeginning = "BEGIN ISOLATION LEVEL \(configuration.isolation.rawValue)"
    let deadline = MonotonicClock.now + configuration.connectTimeout
    (connection, tokens) = try DatabaseError.converting {
      let connection = try servers.connect(configuration, deadline: deadline.inNanoseconds)
      return (connection, try connection.commitTokens())
    }
    connection.roundTripCount = 0
    interrupts = InterruptHandle { [interrupts = connection.interrupts] in interrupts.interrupt() }
  }

  /// BEGIN, without the isolation level as long as it is the session's own, which spares the server a
  /// setting.
  var beginning: String {
    connection.isAltered || connection.isPooled ? exactBeginning : "BEGIN"
  }

  var isOpen: Bool { connection.isOpen }

  func isAlive() -> Bool {
    let now = MonotonicClock.now
    guard now < end else { return false }
    defer { lastUse = now }
    // A connection that the network has silently dropped may be quiet, too.
    let isSure = connection.isQuiet && now - lastUse < Self.longestTrust
    return isSure
      || (try? perform(until: now + .seconds(1)) { _ = try connection.run("") }) != nil
  }

  /// How long an unused connection is trusted to be alive without asking.
  private static let longestTrust = Duration.seconds(30)

  var hasTransaction: Bool {
    switch connection.status {
    case .transaction, .failedTransaction: true
    case .idle, .unknown: false
    // While rows are on the way, libpq doesn't tell.
    case .active: connection.isInTransaction
    }
  }

  func close() {
    locksStatement = nil
    connection.close()
  }

  /// Calls a closure that uses the connection, and converts its `PostgresFailure` to `DatabaseError`.
  func perform<T>(
    _ sql: String? = nil, until deadline: Duration? = nil, _ body: () throws -> T
  ) throws -> T {
    connection.deadline = deadline?.inNanoseconds
    do {
      return try body()
    } catch let failure as PostgresFailure {
      let error = DatabaseError(failure, sql: failure.sql ?? sql)
      if failure.isConnectionLost { lossError = error }
      throw error
    }
  }

  func prepare(_ sql: String, until deadline: Duration?) throws -> any EngineStatement {
    let text = StatementText(sql, harmless: configuration.harmlessFunctions)
    guard text.names.count <= variableLimit else {
      throw DatabaseError(
        .range, "a statement can have \(variableLimit) parameters", sql: sql, engine: name)
    }
    // A statement that returns changed rows is described first, so that columns that can't be read are
    // refused before anything is changed.
    let statement = try perform(sql, until: deadline) {
      try connection.prepare(
        text.string, parameterCount: text.returnsChanges ? nil : text.names.count)
    }
    return PostgresEngineStatement(statement, of: self, sql, text)
  }

  func validate(_ sql: String, until deadline: Duration?) throws {
    _ = try perform(sql, until: deadline) { try connection.prepare(StatementText(sql).string) }
  }

  func statements(in sql: String) -> [String] { StatementText.statements(in: sql) }

  func catalog(of database: Database, schema: String?) -> any EngineCatalog {
    PostgresCatalog(db: database, schema: schema)
  }

  // MARK: Transactions

  func execute(
    _ control: TransactionControl, isScopes: Bool, until deadline: Duration?
  ) throws {
    try perform(control.sql, until: deadline) {
      switch control {
      case .beginDeferred, .beginImmediate, .beginExclusive, .beginReading: self.isScopes = isScopes
      default: break
      }
      switch control {
      case .beginDeferred, .beginImmediate, .beginExclusive:
        try begin(beginning)
      case .beginReading:
        try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", isReading: true)
      case .commit: try commit()
      case .rollback: try rollback()
      case .savepoint:
        if !hasTransaction { self.isScopes = false }
        try savepoint()
      case .release: try release()
      case .rollbackTo: try rollbackToSavepoint()
      }
    }
  }

  /// Changes the isolation level of a transaction that has just begun, and has done nothing yet.
  func isolate(_ isolation: PostgresConfiguration.Isolation) throws {
    guard connection.hasDeferredBegin, connection.deferred.count == 1 else {
      throw DatabaseError(.misuse, "the transaction has begun already", engine: name)
    }
    connection.deferred = ["BEGIN ISOLATION LEVEL \(isolation.rawValue)"]
  }

  func relaxIsolation() throws { try isolate(.readCommitted) }

  func begin(_ sql: String, isReading: Bool = false) throws {
    guard !hasTransaction else {
      throw DatabaseError(.error, "a transaction is open already", engine: name)
    }
    self.isReading = isReading
    savepointCount = 0
    isSavepointOutermost = false
    hasLostLocks = false
    // BEGIN is sent with the first statement.
    connection.deferred = [sql]
  }

  /// Commits the transaction. Throws if an error has aborted it: COMMIT would silently roll back.
  func commit() throws {
    // A read has nothing to commit, and rolling back cancels its remaining rows.
    if isReading, connection.streaming != nil { return try rollback() }
    if connection.status == .failedTransaction {
      try rollback()
      throw PostgresFailure(
        SQLState.failedTransaction,
        "an earlier error aborted the transaction, which was rolled back")
    }
    savepointCount = 0
    if connection.discardDeferredBegin() { return }
    guard connection.isOpen, !isReading else { return try end("COMMIT") }
    // A transaction whose connection is lost by now isn't committed.
    try connection.checkAlive()
    try commitWriting()
  }

  /// The deadline for statements of the library's own.
  var soon: Duration { MonotonicClock.now + configuration.connectTimeout }

  /// Whether the session is reset with the end of the transaction. After it, a pooler gives the server's
  /// connection away.
  private var resets: Bool { (isScopes || connection.isPooled) && connection.isAltered }

  /// The statements that end the transaction. The first one decides its outcome.
  private func ending(_ word: String) -> [String] {
    guard resets, connection.isPooled else { return [word] }
    return ["\(word) AND CHAIN"] + connection.resetInTransaction + ["COMMIT"]
  }

  /// Ends the transaction.
  private func end(_ word: String) throws {
    do {
      try run(ending(word))
    } catch {
      try noteEnded(by: 1, error)
    }
  }

  /// Runs the statements that end the transaction, in one round trip with ``following``. Returns the row of
  /// the last one.
  @discardableResult
  private func run(_ ending: [String]) throws -> [Int64]? {
    let resets = resets
    let row = try connection.run(
      all: ending, then: following, resets: resets && !connection.isPooled)
    noteFollowed()
    // A direct connection has noted whether its reset succeeded; if not, the scope's end resets or closes it.
    if resets, connection.isPooled { connection.noteReset() }
    return row
  }

  /// Rethrows an error of the transaction's end, which is that of so many statements. Ignores an error of what
  /// follows it.
  private func noteEnded(by count: Int, _ error: any Error) throws {
    guard connection.confirmedCount >= count else { throw error }
    if connection.status == .failedTransaction { try connection.run("ROLLBACK") }
  }

  /// Commits in one round trip, with the token, the position in the log, and ``following``.
  private func commitWriting() throws {
    let token = tokens.map { _ in UUID() }
    var statements = ending("COMMIT")
    if let token, let tokens { statements.insert(tokens.insertion(of: token), at: 0) }
    let committing = token == nil ? 1 : 2
    if replicas != nil { statements.append(Self.position) }
    do {
      connection.isDroppedToStop = true
      defer { connection.isDroppedToStop = false }
      _ = connection.takeWarning()
      let row = try run(statements)
      replicas?.note(commitAt: row.flatMap(Self.position))
      try checkStandbys()
    } catch var failure as PostgresFailure
      where failure.isConnectionLost || failure.sqlState == SQLState.unknownOutcome
    {
      replicas?.note(commitAt: nil)
      if connection.confirmedCount >= committing, !connection.takeWarning(),
        failure.isConnectionLost
      {
        return
      }
      // A caller that has stopped the commit doesn't wait for its outcome, either.
      failure.isStopped = failure.sqlState == SQLState.canceled
      failure.sqlState = SQLState.unknownOutcome
      failure.commitToken = token
      guard let token, !failure.isStopped else { throw failure }
      try settle(token, failure)
    } catch {
      try noteEnded(by: committing, error)
    }
    if tokens?.isCleaningDue() == true { try? cleanTokens() }
  }

  /// The query for the position after all that is committed. The names of the log's files begin with the
  /// timeline.
  private static let position = """
    SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint,
      (pg_current_wal_insert_lsn() - '0/0')::bigint
    """

  private static func position(_ row: [Int64]) -> CommitPosition? {
    row.count == 2 ? CommitPosition(timeline: row[0], bytes: row[1]) : nil
  }

  /// The position in the log after all that is committed.
  func position() throws -> CommitPosition {
    try perform(until: soon) {
      guard let row = try connection.run(all: [Self.position]), let position = Self.position(row)
      else {
        throw PostgresFailure(
          SQLState.wrongState, "the server didn't return its position in the log")
      }
      return position
    }
  }

  /// Throws if a commit was acknowledged that synchronous standbys may not have, since it was cancelled while
  /// it waited for them.
  func checkStandbys() throws {
    guard connection.takeWarning() else { return }
    throw PostgresFailure(
      SQLState.unknownOutcome, "the commit was cancelled while it waited for synchronous standbys")
  }

  /// Notes that a statement outside of a transaction may have written.
  func noteWritten() { replicas?.note(commitAt: nil) }

  func rollback() throws {
    savepointCount = 0
    keys.removeAll()
    if connection.discardDeferredBegin() { return }
    // Deferred statements would fail in a transaction that has failed.
    connection.deferred = []
    do {
      try connection.endRows()
      try end("ROLLBACK")
    } catch let failure as PostgresFailure where failure.isConnectionLost {
      // The transaction is gone with the connection.
      lossError = DatabaseError(failure)
    }
  }

  /// Leaves the session as it was when it began; closes the connection if that fails.
  func endScope() {
    defer {
      let count = connection.roundTripCount
      connection.roundTripCount = 0
      servers.figures.noteScope(roundTrips: count, isAlive: count > 0 && connection.isOpen)
    }
    guard connection.isOpen else { return }
    do {
      if !following.isEmpty { try followKeys() }
      guard connection.isAltered else { return }
      try perform(until: soon) { try connection.reset() }
    } catch {
      close()
    }
  }
}
