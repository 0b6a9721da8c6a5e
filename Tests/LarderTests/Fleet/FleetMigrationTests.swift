import LarderFleet
import Foundation
import Larder
import TestSupport
import Testing

@Suite("Migrating all databases of a fleet")
struct FleetMigrationTests {
  private let folder: ScratchFolder
  private static let keys = (0..<12).map { "tenant \($0)" }

  init() throws { folder = try ScratchFolder() }

  private func fleet(
    migrations count: Int, maximumOpen: Int = 4
  ) throws -> DatabaseFleet {
    try Tenants.fleet(in: folder) {
      $0.migrator = NumberedMigrations.migrator(count: count)
      $0.maximumOpen = maximumOpen
    }
  }

  private func make() throws {
    let fleet = try fleet(migrations: 1)
    for key in Self.keys { try fleet.create(key) }
    try fleet.close()
  }

  /// The number of migrations that each tenant has. Records an issue for a database in disorder.
  private func applied() throws -> [Int] {
    try Self.keys.map { key in
      let db = try Database(path: fleet(migrations: 0).path(of: key))
      let (applied, problems) = try NumberedMigrations.check(db)
      #expect(problems == [])
      return applied
    }
  }

  @Test(
    "`migrate` migrates all databases, reports progress, and finds nothing to do the second time"
  )
  func all() throws {
    try make()
    let fleet = try fleet(migrations: 3)
    let progress = Recorder<FleetReport>()
    let report = try fleet.migrate { progress.add($0) }
    #expect(report.total == 12)
    #expect(report.changed == 12)
    #expect(progress.elements.map(\.count) == Array(1...12))
    #expect(progress.elements.allSatisfy { $0.total == 12 && $0.failures.isEmpty })
    let again = try fleet.migrate(concurrency: 100)
    #expect(again.changed == 0)
    #expect(again.unchanged == 12)
    // The databases don't stay in use.
    #expect(fleet.statistics.inUse == 0)
    try fleet.close()
    #expect(try applied() == Array(repeating: 3, count: 12))
  }

  @Test("A cancelled migration throws, and the next call migrates the remaining databases")
  func tasks() async throws {
    try make()
    let fleet = try fleet(migrations: 2)
    let hasBegun = Lock(false)
    let task = Task {
      try await fleet.migrate(concurrency: 1) { _ in
        hasBegun.withLock { $0 = true }
        while !Task.isCancelled, hasBegun.withLock({ $0 }) { sched_yield() }
      }
    }
    try await Tenants.wait { hasBegun.withLock { $0 } }
    task.cancel()
    hasBegun.withLock { $0 = false }
    await #expect(throws: CancellationError.self) { try await task.value }
    let report = try await fleet.migrate()
    #expect(report.unchanged >= 1)
    #expect(report.changed + report.unchanged == 12)
    try await fleet.close()
    #expect(try applied() == Array(repeating: 2, count: 12))
  }

  @Test("`migrate` reports each database that fails with its error, and migrates the others")
  func failures() throws {
    try make()
    let fleet = try fleet(migrations: 2)
    let wrong = ["tenant 3", "tenant 7"]
    try Data("rubbish, and no database".utf8).write(
      to: URL(fileURLWithPath: fleet.path(of: wrong[0])))
    let db = try Database(path: fleet.path(of: wrong[1]))
    try db.executeUpdate("CREATE TABLE city_1 (name)")
    try db.close()
    let failed = Lock(0)
    guard
      case .failures(let report)? = failure(
        FleetError.self,
        { try fleet.migrate { progress in failed.withLock { $0 = progress.failures.count } } })
    else {
      Issue.record("nothing is told")
      return
    }
    #expect(failed.withLock { $0 } == 2)
    #expect(report.changed == 10)
    #expect(report.failures.map(\.key).sorted() == wrong)
    for failure in report.failures {
      if failure.key == wrong[0] {
        #expect((failure.error as? DatabaseError)?.code == .notADatabase)
      } else {
        guard case MigrationError.failed("city 1", _) = failure.error else {
          Issue.record("\(failure.error)")
          continue
        }
      }
    }
    #expect("\(FleetError.failures(report))".hasPrefix("2 of 12 databases failed: “tenant "))
  }

  @Test("An error thrown by the progress closure stops a migration")
  func progressThrows() throws {
    struct Enough: Error {}
    try make()
    let fleet = try fleet(migrations: 2)
    #expect(throws: Enough.self) {
      try fleet.migrate(concurrency: 1) { if $0.count == 5 { throw Enough() } }
    }
    #expect(try fleet.migrate().unchanged == 5)
  }

  @Test("`migrate` migrates all databases while another thread uses one of them")
  func besideOthers() async throws {
    try make()
    let fleet = try fleet(migrations: 3, maximumOpen: 2)
    let user = try await TenantUser(fleet, "tenant 5").enter()
    let report = try await fleet.migrate()
    // The database in use counts as changed: it was migrated when it was opened.
    #expect(report.changed == 12)
    try await user.end()
    try await fleet.close()
    #expect(try applied() == Array(repeating: 3, count: 12))
  }

  @Test("`migrate` migrates an open database that another connection restored from an old copy")
  func restoredElsewhere() throws {
    try make()
    let copy = folder.file("old.db")
    try self.fleet(migrations: 1).read(Self.keys[5]) { try $0.backup(to: copy) }
    let fleet = try self.fleet(migrations: 3)
    func restore() throws {
      let db = try Database(path: fleet.path(of: Self.keys[5]))
      try db.restore(from: copy)
      try db.close()
    }
    try fleet.migrate()
    try fleet.withDatabase(Self.keys[5]) { _ in
      try restore()
      #expect(try fleet.migrate().changed == 1)
      #expect(try applied() == Array(repeating: 3, count: 12))
    }
    try fleet.read(Self.keys[5]) { _ in }
    try restore()
    #expect(try fleet.migrate().changed == 1)
    #expect(try fleet.migrate().changed == 0)
    #expect(try applied() == Array(repeating: 3, count: 12))
    try fleet.close()
  }

  @Test("`migrate` without a migrator throws misuse")
  func noMigrator() throws {
    let fleet = try Tenants.fleet(in: folder) { $0.migrator = nil }
    #expect(failure(DatabaseError.self) { try fleet.migrate() }?.code == .misuse)
  }

  @Test(
    "Killing a process in a migration of all leaves no half-applied migration, and the next one finishes"
  )
  func killed() throws {
    try make()
    for kill in 0..<6 {
      let process = try ChildProcess.role("fleet", folder.file("tenants"), "4")
      for _ in 0...kill { _ = process.line() }
      process.kill()
      #expect(try applied().allSatisfy { (1...4).contains($0) })
    }
    let last = try ChildProcess.role("fleet", folder.file("tenants"), "4")
    let lines = last.remainingLines()
    #expect(last.end() == 0)
    #expect(lines.dropLast() == (1...12).map { "\($0) of 12" }[...])
    #expect(try applied() == Array(repeating: 4, count: 12))
  }
}
