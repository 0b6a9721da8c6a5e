import Larder
import LarderPostgres
import PostgresSupport

/// Clients that each read a number and write it back one higher.
enum Increments: Verb {
  static let help = """
    increments [--clients 8] [--count 1000] [--isolation serializable]
      Each client reads a number and writes it back one higher, so many times, in transactions that run again
      where others were in the way. All have to add up; with --isolation read-committed some get lost, which
      is shown on purpose.
    """
  static let options: [String: String?] = [
    "clients": "8", "count": "1000", "isolation": "serializable",
  ]

  static func run(_ options: Options) throws {
    let name = options.text("isolation").replacing("-", with: " ")
    guard let isolation = PostgresConfiguration.Isolation(rawValue: name) else {
      throw Wrong("--isolation is serializable, repeatable-read or read-committed")
    }
    let (clients, count) = (try options.number("clients"), try options.number("count"))
    let server = try PostgresServer()
    let setup = try onePool(server.address)
    try setup.inTransaction { db in
      try db.executeUpdate("CREATE TABLE counter (n BIGINT NOT NULL)")
      try db.executeUpdate("INSERT INTO counter VALUES (0)")
    }
    let address = server.address
    let retries = Lock(0)
    let start = ContinuousClock.now
    try onThreads(clients) { _ in
      var configuration = PostgresConfiguration()
      configuration.connections = 1
      configuration.isolation = isolation
      configuration.retryLimit = .seconds(600)
      let pool = try PostgresPool(address, configuration: configuration)
      for _ in 0..<count {
        try pool.inTransaction { db in
          let n = try db.value("SELECT n FROM counter", as: Int.self) ?? 0
          try db.executeUpdate("UPDATE counter SET n = ?", n + 1)
        }
      }
      let pools = pool.statistics.retries
      retries.withLock { $0 += pools }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let total = try setup.read { try $0.value("SELECT n FROM counter", as: Int.self) } ?? 0
    let expected = clients * count
    report(
      "\(name): \(total) of \(expected) increments, \(expected - total) lost, "
        + "\(retries.withLock { $0 }) run again, \(Int(Double(expected) / seconds)) a second")
    if isolation == .readCommitted {
      if total >= expected { throw Wrong("none was lost: the clients didn't meet") }
    } else if total != expected {
      throw Wrong("\(expected - total) increments were lost")
    }
  }
}
