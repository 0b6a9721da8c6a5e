import Foundation
import TestSupport
import Testing

/// Runs the checks in `test-process`, a program with one thread. The child of a process with several threads,
/// such as this one, may wait for ever for a lock that another thread held during the fork.
@Suite("Connections after a fork", .serialized)
struct ForkTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// Runs a check and returns its exit status and output.
  private func run(_ check: String) async throws -> (status: Int32, output: String) {
    try await ChildProcess.run(ChildProcess.built("test-process"), ["fork", check, folder.path])
  }

  private func expectHolds(
    _ check: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let (status, output) = try await run(check)
    #expect(status == 0, "\(output)", sourceLocation: sourceLocation)
    #expect(output.isEmpty, "\(output)", sourceLocation: sourceLocation)
  }

  @Test("After a fork, every call on the parent's connection throws in the child")
  func connection() async throws { try await expectHolds("connection") }

  @Test("After a fork, properties of the parent's connection have neutral values in the child")
  func properties() async throws { try await expectHolds("properties") }

  @Test(
    "Releasing the parent's connection in a forked child harms neither the parent's locks nor its log"
  )
  func release() async throws { try await expectHolds("release") }

  @Test("A forked child can open its own connection and write")
  func ownConnection() async throws { try await expectHolds("ownConnection") }

  @Test("A queue or pool that is in use during a fork throws in the child at once")
  func heldQueue() async throws { try await expectHolds("heldQueue") }

  @Test(
    "After a fork, observers stay with the parent, and observing in the child is refused",
    .needsPreupdateHook)
  func observers() async throws { try await expectHolds("observers") }

  @Test("Errors after a fork print nothing")
  func silence() async throws { try await expectHolds("silence") }

  @Test("A failing fork check exits with 1 and prints why, and an unknown one exits with 2")
  func failure() async throws {
    try Data("Oslo".utf8).write(to: URL(fileURLWithPath: folder.file("output")))
    let (status, output) = try await run("silence")
    #expect(status == 1)
    #expect(output == "nothing is printed\n")
    #expect(try await run("nonsense").status == 2)
  }
}
