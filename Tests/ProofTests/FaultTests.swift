import Testing

@Suite("Proofs of faults, short runs", .serialized)
struct FaultTests {
  @Test(
    "A failing file system call throws, loses no acknowledged commit, and leaves nothing half done")
  func ioFaults() async throws { try await Proof.expectSuccess("io-faults", "--count", "1000") }

  @Test("A failing allocation throws, loses no acknowledged commit, and leaves nothing half done")
  func outOfMemory() async throws {
    try await Proof.expectSuccess("out-of-memory", "--count", "1500")
  }

  @Test(
    "After a power loss all acknowledged commits are left, or in WAL mode a prefix of them")
  func powerLoss() async throws { try await Proof.expectSuccess("power-loss", "--count", "600") }

  @Test("A full disk throws, leaves nothing half written, and writing works again with free space")
  func fullDisk() async throws { try await Proof.expectSuccess("full-disk", "--count", "8") }
}
