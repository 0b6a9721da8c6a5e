import Foundation
import Larder
import LarderPostgres
import PostgresSupport

/// A server that stands still.
enum Freeze: Verb {
  static let help = """
    freeze [--seconds 12] [--deadline 2]
      Stops all processes of a server for so long (SIGSTOP) while statements run that have a deadline, in
      seconds: each has to throw then, and connecting too; once the server goes on, so does the pool, with
      nothing done twice.
    """
  static let options: [String: String?] = ["seconds": "12", "deadline": "2"]

  static func run(_ options: Options) throws {
    let (seconds, deadline) = (try options.number("seconds"), try options.number("deadline"))
    let server = try PostgresServer()
    var configuration = PostgresConfiguration()
    configuration.connections = 4
    configuration.statementDeadline = .seconds(deadline)
    configuration.connectTimeout = .seconds(deadline)
    configuration.retryLimit = nil
    let pool = try PostgresPool(server.address, configuration: configuration)
    try pool.inTransaction { try $0.executeUpdate("CREATE TABLE line (number BIGINT)") }
    // Two connections, one for each call.
    try pool.read { _ in try pool.read { _ in } }
    let processes = [server.identifier] + children(of: server.identifier)
    let address = server.address
    let open = configuration
    // What is under way on connections of their own, and a new connection.
    let calls: [(String, @Sendable () throws -> Void)] = [
      (
        "a query", { _ = try pool.read { try $0.value("SELECT count(*) FROM line", as: Int.self) } }
      ),
      (
        "a transaction",
        { try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (1)") } }
      ),
      ("a new pool", { _ = try PostgresPool(address, configuration: open) }),
    ]
    let stopped = ContinuousClock.now
    for process in processes { kill(process, SIGSTOP) }
    let goesOn = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(seconds))
      for process in processes { kill(process, SIGCONT) }
      goesOn.signal()
    }
    var wrong: [String] = []
    for (name, call) in calls {
      let start = ContinuousClock.now
      do {
        try call()
        wrong.append("\(name) came back")
      } catch let error as DatabaseError {
        let time = (ContinuousClock.now - start) / .seconds(1)
        report("\(name): thrown after \(String(format: "%.2f", time)) s: \(error)")
        if time > Double(deadline) + 1 { wrong.append("\(name) took \(time) s") }
      }
    }
    if ContinuousClock.now - stopped > .seconds(seconds) {
      wrong.append("the server went on before the last call had thrown: --seconds is too short")
    }
    goesOn.wait()
    let count = try pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO line VALUES (2)")
      return try db.value("SELECT count(*) FROM line WHERE number = 2", as: Int.self)
    }
    // The transaction that threw was never committed.
    let first = try pool.read {
      try $0.value("SELECT count(*) FROM line WHERE number = 1", as: Int.self)
    }
    report(
      "after \(seconds) s the pool goes on: \(count ?? 0) row written, \(first ?? 0) of the one that threw"
    )
    if count != 1 || first != 0 { wrong.append("the table is wrong") }
    guard wrong.isEmpty else { throw Wrong(wrong.joined(separator: "; ")) }
  }

  /// The processes whose parent is this one.
  private static func children(of parent: pid_t) -> [pid_t] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter { process in
      let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
      return fields.count > 1 && pid_t(fields[1]) == parent
    }
  }
}
