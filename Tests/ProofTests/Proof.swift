import TestSupport
import Testing

/// Runs of the program `proof`, which is built beside the tests.
enum Proof {
  /// Runs a row, and expects that it tries something, and nothing fails.
  static func expectSuccess(
    _ row: String, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let proof = try await ChildProcess.run(ChildProcess.built("proof"), [row] + options)
    #expect(proof.status == 0, "\(proof.output)", sourceLocation: sourceLocation)
    #expect(!proof.output.contains(": 0 "), "\(proof.output)", sourceLocation: sourceLocation)
  }
}
