import Testing

@Suite("Proofs of schema changes, in their short form", .serialized)
struct SchemaTests {
  @Test(
    "A schema change keeps every value, row id and dependent, or says beforehand what it doesn't")
  func changes() async throws { try await Proof.expectSuccess("schema-changes", "--count", "300") }

  @Test("A record over a table that others made is right in all it does, or refused")
  func foreignTables() async throws {
    try await Proof.expectSuccess("foreign-tables", "--count", "1000")
  }
}
