import Testing

@Suite("Proofs of hostile files and texts, short runs", .serialized)
struct HostileTests {
  @Test(
    "A hostile file calls none of the program's functions, writes no other file, and can't hang calls"
  )
  func files() async throws { try await Proof.expectSuccess("hostile-files", "--count", "300") }

  @Test("Every API that takes a text handles hostile texts in linear time")
  func texts() async throws { try await Proof.expectSuccess("hostile-texts", "--count", "3200") }
}
