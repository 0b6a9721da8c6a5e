import Foundation
import PostgresSupport
import TestSupport
import Testing

/// A service that was written from the documentation alone, and its own checks: killed workers, lost
/// connections, backups, tenants, and the move to a server and back.
@Suite("The sample support desk")
struct DeskTests {
  @Test("The support desk's own checks succeed in memory and in a file")
  func file() async throws {
    let (status, output) = try await ChildProcess.run(ChildProcess.built("desk"), ["check"])
    #expect(status == 0, "\(output)")
  }

  @Test(
    "The support desk's own checks succeed on a server",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whySkipped)))
  func server() async throws {
    // A separate server, because the checks end other connections.
    let server = try PostgresServer()
    let (status, output) = try await ChildProcess.run(
      ChildProcess.built("desk"), ["check", server.address])
    #expect(status == 0, "\(output)")
  }
}
