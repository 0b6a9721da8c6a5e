import Foundation
import Testing

/// Runs `fork-check`, a program with one thread: what a process with several, such as this one,
/// forks may wait for ever for a lock that another thread held at that moment.
@Suite("After a fork", .serialized)
struct ForkTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  /// Runs a check and returns its exit status, or the negative number of the signal that
  /// ended it, with all that it printed.
  ///
  /// On a thread that ends: Foundation gives the thread a run loop with weak references to it,
  /// which the address sanitizer takes for a leak as long as the thread lives.
  private func run(_ check: String) async throws -> (status: Int32, output: String) {
    let path = folder.path
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Self.run(check, in: path) })
      }
    }
  }

  private static func run(
    _ check: String, in folder: String
  ) throws -> (status: Int32, output: String) {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("fork-check")
    process.arguments = [check, folder]
    let pipe = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let sign: Int32 = process.terminationReason == .exit ? 1 : -1
    return (sign * process.terminationStatus, String(decoding: output, as: UTF8.self))
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
