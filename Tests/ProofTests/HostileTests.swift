import Testing

@Suite("Proofs of hostile files and texts, in their short forms", .serialized)
struct HostileTests {
  @Test("A file calls nothing of the program's, touches no other file, and keeps nobody busy")
  func files() async throws { try await Proof.expectSuccess("hostile-files", "--count", "300") }

  @Test("A text takes time that grows with its length, whoever reads it")
  func texts() async throws { try await Proof.expectSuccess("hostile-texts", "--count", "3200") }
}
