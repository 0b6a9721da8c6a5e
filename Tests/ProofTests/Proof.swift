import Foundation
import Testing

/// A run of the program `proof`, which is built beside the tests.
struct Proof {
  let status: Int32
  /// What it wrote, its complaints last.
  let output: String

  /// Runs a row with its options, and waits for its end.
  ///
  /// On a thread that ends: Foundation gives the thread a run loop with weak references to it,
  /// which the address sanitizer takes for a leak as long as the thread lives.
  static func run(_ arguments: [String]) async throws -> Proof {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Proof(arguments) })
      }
    }
  }

  /// Runs a row, and expects that it tries something, and nothing fails.
  static func expectSuccess(
    _ row: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let proof = try await run([row] + options)
    #expect(proof.status == 0, "\(proof.output)", sourceLocation: sourceLocation)
    #expect(!proof.output.contains(": 0 "), "\(proof.output)", sourceLocation: sourceLocation)
  }

  private init(_ arguments: [String]) throws {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("proof")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    status = process.terminationStatus
    output = String(decoding: bytes, as: UTF8.self)
  }
}
