import Foundation
import LarderMacros

/// Old databases, new ones, and those of a newer program.
struct MigrationChecks {
  let scratch: Scratch
  let checks: Checks

  func all() async {
    await checks.part("migrations", migrations)
  }

  func migrations() async throws -> String {
    let store = try Store.open(scratch.address("old"), Watch(), migrating: false)
    let access = store.access
    try Migrator(Array(desk.migrations.prefix(1))).migrate(access)
    try await access.inTransaction { db in
      for number in 1...3 {
        _ = try V1.Ticket(
          id: nil, reference: "old-\(number)", subject: "old 工单 \(number)", body: "",
          created: Date()
        )
        .inserted(db)
      }
    }
    let report = try migrator.dryRun(access)
    checks.expect(report.isSuccess && report.migrations.count == 3, "\(report)")
    try migrator.migrate(access)
    try migrator.migrate(access)  // nothing is left to do
    let found = try await Desk(access: access).search("工单")
    checks.expect(found.count == 3, "rows that were there are found: \(found)")
    let tickets = try await access.read { db in try Ticket.fetchAll(db) }
    checks.expect(tickets.allSatisfy { $0.priority == .normal && $0.details == nil }, "\(tickets)")
    let differences = try await access.inDatabase { db in try Ticket.table.differences(db) }
    checks.expect(differences.isEmpty, "\(differences)")

    await checks.expectError(
      "an older program",
      { if case MigrationError.newerDatabase(let names) = $0 { names.count == 1 } else { false } }
    ) {
      try Migrator(Array(desk.migrations.prefix(3))).migrate(access)
    }
    await checks.expectError("a migration that fails", { $0 is MigrationError }) {
      try Migrator(
        desk.migrations + [
          Migration("v5: broken") { db in
            try db.executeUpdate("DELETE FROM comment")
            try db.executeUpdate("DELETE FROM ticket")
            try db.executeUpdate("UPDATE nowhere SET x = 1")
          }
        ]
      ).migrate(access)
    }
    checks.expect(
      try await access.read { db in try Ticket.all.fetchCount(db) } == 3, "half a migration")
    if store.pool != nil { try await released(access) }
    try await access.close()
    return "v1 to v4, dry run, refused what is newer or broken"
  }

  /// What a test of each release would be: the oldest file and a new one come to the same schema.
  private func released(_ access: any DatabaseAccess) async throws {
    let path = scratch.folder + "/v1.db"
    let old = try DatabaseQueue(path: path)
    try Migrator(Array(desk.migrations.prefix(1))).migrate(old)
    try await old.close()
    try migrator.check(oldDatabases: [path], records: tables)
  }
}
