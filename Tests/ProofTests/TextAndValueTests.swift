import Testing

@Suite("Proofs of texts and values, in their short forms", .serialized)
struct TextAndValueTests {
  @Test("A hostile text is a value or a name wherever a text is taken, or refused")
  func injection() async throws { try await Proof.expectSuccess("injection") }

  @Test("Full-text patterns of any text find what a scan finds, and none is an error of syntax")
  func fullText() async throws { try await Proof.expectSuccess("fulltext", "--count", "2000") }

  @Test("Values of every type come back byte for byte, and those that can't be stored throw")
  func roundTrip() async throws { try await Proof.expectSuccess("round-trip", "--count", "10000") }

  @Test("Every type has with every operator what Swift computes, or an error and nothing written")
  func types() async throws { try await Proof.expectSuccess("types", "--count", "200") }

  @Test("@Record writes what is right for declarations of any kind, or an error in its place")
  func macros() async throws { try await Proof.expectSuccess("macros", "--count", "300") }
}
