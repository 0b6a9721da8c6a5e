import Foundation
import TestSupport
import Testing

/// Runs a role of `test-process`, a program with one thread: what a process with several, such as this
/// one, forks may wait for ever for a lock that another thread held at that moment.
@Suite("After a fork", .serialized)
struct ForkTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// Runs a check, and returns how it ended with all that it printed.
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

  @Test("The parent's connection throws in the child, whatever is called")
  func connection() async throws { try await expectHolds("connection") }

  @Test("Properties have neutral values in the child")
  func properties() async throws { try await expectHolds("properties") }

  @Test("Letting go of the connection in the child harms neither the parent's locks nor its log")
  func release() async throws { try await expectHolds("release") }

  @Test("The child opens a connection of its own and writes")
  func ownConnection() async throws { try await expectHolds("ownConnection") }

  @Test("A queue or pool whose turn somebody has throws in the child at once")
  func heldQueue() async throws { try await expectHolds("heldQueue") }

  @Test(
    "Observers stay the parent's, and who observes in the child is refused", .needsPreupdateHook)
  func observers() async throws { try await expectHolds("observers") }

  @Test("Nothing is ever printed, whatever goes wrong")
  func silence() async throws { try await expectHolds("silence") }

  @Test("A check that doesn't hold fails and says so; so does one that there isn't")
  func failure() async throws {
    try Data("Oslo".utf8).write(to: URL(fileURLWithPath: folder.file("output")))
    let (status, output) = try await run("silence")
    #expect(status == 1)
    #expect(output == "nothing is printed\n")
    #expect(try await run("nonsense").status == 2)
  }
}
