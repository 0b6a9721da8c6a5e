import Testing

@Suite("A full disk")
struct FullDiskTests {
  @Test("reaches the caller as an error, leaves nothing half done, and passes")
  func quickForm() async throws {
    let proof = try await Proof.run("full-disk")
    #expect(proof.status == 0, "\(proof.output)")
  }
}
