import Glibc
import LarderSQLite

// Session reset: restores a session's initial state, so that a scope leaves nothing to the next one.

extension PostgresConnection {
  /// The statements that reset the session outside of transactions, in parts that each end with a Sync.
  var resetParts: [[String]] {
    isPooled ? [["BEGIN"] + resetInTransaction + ["COMMIT"]] : [["DISCARD ALL"], [settingsAnew]]
  }

  /// The statements that reset the session in a transaction: a pooler gives the server's connection away only
  /// after the transaction's end.
  var resetInTransaction: [String] {
    [
      "CLOSE ALL", "SET SESSION AUTHORIZATION DEFAULT", "RESET ALL", "DEALLOCATE ALL", "UNLISTEN *",
      "SELECT pg_advisory_unlock_all()", "DISCARD TEMP", "DISCARD SEQUENCES", settingsAnew,
    ]
  }

  /// The statement that restores the session's settings, and sets a new random seed, since DISCARD ALL keeps
  /// the old one.
  private var settingsAnew: String {
    configuration.sessionSQL(of: self) + ", setseed(\(Double.random(in: -1...1)))"
  }

  /// Resets the session, in a round trip of its own.
  func reset() throws {
    try run(all: [], resets: true)
    if isAltered { throw PostgresFailure(SQLState.wrongState, "the session can't be reset") }
  }

  /// Notes that the server has forgotten what the session had set, prepared and locked.
  func noteReset() {
    isAltered = false
    names.forgetAll()
  }

  /// Notes that a prepared statement is unexpectedly missing, or unexpectedly exists. Unless SQL of this
  /// session has caused that, a pooler has. Then no more statements are prepared at the address.
  func noteStrayStatement() {
    names.forgetAll()
    if isAltered { losesNames = true }
    guard !isAltered, keeping.turnOff() else { return }
    _ = configuration.common.reporting(
      DatabaseError(
        .error,
        """
        this address doesn't keep prepared statements with a connection, like a pooler: from now on no \
        statements are prepared (PostgresConfiguration.preparesStatements)
        """, engine: "PostgreSQL"))
  }

  /// Whether each transaction may run on another of the server's connections.
  var isPooled: Bool { isBehindPooler || !configuration.preparesStatements || !keeping.isOn }

  /// Whether statements are prepared under names.
  var keepsStatements: Bool {
    configuration.preparesStatements && keeping.isOn && !(losesNames && isAltered)
  }
}

extension PostgresConfiguration {
  /// The statement that sets what the library relies on, whatever address, environment and server say, and
  /// returns the server's process id. Values are read in binary, so the settings only matter for text that
  /// SQL itself makes.
  ///
  /// The settings aren't sent as `options` in the first message: address, environment and service files have
  /// their own options, and poolers refuse them.
  func sessionSQL(of connection: PostgresConnection) -> String {
    func list(_ settings: [(name: String, value: String)]) -> [String] {
      settings.map { "set_config('\($0.name)', '\($0.value)', false)" }
    }
    // A pooler keeps only these few settings for each of its clients.
    var common = [
      ("standard_conforming_strings", "on"), ("TimeZone", "UTC"), ("DateStyle", "ISO"),
    ]
    if readsText { common.append(("bytea_output", "hex")) }
    var columns = ["pg_backend_pid()::bigint"] + list(common)
    if preparesStatements {
      // A pooler is in between if another process answers than the one that libpq was told of.
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
