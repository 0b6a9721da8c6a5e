import FoundationEssentials
import Glibc
import LarderSQLite

// Commit tokens at work: what became of a commit whose answer never came, and the table that tells.

extension PostgresEngine {
  /// Finds out what became of a commit whose answer never came. Returns where it took place; throws what lets the
  /// transaction run again where it didn't and never will; and the failure with the token, where no server could be
  /// asked in time.
  func settle(_ token: UUID, _ failure: PostgresFailure) throws {
    var unknown = failure
    let limit = configuration.retryLimit ?? configuration.connectTimeout
    guard let isCommitted = try? outcome(of: token, within: limit) else { throw unknown }
    if isCommitted { return }
    unknown.commitToken = nil
    unknown.sqlState = SQLState.connectionFailure
    unknown.message += "; the transaction was not committed"
    throw unknown
  }

  /// Whether a transaction was committed, by a connection of its own; one that wasn't can't be any more.
  private func outcome(of token: UUID, within limit: Duration) throws -> Bool {
    let deadline = MonotonicClock.now + limit.bounded
    var retry = Retry(limit: limit, isTransient: SQLState.isTransient)
    while true {
      do {
        let attempt = min(deadline, MonotonicClock.now + configuration.connectTimeout)
        let other = try servers.connect(
          configuration, interrupts: connection.interrupts, deadline: attempt.inNanoseconds)
        other.deadline = deadline.inNanoseconds
        guard let tokens = try tokens ?? other.commitTokens() else { return false }
        return try !other.isRefused(token, tokens)
      } catch let failure as PostgresFailure {
        usleep(UInt32(try retry.pause(after: DatabaseError(failure)) / .microseconds(1)))
      }
    }
  }

  /// Whether a transaction was committed, by this connection.
  func isCommitted(_ token: UUID) throws -> Bool {
    try perform(until: soon) {
      guard let tokens else {
        throw PostgresFailure(SQLState.wrongState, "PostgresConfiguration.commitTokens is off")
      }
      return try !connection.isRefused(token, tokens)
    }
  }

  func cleanTokens() throws {
    guard let tokens else { return }
    try connection.runReadCommitted(tokens.cleaning)
  }

  func makeBookkeeping() throws {
    guard let tokens else { return }
    // Who may not create tables is refused also where this one is there.
    let isThere = try perform(until: soon) { try connection.runReadCommitted(tokens.presence) }
    if isThere == [0] {
      try waitForMigration(inTransaction: true)
      try perform(until: soon) {
        try connection.run(tokens.creation)
        try connection.run("COMMIT")
      }
    }
    try perform(until: soon) { try cleanTokens() }
  }
}

extension PostgresConnection {
  /// Whether a token's transaction wasn't committed, which it then can't be any more.
  fileprivate func isRefused(_ token: UUID, _ tokens: CommitTokens) throws -> Bool {
    let answer = try runReadCommitted(tokens.refusal(of: token))
    guard let answer, !answer.isEmpty else {
      throw PostgresFailure(SQLState.wrongState, "the token has no row")
    }
    return answer[0] != 0
  }

  /// Runs a statement in a transaction of its own that isn't serializable, whatever the session's are: it can't fail
  /// for what others do at the time.
  @discardableResult
  fileprivate func runReadCommitted(_ sql: String) throws -> [Int64]? {
    var done = 0
    do {
      let answer = try run(all: ["BEGIN ISOLATION LEVEL READ COMMITTED", sql], done: &done)
      try run("COMMIT")
      return answer
    } catch {
      if status == .failedTransaction { _ = try? run("ROLLBACK") }
      throw error
    }
  }
}
