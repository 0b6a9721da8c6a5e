import Testing

@Suite("The proof of compile-time effects, complete run", .serialized)
struct CompileTimeEffectTests {
  @Test("SQL that is refused, or only inspected, has no effect on the connection")
  func compileTimeEffects() async throws { try await Proof.expectSuccess("compile-time-effects") }
}
