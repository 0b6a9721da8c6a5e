import Foundation
import LarderSQLite
import TestSupport

/// A throw-away PostgreSQL server, which `Tests/postgres` runs and stops once this process has ended, however
/// it ends.
package final class PostgresServer: Sendable {
  /// The connection string of its first database, which is empty.
  package let address: String
  /// Of the process that all of its others descend from.
  package let identifier: pid_t
  private let guardian: Lock<ChildProcess>
  private let databaseCount = Lock(0)

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("postgres").path

  /// Where the server's programs are; nil where it isn't installed.
  package static let programs: String? = {
    let find = try? ChildProcess(script, ["find"], input: .nothing, errors: .nothing)
    return find?.line()
  }()

  package static var isInstalled: Bool { programs != nil }
  /// Whether PgBouncer is, too.
  package static let hasPooler =
    isInstalled
    && (try? ChildProcess(
      "/bin/sh", ["-c", "PATH=$PATH:/usr/sbin command -v pgbouncer"], input: .nothing,
      errors: .nothing
    ).end()) == 0
  package static let whySkipped = "PostgreSQL isn't installed, or can't be run as another user"

  private static let common = Result {
    let server = try PostgresServer(
      TestEngine.hasPooler ? ["--pooler", "transaction", "-c", "max_connections=200"] : [])
    // While nobody has connected, who might read the environment.
    let services = server.folder + "/services"
    try
      "[larder]\nhost=\(server.folder)\nuser=larder\ndbname=postgres\noptions=-c lock_timeout=3s\n"
      .write(toFile: services, atomically: true, encoding: .utf8)
    setenv("PGSERVICEFILE", services, 1)
    return server
  }

  /// The server of all suites, which is started when the first asks for it.
  package static var shared: PostgresServer { get throws { try common.get() } }

  /// Starts a server of one's own, which ends with the last reference to it.
  package init(_ options: [String] = []) throws {
    let process = try ChildProcess(Self.script, ["serve"] + options)
    guard let address = process.line(), let identifier = process.line().flatMap({ pid_t($0) })
    else { throw Failure(description: "the server didn't start: \(process.end())") }
    self.address = address
    self.identifier = identifier
    guardian = Lock(process)
  }

  deinit { stop() }

  /// Stops it as a crash would.
  package func stop() {
    // The guardian cleans up at the end of its input, which ends with the process that has it, or now.
    guardian.withLock { process in
      process.send(SIGTERM)
      process.end()
    }
  }

  /// The address of the pooler before a server that was started with one, for an address of the server's.
  package static func throughPooler(_ address: String) -> String { "\(address) port=6432" }

  /// Where the server's socket is.
  package var folder: String {
    String(address.dropFirst("host=".count).prefix { $0 != " " })
  }

  /// Runs SQL by the server's own client.
  package func run(_ sql: String, database: String = "postgres") throws {
    guard let programs = Self.programs else { throw Failure(description: Self.whySkipped) }
    let client = try ChildProcess(
      programs + "/psql",
      [
        "-h", folder, "-U", "larder", "-d", database, "-qc", "SET client_min_messages = error",
        "-c", sql,
      ],
      input: .nothing)
    guard client.end() == 0 else { throw Failure(description: "psql failed: \(sql)") }
  }

  /// The connection string of a new database.
  package func database() throws -> String {
    let name = databaseCount.withLock { count in
      count += 1
      return "test\(count)"
    }
    try run("CREATE DATABASE \(name)")
    return "host=\(folder) user=larder dbname=\(name)"
  }
}
