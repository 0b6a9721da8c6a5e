import Foundation
import LarderSQLite
import TestSupport

/// Throw-away PostgreSQL servers that replicate, which `Tests/postgres` runs and stops once this process has ended,
/// however it ends. Each can be killed, promoted, and made a standby again.
package final class PostgresCluster: Sendable {
  /// The servers' addresses, of which the first is the primary's to begin with.
  package let addresses: [String]
  /// That of all of them together.
  package let address: String
  /// Where their sockets are; empty where they have ports.
  package let folders: [String]
  private let guardian: Lock<ChildProcess>

  /// Starts a primary with standbys.
  package init(standbys: Int = 1, _ options: [String] = []) throws {
    let process = try ChildProcess(
      PostgresServer.script, ["cluster", "--standbys", "\(standbys)"] + options)
    folders = try Self.lines(of: process, standbys + 1)
    addresses = folders.map { "host=\($0) user=larder dbname=postgres" }
    address = "host=\(folders.joined(separator: ",")) user=larder dbname=postgres"
    guardian = Lock(process)
  }

  /// Starts three nodes of [Patroni](https://patroni.readthedocs.io), with etcd, of which the first leads.
  package init(patroni: Void) throws {
    let process = try ChildProcess(PostgresServer.script, ["patroni-nodes"])
    folders = []
    let ports = try Self.lines(of: process, 3)
    let rest = "user=larder dbname=postgres"
    addresses = ports.map { "host=127.0.0.1 port=\($0) \(rest)" }
    let hosts = ports.map { _ in "127.0.0.1" }.joined(separator: ",")
    address = "host=\(hosts) port=\(ports.joined(separator: ",")) \(rest)"
    guardian = Lock(process)
  }

  /// What the guardian writes once all run, a line each; where it ends before that, it has said why.
  private static func lines(of process: ChildProcess, _ count: Int) throws -> [String] {
    let lines = (0..<count).compactMap { _ in process.line(before: .now + .seconds(300)) }
    guard lines.count == count else {
      process.send(SIGTERM)
      throw PostgresServer.Failure(description: "the servers didn't start: \(process.end())")
    }
    return lines
  }

  deinit {
    guardian.withLock { process in
      process.send(SIGTERM)
      process.end()
    }
  }

  /// Has the guardian do something, and waits until it is done.
  private func tell(_ command: String) throws {
    try guardian.withLock { process in
      process.say(command)
      guard process.line(before: .now + .seconds(180)) != nil else {
        throw PostgresServer.Failure(description: "\(command): the guardian has failed")
      }
    }
  }

  /// Kills all processes of a server at once.
  package func kill(_ node: Int) throws { try tell("kill \(node)") }

  /// Stops a server as an administrator does, without waiting for the ends of its sessions.
  package func shutDown(_ node: Int) throws { try tell("shut \(node)") }

  /// Kills the process of a session, for which the server ends all others and recovers.
  package func killSession(_ node: Int) throws { try tell("kill-session \(node)") }

  /// Has a standby become a primary, and doesn't wait until it is one.
  package func promote(_ node: Int) throws { try tell("promote \(node)") }

  /// Starts a server that was killed as what it was; one of Patroni's as what Patroni makes of it.
  package func start(_ node: Int) throws { try tell("start \(node)") }

  /// Starts a server that was killed as a standby of another, of which it becomes a copy.
  package func copy(_ node: Int, of other: Int) throws { try tell("copy \(node) \(other)") }

  /// Has the commits of a primary wait for a standby from now on, which there has to be. Where Patroni decides this,
  /// waits until a node is the one that is waited for.
  package func makeSynchronous(_ node: Int) throws { try tell("synchronous \(node)") }

  /// Has Patroni change the leader, to its synchronous standby.
  package func switchOver(from leader: Int, to standby: Int) throws {
    try tell("switchover \(leader) \(standby)")
  }

  /// Has all processes of a server stand still.
  package func stop(_ node: Int) throws { try tell("stop \(node)") }

  /// Has them go on.
  package func resume(_ node: Int) throws { try tell("continue \(node)") }
}
