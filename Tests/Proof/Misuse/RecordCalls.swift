import Foundation
import Larder
import LarderTesting

extension MisuseCall {
  private static func town(_ id: Int64) -> Town {
    Town(id: id, name: "town \(id)", population: 7, land: "NO")
  }

  private static var newTown: Town { Town(id: nil, name: "Oslo", population: 7, land: "NO") }

  /// What records write.
  static let recordWriting = [
    MisuseCall("Record.insert(_:)", "RecordHooks.willInsert(_:)") {
      var town = newTown
      try town.insert($0.db)
    },
    MisuseCall("Record.insert(_:or:)") {
      var town = newTown
      try town.insert($0.db, or: .ignore)
    },
    MisuseCall("Record.inserted(_:)") { _ = try newTown.inserted($0.db) },
    MisuseCall("Record.insert(_:contentsOf:or:)") {
      try Town.insert($0.db, contentsOf: [newTown])
    },
    MisuseCall("Record.inserted(_:contentsOf:)") {
      _ = try Town.inserted($0.db, contentsOf: [newTown])
    },
    MisuseCall("Record.insert(_:_:from:)") {
      try Land.insert($0.db, Land.columns.code, from: Town.select { $0.name })
    },
    MisuseCall("Record.save(_:)", "RecordHooks.willUpdate(_:)") {
      try town(2).save($0.db)
      var town = newTown
      try town.save($0.db)
    },
    MisuseCall("Record.update(_:_:)") {
      try town(2).update($0.db)
      var town = town(3)
      try town.update($0.db, Town.columns.population)
    },
    MisuseCall("Record.update(_:changedSince:)") {
      var changed = town(2)
      changed.population = 8
      try changed.update($0.db, changedSince: town(2))
    },
    MisuseCall("Record.updated(_:)") { _ = try town(2).updated($0.db) },
    MisuseCall("Record.upsert(_:contentsOf:onConflict:updating:)") {
      try Town.upsert($0.db, contentsOf: [town(2), town(3)]) { $0.population += $1.population }
    },
    MisuseCall("Record.upsert(_:onConflict:updating:)") {
      try town(2).upsert(
        $0.db, onConflict: Town.columns.name, updating: Town.columns.population)
      var town = town(3)
      try town.upsert(
        $0.db, onConflict: Town.columns.name, updating: Town.columns.population)
    },
    MisuseCall("Record.delete(_:)", "RecordHooks.willDelete(_:)") { try town(4).delete($0.db) },
  ]

  /// What records read.
  static let recordReading = [
    MisuseCall("Record.fetchOne(_:)") { _ = try Town.fetchOne($0.db) },
    MisuseCall("Record.find(_:_:_:)") { _ = try Town.find($0.db, 1) },
    MisuseCall("Record.fetchOne(_:_:)") { _ = try Town.fetchOne($0.db, 1) },
    MisuseCall("Record.fetchAll(_:)") { _ = try Town.fetchAll($0.db) },
    MisuseCall("Record.fetchAll(_:keys:)") { _ = try Town.fetchAll($0.db, keys: [1, 2]) },
    MisuseCall("Record.fetchAll(_:sql:)") {
      _ = try Town.fetchAll($0.db, sql: "SELECT * FROM town")
    },
    MisuseCall("Record.forEach(_:_:)") { try Town.forEach($0.db) { _ in } },
    MisuseCall("Record.forEach(_:sql:_:)") {
      try Town.forEach($0.db, sql: "SELECT * FROM town") { _ in }
    },
    MisuseCall("BelongsTo.fetchAll(_:of:)", "Association.fetchAll(_:of:)") {
      _ = try Town.inLand.fetchAll($0.db, of: [town(1)])
    },
    MisuseCall("HasMany.fetchAll(_:of:)") {
      _ = try Land.towns.fetchAll($0.db, of: [Land(code: "NO")])
    },
    MisuseCall("HasManyThrough.fetchAll(_:of:)") {
      _ = try Town.twins.fetchAll($0.db, of: [town(1)])
    },
  ]

  private static var some: Query<Town> { Town.filter { $0.population > 10 }.order { $0.name } }

  /// What queries run.
  static let queries = [
    MisuseCall("Query.fetchAll(_:)") { _ = try some.fetchAll($0.db) },
    MisuseCall("Query.fetchAll(_:with:)") { _ = try some.fetchAll($0.db, with: Town.inLand) },
    MisuseCall("Query.fetchAll(_:with:_:)") {
      _ = try some.fetchAll($0.db, with: Town.inLand, Town.twins)
    },
    MisuseCall("QueryStatement.fetchOne(_:)") { _ = try some.fetchOne($0.db) },
    MisuseCall("Query.fetchCount(_:)") { _ = try some.fetchCount($0.db) },
    MisuseCall("Query.exists(_:)") { _ = try some.exists($0.db) },
    MisuseCall("Query.forEach(_:_:)") { try some.forEach($0.db) { _ in } },
    MisuseCall("Query.page(_:after:limit:)") { _ = try some.page($0.db, limit: 2) },
    MisuseCall("Selection.page(_:after:limit:)") {
      _ = try some.select { ($0.id, $0.name) }.page($0.db, limit: 2)
    },
    MisuseCall("Mapped.page(_:after:limit:)") {
      _ = try some.select({ $0.count }) { $0.name }.page($0.db, limit: 2)
    },
    MisuseCall("QueryStatement.explain(_:)") { _ = try some.explain($0.db) },
    MisuseCall("QueryStatement.suggestedIndexes(_:)") { _ = try some.suggestedIndexes($0.db) },
    MisuseCall("Query.update(_:_:)") { try Town.all.update($0.db) { $0.population += 1 } },
    MisuseCall("Query.updated(_:_:)") {
      _ = try Town.all.updated($0.db) { $0.population += 1 }
    },
    MisuseCall("Query.claim(_:limit:_:)") {
      _ = try Town.order { $0.id }.claim($0.db, limit: 2) { $0.population += 1 }
    },
    MisuseCall("Query.delete(_:)") { try Town.filter { $0.id == 3 }.delete($0.db) },
    MisuseCall("Query.deleted(_:)") { _ = try Town.filter { $0.id == 3 }.deleted($0.db) },
    MisuseCall("Query.updated(_:returning:_:)") {
      _ = try Town.all.updated($0.db, returning: { ($0.id, $0.name) }) { $0.population += 1 }
    },
    MisuseCall("Query.deleted(_:returning:)") {
      _ = try Town.filter { $0.id == 3 }.deleted($0.db, returning: { $0.name })
    },
    MisuseCall("Selection.fetchAll(_:)") {
      _ = try some.select { ($0.name, $0.id) }.fetchAll($0.db)
    },
    MisuseCall("QueryStatement.fetchOne(_:)") { _ = try some.select { $0.name }.fetchOne($0.db) },
    MisuseCall("QueryStatement.fetchCount(_:)") {
      _ = try some.select { $0.name }.fetchCount($0.db)
    },
    MisuseCall("Selection.forEach(_:_:)") {
      try some.select { ($0.name, $0.id) }.forEach($0.db) { name, id in _ = (name, id) }
    },
    MisuseCall("QueryStatement.explain(_:)") { _ = try some.select { $0.name }.explain($0.db) },
    MisuseCall("Mapped.fetchAll(_:)") {
      _ = try some.select({ $0.count }) { $0.name }.fetchAll($0.db)
    },
    MisuseCall("Mapped.forEach(_:_:)") {
      try some.select({ $0.count }) { $0.name }.forEach($0.db) { _ in }
    },
    MisuseCall("Compound.fetchAll(_:)") { _ = try some.union(some).fetchAll($0.db) },
    MisuseCall("QueryStatement.fetchAll(_:)") { db in
      func all(_ statement: some QueryStatement<Town>) throws { _ = try statement.fetchAll(db.db) }
      try all(some)
    },
    MisuseCall("QueryStatement.forEach(_:_:)") { db in
      func each(_ statement: some QueryStatement<Town>) throws {
        try statement.forEach(db.db) { _ in }
      }
      try each(some)
    },
    MisuseCall("QueryStatement.fetchOne(_:)") { _ = try some.union(some).fetchOne($0.db) },
    MisuseCall("QueryStatement.fetchCount(_:)") { _ = try some.union(some).fetchCount($0.db) },
    MisuseCall("QueryStatement.forEach(_:batchesOf:_:)") {
      try some.forEach($0.db, batchesOf: 2) { _ in }
    },
    MisuseCall("Compound.forEach(_:_:)") { try some.union(some).forEach($0.db) { _ in } },
    MisuseCall("QueryStatement.explain(_:)") { _ = try some.union(some).explain($0.db) },
    MisuseCall(
      "RepeatedStatements.init()", "RepeatedStatements.watching(_:)",
      "RepeatedStatements.during(atLeast:_:)"
    ) { stage in
      let repeated = RepeatedStatements()
      let db = try MisuseStage.open(stage.folder) { $0 = repeated.watching($0) }
      _ = try repeated.during {
        _ = try some.fetchAll(db)
        _ = try some.fetchAll(stage.db)
      }
    },
  ]
}
