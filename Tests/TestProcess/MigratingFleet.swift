import LarderFleet
import Larder
import TestSupport

/// Applies migrations to all databases of a fleet, and says how many are done.
enum MigratingFleet {
  static func run(folder: String, count: Int) throws {
    let migrator = NumberedMigrations.migrator(count: count)
    let fleet = try DatabaseFleet(in: folder, configuration: .init(migrator: migrator))
    let report = try fleet.migrate { Parent.tell("\($0.count) of \($0.total)") }
    try fleet.close()
    Parent.tell("\(report.changed) migrated")
  }
}
