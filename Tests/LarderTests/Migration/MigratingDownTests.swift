import Larder
import PostgresSupport
import Testing

@Suite("Migrating down")
struct MigratingDownTests {
  private let migrator = Migrator([
    Migration("city", sql: "CREATE TABLE city (name TEXT)", down: "DROP TABLE city"),
    Migration("river", down: { try $0.executeStatements("DROP TABLE river") }) { db in
      try db.executeUpdate("CREATE TABLE river (name TEXT)")
    },
    Migration("lake", sql: "CREATE TABLE lake (name TEXT)", down: "DROP TABLE lake"),
  ])

  private func tables(_ db: Database) throws -> [String] {
    try db.schema().filter { $0.kind == .table }.map(\.name).filter { $0 != "larder_migration" }
  }

  @Test(
    "`migrate(_:downTo:)` undoes the migrations after the named one, which can be applied again")
  func down() throws {
    let queue = try DatabaseQueue()
    try migrator.migrate(queue)
    try migrator.migrate(queue, downTo: "city")
    #expect(try queue.read(tables) == ["city"])
    #expect(try queue.read(migrator.pending) == ["river", "lake"])
    try migrator.migrate(queue)
    #expect(try queue.read(tables) == ["city", "river", "lake"])
    try migrator.migrate(queue, downTo: "lake")
    #expect(try queue.read(tables).count == 3)
    try migrator.migrate(queue, downTo: nil)
    #expect(try queue.read(tables) == [])
    try migrator.migrate(queue, downTo: nil)
    #expect(try queue.read(migrator.pending).count == 3)
  }

  @Test("`migrate(_:downTo:)` to a migration that isn't applied or isn't known throws")
  func notApplied() throws {
    let db = try Database.empty()
    try Migrator(Array(migrator.migrations.prefix(2))).migrate(db)
    for name in ["lake", "mountain"] {
      let error = failure(MigrationError.self) { try migrator.migrate(db, downTo: name) }
      #expect(error?.description == "the migration “\(name)” isn't applied")
    }
    #expect(try tables(db).count == 2)
  }

  @Test("If one migration has no `down`, `migrate(_:downTo:)` throws and undoes none")
  func irreversible() throws {
    let db = try Database.empty()
    let migrator = Migrator(
      [Migration("mountain", sql: "CREATE TABLE mountain (name TEXT)")] + migrator.migrations)
    try migrator.migrate(db)
    let error = failure(MigrationError.self) { try migrator.migrate(db, downTo: nil) }
    #expect(error?.description == "the migration “mountain” can't be undone: it has no “down”")
    #expect(try tables(db).count == 4)
    try migrator.migrate(db, downTo: "mountain")
    #expect(try tables(db) == ["mountain"])
  }

  @Test("A failing `down` leaves its migration applied, and the ones after it stay undone")
  func failing() throws {
    let db = try Database.empty()
    let migrator = Migrator([
      Migration(
        "sea", sql: "CREATE TABLE sea (name TEXT)", down: "DROP TABLE sea; DROP TABLE ocean"),
      migrator.migrations[2],
    ])
    try migrator.migrate(db)
    let error = failure(MigrationError.self) { try migrator.migrate(db, downTo: nil) }
    #expect(error?.sql?.trimmingPrefix(" ") == "DROP TABLE ocean")
    #expect(try tables(db) == ["sea"])
    #expect(try migrator.applied(db).map(\.name) == ["sea"])
    if !TestEngine.isPostgres { #expect(try db.effectiveSettings.foreignKeys) }
  }
}
