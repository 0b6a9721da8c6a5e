import Glibc
import LarderSQLite

// A session as it was when it began: what scopes leave to the next one.

extension PostgresConnection {
  /// What makes the session as it was, in parts that each end by a Sync, outside of transactions.
  var resetParts: [[String]] {
    isPooled ? [["BEGIN"] + resetInTransaction + ["COMMIT"]] : [["DISCARD ALL"], [settingsAnew]]
  }

  /// The same in a transaction, for the end of which a pooler waits with giving the server's connection away.
  var resetInTransaction: [String] {
    [
      "CLOSE ALL", "SET SESSION AUTHORIZATION DEFAULT", "RESET ALL", "DEALLOCATE ALL", "UNLISTEN *",
      "SELECT pg_advisory_unlock_all()", "DISCARD TEMP", "DISCARD SEQUENCES", settingsAnew,
    ]
  }

  /// The session's settings, and random numbers that nobody has chosen, which DISCARD ALL leaves as they are.
  private var settingsAnew: String {
    configuration.sessionSQL(of: self) + ", setseed(\(Double.random(in: -1...1)))"
  }

  /// Makes the session as it was, in a round trip of its own.
  func reset() throws {
    var done = 0
    try run(all: [], resets: true, done: &done)
    if isAltered { throw PostgresFailure(SQLState.wrongState, "the session can't be reset") }
  }

  /// Notes that the server has forgotten what the session had set, prepared and locked.
  func noteReset() {
    isAltered = false
    names.forgetAll()
  }

  /// Notes that a statement is missing, or there already, which this session has prepared, or hasn't: unless some SQL
  /// has done that, a pooler has. Then no more are prepared at the address.
  func noteStrayStatement() {
    names.forgetAll()
    if isAltered { losesNames = true }
    guard !isAltered, keeping.turnOff() else { return }
    configuration.log?(
      DatabaseError(
        .error,
        """
        prepared statements don't stay with the connections of this address, as behind a pooler: from now on none are \
        made (PostgresConfiguration.preparesStatements)
        """, engine: "PostgreSQL"))
  }

  /// Whether the server's connection may be another in each transaction.
  var isPooled: Bool { isBehindPooler || !configuration.preparesStatements || !keeping.isOn }

  /// Whether statements are prepared by names.
  var keepsStatements: Bool {
    configuration.preparesStatements && keeping.isOn && !(losesNames && isAltered)
  }
}

extension PostgresConfiguration {
  /// Sets what the library relies on, whatever address, environment and server say, and tells the number of the
  /// server's process. Values are read in binary, so that this is for what SQL itself makes text of.
  ///
  /// Not in the first message, as `options`, of which the address, the environment and service files have
  /// their own, and which poolers don't take.
  func sessionSQL(of connection: PostgresConnection) -> String {
    func list(_ settings: [(name: String, value: String)]) -> [String] {
      settings.map { "set_config('\($0.name)', '\($0.value)', false)" }
    }
    // A pooler keeps these few for each of its clients, and no others.
    var common = [
      ("standard_conforming_strings", "on"), ("TimeZone", "UTC"), ("DateStyle", "ISO"),
    ]
    if readsText { common.append(("bytea_output", "hex")) }
    var columns = ["pg_backend_pid()::bigint"] + list(common)
    if preparesStatements {
      // Where another process answers than the one that libpq was told of, there is a pooler between.
      let isDirect = "pg_backend_pid() = \(connection.process)"
      let own = [
        ("IntervalStyle", "postgres"), ("extra_float_digits", "1"),
        ("default_transaction_isolation", isolation.rawValue),
      ]
      columns += list(own).map { "CASE WHEN \(isDirect) THEN \($0) END" }
    }
    return "SELECT " + columns.joined(separator: ", ")
  }
}
