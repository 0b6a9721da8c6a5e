import Larder
import ProofSupport

extension FaultScript {
  /// What migrations do, one a step.
  static let migration = FaultScript(
    name: "migration",
    steps: [
      FaultStep("open") { try $0.openQueue() },
      migrating(to: 1), migrating(to: 2), migrating(to: 3), migrating(to: 4),
      FaultStep("pending") { bench in
        let pending = try bench.access().read { try Migrator(migrations).pending($0) }
        try WrongAnswer.check(pending, [], "what is pending")
      },
      FaultStep("dry run") { bench in
        let report = try Migrator(migrations + [Migration("drop", sql: "DROP TABLE jar")])
          .dryRun(bench.access())
        if let error = report.error { throw error }
        try WrongAnswer.check(report.migrations.map(\.name), ["drop"], "the report")
      },
      FaultStep("down") { bench in
        try Migrator(migrations).migrate(bench.access(), downTo: migrations[2].name)
      },
      FaultStep("close") { try $0.close() },
    ])

  private static func migrating(to count: Int) -> FaultStep {
    FaultStep("migrate to \(count)") { bench in
      try Migrator(Array(migrations[..<count])).migrate(bench.access())
    }
  }

  private static let migrations = [
    Migration(
      "create shelf",
      sql: """
        CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO shelf SELECT id, name FROM place WHERE id <= 20;
        CREATE TABLE jar (id INTEGER PRIMARY KEY, shelf INTEGER REFERENCES shelf);
        INSERT INTO jar SELECT id, id FROM shelf;
        """),
    Migration("note") { db in
      try db.executeUpdate("UPDATE place SET note = 'migrated' WHERE id % 3 = 0")
    },
    // A table that others refer to is built anew.
    Migration(
      "name every shelf",
      sql: """
        CREATE TABLE new_shelf (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO new_shelf SELECT id, name FROM shelf;
        DROP TABLE shelf;
        ALTER TABLE new_shelf RENAME TO shelf;
        """),
    Migration(
      "count jars", sql: "ALTER TABLE shelf ADD COLUMN count INTEGER",
      down: "ALTER TABLE shelf DROP COLUMN count"),
  ]
}
