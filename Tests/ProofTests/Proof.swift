import Foundation
import TestSupport
import Testing

/// Runs the program `proof`: the optimized one that the environment variable `LARDER_PROOF` names, which takes a fraction
/// of the time, or else the one that is built with the tests.
enum Proof {
  private static let program =
    ProcessInfo.processInfo.environment["LARDER_PROOF"] ?? ChildProcess.built("proof")

  /// Runs one of its proofs. Expects that it tries at least one case, and that none fails.
  static func expectSuccess(
    _ row: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let proof = try await ChildProcess.run(program, [row] + options)
    #expect(proof.status == 0, "\(proof.output)", sourceLocation: sourceLocation)
    #expect(!proof.output.contains(": 0 "), "\(proof.output)", sourceLocation: sourceLocation)
  }
}
