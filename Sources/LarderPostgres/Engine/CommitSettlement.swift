import FoundationEssentials
import LarderSQLite

// Commit tokens in use: the outcome of a commit whose answer was lost, and the table that tells it.

extension PostgresEngine {
  /// Finds out the outcome of a commit whose answer was lost. Returns if the transaction was committed.
  /// Otherwise throws an error that lets it run again, since it never will be committed; or the failure with
  /// the token, if no server could be asked in time.
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

  /// Whether a transaction was committed, asked over a connection of its own. One that wasn't committed by
  /// now never will be.
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
        BusyHandler.sleep(try retry.pause(after: DatabaseError(failure)))
      }
    }
  }

  /// Whether a transaction was committed, asked over this connection.
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
    // CREATE TABLE IF NOT EXISTS needs the right to create tables even if the table exists.
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
  /// Whether a token's transaction wasn't committed, and never will be.
  fileprivate func isRefused(_ token: UUID, _ tokens: CommitTokens) throws -> Bool {
    let answer = try runReadCommitted(tokens.refusal(of: token))
    guard let answer, !answer.isEmpty else {
      throw PostgresFailure(SQLState.wrongState, "the commit token has no row")
    }
    return answer[0] != 0
  }

  /// Runs a statement in a transaction of its own that isn't serializable, whatever the session's are. It
  /// can't fail for a conflict with others.
  @discardableResult
  fileprivate func runReadCommitted(_ sql: String) throws -> [Int64]? {
    do {
      let answer = try run(all: ["BEGIN ISOLATION LEVEL READ COMMITTED", sql])
      try run("COMMIT")
      return answer
    } catch {
      if status == .failedTransaction { _ = try? run("ROLLBACK") }
      throw error
    }
  }
}
