import Testing

@Suite("Proofs of use and misuse, short runs", .serialized)
struct UseTests {
  @Test(
    "Every public call in every unsuitable situation answers or throws, but never crashes or hangs")
  func misuse() async throws { try await Proof.expectSuccess("misuse") }

  @Test(
    "A killed process loses no acknowledged commit, and leaves nothing half done")
  func kills() async throws { try await Proof.expectSuccess("kills", "--count", "100") }

  @Test("A moved or replaced file keeps acknowledged commits, and later writes throw")
  func movedFiles() async throws { try await Proof.expectSuccess("moved-file", "--count", "300") }

  @Test("Continuous backups of equally named databases in one folder remove only their own copies")
  func copiesInCompany() async throws {
    try await Proof.expectSuccess("backup-company", "--count", "60")
  }

  @Test("A database restored from its log at any position is what it was, row by row")
  func replication() async throws {
    try await Proof.expectSuccess("replication", "--count", "120")
  }

  @Test("A slow, hanging or failing disk delays no call beyond its deadline")
  func slowDisk() async throws { try await Proof.expectSuccess("slow-disk", "--count", "6") }

  @Test("Processes that increment one number lose no increment, and get no busy error")
  func processes() async throws { try await Proof.expectSuccess("processes", "--count", "1600") }

  @Test("The writes of 16 threads add up, and each reader sees a consistent snapshot")
  func threads() async throws { try await Proof.expectSuccess("threads") }

  @Test("File descriptors and memory are released, whatever is opened, made or thrown")
  func leaks() async throws { try await Proof.expectSuccess("leaks", "--count", "10000") }
}
