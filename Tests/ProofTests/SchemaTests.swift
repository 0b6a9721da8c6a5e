import Testing

@Suite("Proofs of schema changes, short runs", .serialized)
struct SchemaTests {
  @Test(
    "A schema change keeps every value, row id and dependent object, or announces the loss")
  func changes() async throws { try await Proof.expectSuccess("schema-changes", "--count", "300") }

  @Test("Each operation of a record on a foreign table has the declared effect, or throws")
  func foreignTables() async throws {
    try await Proof.expectSuccess("foreign-tables", "--count", "1000")
  }
}
