import TestSupport
import Testing

/// Runs the program `proof`, which is built with the tests.
enum Proof {
  /// Runs one of its proofs. Expects that it tries at least one case, and that none fails.
  static func expectSuccess(
    _ row: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let proof = try await ChildProcess.run(ChildProcess.built("proof"), [row] + options)
    #expect(proof.status == 0, "\(proof.output)", sourceLocation: sourceLocation)
    #expect(!proof.output.contains(": 0 "), "\(proof.output)", sourceLocation: sourceLocation)
  }
}
