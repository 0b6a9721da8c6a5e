import Testing

@Suite("Proofs of texts and values, short runs", .serialized)
struct TextAndValueTests {
  @Test("A hostile text is used as a value or name, or refused, by every API that takes a text")
  func injection() async throws { try await Proof.expectSuccess("injection") }

  @Test("A full-text pattern of any text finds what a scan finds, and is never a syntax error")
  func fullText() async throws { try await Proof.expectSuccess("fulltext", "--count", "2000") }

  @Test(
    "Random values of every type survive a round trip byte by byte, or throw if they can't be stored"
  )
  func roundTrip() async throws { try await Proof.expectSuccess("round-trip", "--count", "10000") }

  @Test("What the scanner of JSON columns is sure of, Foundation's decoder reads as the same value")
  func json() async throws { try await Proof.expectSuccess("json", "--count", "20000") }

  @Test("Every operator on every type gives what Swift computes, or throws and writes nothing")
  func types() async throws { try await Proof.expectSuccess("types", "--count", "200") }

  @Test("@Record expands random declarations correctly, or reports an error at its position")
  func macros() async throws { try await Proof.expectSuccess("macros", "--count", "300") }
}
