import Foundation
import PostgresSupport
import TestSupport
import Testing

/// The service that somebody who had only the documentation has written, with all that it checks of itself: workers
/// that are killed, connections that are lost, copies, tenants, the move to a server and back.
@Suite("A support desk, written from the documentation alone")
struct DeskTests {
  @Test("It keeps its promises in memory and in a file")
  func file() async throws {
    let (status, output) = try await ChildProcess.run(ChildProcess.built("desk"), ["check"])
    #expect(status == 0, "\(output)")
  }

  @Test(
    "It keeps the same promises on a server",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whySkipped)))
  func server() async throws {
    // One of its own: it ends the connections of others.
    let server = try PostgresServer()
    let (status, output) = try await ChildProcess.run(
      ChildProcess.built("desk"), ["check", server.address])
    #expect(status == 0, "\(output)")
  }
}
