import LarderPostgres
import PostgresSupport

/// What scopes leave to the next one.
enum Sessions: Verb {
  static let help = """
    sessions [--count 20000] [--pooler] [--seed 1] [--json]
      Runs scopes of random statements, which set, lock, prepare and create in many ways, directly, quoted, in functions, in
      blocks of PL/pgSQL and by typed queries; each is undone or not. After each the session has to be like a
      new one. With --pooler PgBouncer stands between, and has one server's connection for all transactions.
    """
  static let options: [String: String?] = [
    "count": "20000", "pooler": nil, "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    var figures = Figures("sessions", unit: "scopes", options)
    let hasPooler = options.has("pooler")
    let server = try PostgresServer(hasPooler ? ["--pooler", "transaction"] : [])
    try server.run("CREATE ROLE larder_other")
    let count = try options.number("count")
    var connections = 0
    while figures.tried < count {
      // Other statements each time, and a server's session that isn't as old as all of them.
      let address = try server.database()
      var sessions = try RandomSessions(
        hasPooler ? PostgresServer.throughPooler(address) : address,
        seed: UInt64(figures.seed) &+ UInt64(figures.tried))
      try sessions.run(min(2_000, count - figures.tried))
      for leak in sessions.leaks.prefix(10) { report("left: \(leak)") }
      figures.tried += sessions.tried
      figures.failed += sessions.leaks.count
      connections += sessions.processes.count
    }
    figures.details = ["\(connections) connections"] + (hasPooler ? ["through PgBouncer"] : [])
    try figures.end()
  }
}
