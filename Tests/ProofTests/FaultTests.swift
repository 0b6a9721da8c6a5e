import Testing

@Suite("Proofs of faults, in their short forms", .serialized)
struct FaultTests {
  @Test("A failing call of the file system is an error, and nothing acknowledged or half is lost")
  func ioFaults() async throws { try await Proof.expectSuccess("io-faults", "--count", "1000") }

  @Test("A lack of memory is an error, and nothing acknowledged or half is lost")
  func outOfMemory() async throws {
    try await Proof.expectSuccess("out-of-memory", "--count", "1500")
  }

  @Test(
    "After a loss of power all that was acknowledged, or in WAL mode a beginning of it, is left")
  func powerLoss() async throws { try await Proof.expectSuccess("power-loss", "--count", "600") }

  @Test("A full disk is an error, leaves nothing half written, and passes")
  func fullDisk() async throws { try await Proof.expectSuccess("full-disk", "--count", "8") }
}
