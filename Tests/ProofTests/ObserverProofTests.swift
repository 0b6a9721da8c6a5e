import Testing

/// A suite of its own, since most of these proofs keep one core busy: it runs beside the others.
@Suite("Proofs of callers and observers, short runs", .serialized)
struct ObserverProofTests {
  @Test("Callers that share a queue or pool get the same results as if they were alone")
  func asIfAlone() async throws {
    try await Proof.expectSuccess("as-if-alone", "--count", "200")
  }

  @Test("Observed values follow each commit in order, and a replayed feed equals the database")
  func observation() async throws {
    try await Proof.expectSuccess("observation", "--count", "1000")
  }

  @Test("With failing system calls or allocations, observers see nothing uncommitted")
  func observedFaults() async throws {
    try await Proof.expectSuccess("observed-faults", "--count", "500")
  }

  @Test("Observers of a file whose writer is killed see exactly what is in the file")
  func observedKills() async throws {
    try await Proof.expectSuccess("observed-kills", "--count", "50")
  }

  @Test("Changesets behave the same as in SQLite's session extension")
  func changesets() async throws { try await Proof.expectSuccess("changesets", "--count", "2000") }
}
