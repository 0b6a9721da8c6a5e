import Testing

@Suite("The proof of compile-time effects, in full", .serialized)
struct CompileTimeEffectTests {
  @Test("SQL that is refused, or only looked at, changes nothing of the connection")
  func compileTimeEffects() async throws { try await Proof.expectSuccess("compile-time-effects") }
}
