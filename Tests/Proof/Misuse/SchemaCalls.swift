import Foundation
import Larder

extension MisuseCall {
  private static let view: @Sendable () throws -> SchemaEntry = {
    try .view("large", as: "SELECT name FROM town")
  }

  private enum Size: String, CaseIterable { case small, large }

  /// A table that isn't there.
  private static let harbour: @Sendable () throws -> TableSchema = {
    try Table("harbour", Land.init, Land.columns.code).schema()
  }

  /// What tables and schemas do.
  static let schemas = [
    MisuseCall("Table.create(_:ifNotExists:)") { try Town.table.create($0.db, ifNotExists: true) },
    MisuseCall("Table.differences(_:strictly:)") { _ = try Town.table.differences($0.db) },
    MisuseCall("Table.addMissingColumns(_:)") { try Town.table.addMissingColumns($0.db) },
    MisuseCall("Table.rebuild(_:copying:losing:)") { try Town.table.rebuild($0.db) },
    MisuseCall("Table.drop(_:ifExists:)") { try Twinning.table.drop($0.db, ifExists: true) },
    MisuseCall("TableSchema.create(_:ifNotExists:)") { try harbour().create($0.db) },
    MisuseCall("TableSchema.addMissingColumns(_:)") {
      try Town.table.schema().addMissingColumns($0.db)
    },
    MisuseCall("TableSchema.rebuild(_:copying:losing:)") {
      try Town.table.schema().rebuild($0.db)
    },
    MisuseCall("TableSchema.drop(_:ifExists:)") { try Land.table.schema().drop($0.db) },
    MisuseCall("Database.create(enum:of:)", outcome: .either) {
      try $0.db.create(enum: "size", of: Size.self)
    },
    MisuseCall("Schema.init(_:schemas:)") { _ = try Schema($0.db) },
    MisuseCall("Schema.init(_:in:)", outcome: .either) { _ = try Schema(Town.self, in: $0.db) },
    MisuseCall(
      "TableSchema.init(_:_:constraints:indexes:options:in:)", outcome: .either
    ) { _ = try TableSchema("harbour", [.column("name", .text)], in: $0.db) },
    MisuseCall("SchemaEntry.create(_:ifNotExists:)") { try view().create($0.db) },
    MisuseCall("SchemaEntry.refresh(_:concurrently:)", outcome: .either) {
      try view().refresh($0.db)
    },
    MisuseCall("SchemaEntry.drop(_:ifExists:)") { try view().drop($0.db, ifExists: true) },
    MisuseCall("SchemaStep.execute(_:)") { stage in
      let wanted = Schema(tables: [try harbour()])
      for step in wanted.steps(from: Schema(tables: [])) { try step.execute(stage.db) }
    },
    MisuseCall("SchemaStep.run(_:down:_:)") {
      let step = SchemaStep.run("pier") { try $0.executeUpdate("CREATE TABLE pier (name TEXT)") }
      try step.execute($0.db)
    },
  ]

  private static let migrator = Migrator([
    Migration("harbours") { try $0.executeUpdate("CREATE TABLE harbour (name TEXT)") },
    Migration(
      "ships", sql: "CREATE TABLE ship (name TEXT)", down: "DROP TABLE ship"),
  ])

  /// What migrations do.
  static let migrations = [
    MisuseCall(
      "Migrator.migrate(_:progress:)", "Migration.init(_:foreignKeys:down:_:)"
    ) { try migrator.migrate($0.db) },
    MisuseCall("Migrator.migrate(_:adopting:schemas:accepting:progress:)") {
      try migrator.migrate($0.db, adopting: "harbours") { _ in true }
    },
    MisuseCall("Migrator.migrate(_:downTo:)") {
      try migrator.migrate($0.db, downTo: "harbours")
    },
    MisuseCall("Migrator.pending(_:)") { _ = try migrator.pending($0.db) },
    MisuseCall("Migrator.applied(_:)") { _ = try migrator.applied($0.db) },
    MisuseCall("Migrator.dryRun(_:)") { _ = try migrator.dryRun($0.db) },
  ]

  /// All calls that are made on a stage.
  static let all =
    statements + transactions + connection + registrations + schemaQueries + resultSets
    + preparedStatements + columns + recordWriting + recordReading + queries + schemas + migrations
    + fullText + jobs + outboxes
}
