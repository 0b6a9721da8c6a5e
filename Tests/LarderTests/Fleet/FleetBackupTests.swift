import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Copying all databases of a fleet")
struct FleetBackupTests {
  private let folder: ScratchFolder
  private let fleet: DatabaseFleet
  private let copies: String
  private static let keys = ["Norway", "denmark", "sweden"]

  init() throws {
    folder = try ScratchFolder()
    fleet = try Tenants.fleet(in: folder)
    copies = folder.file("copies")
    for key in Self.keys { try fleet.inTransaction(key) { try Tenants.insert("in \(key)", $0) } }
  }

  /// The cities in the copy of a tenant's database. Checks the copy's integrity first.
  private func copied(_ key: String) throws -> [String] {
    var configuration = Configuration()
    configuration.readOnly = true
    configuration.journalMode = nil
    let copies = try DatabaseFleet(in: copies)
    let db = try Database(path: copies.path(of: key), configuration: configuration)
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    return try Tenants.names(db)
  }

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: copies)
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// Closes the fleet and waits until its files' change times are old enough that an unchanged file
  /// can be told by its time.
  private func waitUntilSettled() async throws {
    try await fleet.close()
    for key in Self.keys {
      var status = stat()
      let path = try fleet.path(of: key)
      try await Tenants.wait {
        stat(path, &status) == 0 && status.st_ctim.tv_sec + 3 < time(nil)
      }
    }
  }

  @Test(
    "`backup` copies each database to a file of its own, whether it is open or not",
    arguments: [true, false]
  )
  func all(isOpen: Bool) throws {
    if !isOpen { try fleet.close() }
    let fleet = isOpen ? fleet : try Tenants.fleet(in: folder)
    let progress = Recorder<FleetReport>()
    let report = try fleet.backup(to: copies) { progress.add($0) }
    #expect(report.changed == 3)
    #expect(progress.elements.map(\.count) == [1, 2, 3])
    #expect(try files == ["%4eorway.db", ".larder-fleet", "denmark.db", "sweden.db"])
    for key in Self.keys { #expect(try copied(key) == ["in \(key)"]) }
  }

  @Test(
    "A fleet's backup doesn't wait for a tenant's open transaction, and doesn't see its changes"
  )
  func besideWriter() async throws {
    let user = try await TenantUser(fleet, "sweden").enter()
    try await fleet.inTransaction("denmark") { try Tenants.insert("Aarhus", $0) }
    try await fleet.backup(to: copies, check: .full)
    #expect(try copied("denmark") == ["in denmark", "Aarhus"])
    #expect(try copied("sweden") == ["in sweden"])
    try await user.end()
  }

  @Test("A tenant's database can be restored from its copy")
  func restored() throws {
    try fleet.backup(to: copies)
    try fleet.inTransaction("sweden") { try $0.executeUpdate("DELETE FROM city") }
    let path = try DatabaseFleet(in: copies).path(of: "sweden")
    try fleet.inDatabase("sweden") { try $0.restore(from: path) }
    #expect(try fleet.read("sweden", Tenants.names) == ["in sweden"])
  }

  @Test(
    "A fleet's backup skips unchanged databases, unless their copy was overwritten"
  )
  func unchanged() async throws {
    try await waitUntilSettled()
    let fleet = try Tenants.fleet(in: folder)
    #expect(try await fleet.backup(to: copies).changed == 3)
    #expect(try await fleet.backup(to: copies).unchanged == 3)
    try await fleet.inTransaction("sweden") { try Tenants.insert("Malmö", $0) }
    let report = try await fleet.backup(to: copies)
    #expect((report.changed, report.unchanged) == (1, 2))
    #expect(try copied("sweden") == ["in sweden", "Malmö"])
    // A copy that was overwritten is made again.
    try await fleet.close()
    let copy = try DatabaseFleet(in: copies).path(of: "denmark")
    try Data("rubbish".utf8).write(to: URL(fileURLWithPath: copy))
    #expect(try await Tenants.fleet(in: folder).backup(to: copies).changed >= 1)
    #expect(try copied("denmark") == ["in denmark"])
  }

  @Test("A database that can't be copied is reported, and keeps its previous copy")
  func failures() throws {
    try fleet.backup(to: copies)
    try fleet.close()
    try Data("rubbish, and no database".utf8).write(
      to: URL(fileURLWithPath: fleet.path(of: "sweden")))
    guard
      case .failures(let report)? = failure(
        FleetError.self, { try Tenants.fleet(in: folder).backup(to: copies) })
    else {
      Issue.record("nothing is told")
      return
    }
    #expect(report.failures.map(\.key) == ["sweden"])
    #expect(try copied("sweden") == ["in sweden"])
    #expect(try files.count == 4)
  }

  @Test("A damaged but readable database is reported as corrupt, and keeps its previous copy")
  func damaged() throws {
    try fleet.inTransaction("sweden") { db in
      try db.executeUpdate(
        """
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO city (name, population) SELECT 'city ' || i, i FROM n
        """)
    }
    try fleet.backup(to: copies)
    try fleet.close()
    let path = try fleet.path(of: "sweden")
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: 4096 * 5 + 8)
    try file.write(contentsOf: Data(repeating: 0x5a, count: 3000))
    try file.close()
    guard
      case .failures(let report)? = failure(
        FleetError.self, { try Tenants.fleet(in: folder).backup(to: copies) })
    else {
      Issue.record("nothing is told")
      return
    }
    #expect((report.failures.first?.error as? DatabaseError)?.code == .corrupt)
    #expect(try copied("sweden").count == 2001)
  }

  @Test("A fleet's backup removes drafts that a killed process has left behind")
  func leftovers() throws {
    try fleet.backup(to: copies)
    for name in [".larder-1f.lock", ".larder-1f-1", ".larder-1f-1-journal", ".larder-2e-1"] {
      try Data().write(to: URL(fileURLWithPath: copies + "/" + name))
    }
    try fleet.backup(to: copies)
    // `.larder-2e-1` has no lock file, so nobody can know whether its owner is gone.
    #expect(
      try files == [
        "%4eorway.db", ".larder-2e-1", ".larder-fleet", "denmark.db", "sweden.db",
      ])
  }

  @Test("A fleet's backup into its own folder, or into one that can't be created, throws")
  func wrongFolder() throws {
    let own = failure(DatabaseError.self) { try fleet.backup(to: fleet.folder + "/.") }
    #expect(own?.code == .misuse)
    try Data().write(to: URL(fileURLWithPath: folder.file("file")))
    let file = failure(DatabaseError.self) { try fleet.backup(to: folder.file("file")) }
    #expect(file?.code == .cannotOpen)
  }

  @Test("Removing a tenant waits until the fleet's backup has copied it")
  func removedMeanwhile() async throws {
    let (fleet, copies) = (fleet, copies)
    for _ in 0..<20 {
      async let backup = fleet.backup(to: copies)
      try await fleet.remove("sweden")
      let report = try await backup
      #expect(report.failures.isEmpty)
      try await fleet.inTransaction("sweden") { try Tenants.insert("Malmö", $0) }
    }
    #expect(try await fleet.read("sweden", Tenants.names) == ["Malmö"])
  }
}
