import Testing

@Suite("Proofs of use and misuse, in their short forms", .serialized)
struct UseTests {
  @Test("No public call crashes, hangs or is silent where it can't do its work")
  func misuse() async throws { try await Proof.expectSuccess("misuse") }

  @Test(
    "A process that is killed loses nothing that was acknowledged, and leaves nothing half done")
  func kills() async throws { try await Proof.expectSuccess("kills", "--count", "100") }

  @Test("A file that is moved or replaced keeps what was acknowledged, and is written no more")
  func movedFiles() async throws { try await Proof.expectSuccess("moved-file", "--count", "300") }

  @Test("Databases of one name whose copies share a folder remove their own copies only")
  func copiesInCompany() async throws {
    try await Proof.expectSuccess("backup-company", "--count", "60")
  }

  @Test("A disk that is slow, hangs or fails holds up no call beyond its deadline")
  func slowDisk() async throws { try await Proof.expectSuccess("slow-disk", "--count", "6") }

  @Test("Processes that write one number add up, and none is told that the database is busy")
  func processes() async throws { try await Proof.expectSuccess("processes", "--count", "1600") }

  @Test("What 16 threads write adds up, and readers see the tables as they were at one moment")
  func threads() async throws { try await Proof.expectSuccess("threads") }

  @Test("Callers that share a queue or pool see and are told what they would be alone")
  func asIfAlone() async throws {
    try await Proof.expectSuccess("as-if-alone", "--count", "200")
  }

  @Test("Who observes sees each commit that matters, in order, and a feed replayed is the database")
  func observation() async throws {
    try await Proof.expectSuccess("observation", "--count", "1000")
  }

  @Test("Calls that fail, and memory that is short, have nobody see what wasn't committed")
  func observedFaults() async throws {
    try await Proof.expectSuccess("observed-faults", "--count", "500")
  }

  @Test("Who observes a file whose writer is killed sees what is in it, where new feeds begin")
  func observedKills() async throws {
    try await Proof.expectSuccess("observed-kills", "--count", "50")
  }

  @Test("Changesets do what SQLite's own session extension does with them")
  func changesets() async throws { try await Proof.expectSuccess("changesets", "--count", "2000") }

  @Test("Files and memory are given back, whatever is opened, made or thrown")
  func leaks() async throws { try await Proof.expectSuccess("leaks", "--count", "10000") }
}
