import Foundation
import Larder

/// Random tables become others, by rebuilds, steps and migrations: every value, row id and what
/// depends on the table is as before, or it was said beforehand that it wouldn't be.
enum SchemaChanges: ProofRow {
  static let name = "schema-changes"
  static let number = 20
  static let unit = "changes"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let folder = try ProofFolder.make()
    defer { ProofFolder.remove(folder) }
    var outcomes: [SchemaChange.Outcome: Int] = [:]
    let count = options.count ?? 300
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      do {
        // Every tenth is one of those that need a file.
        if result.tried % 10 == 9 {
          try ProofFolder.empty(folder)
          try PlantedStatement(seed: seed, folder: folder).run()
          try DryRunOfCompany(seed: seed, folder: folder).run()
          outcomes[.refused, default: 0] += 1
        } else {
          outcomes[try SchemaChange(seed: seed).run(), default: 0] += 1
        }
      } catch {
        result.failures.append("seed \(seed): \(error)")
      }
      result.tried += 1
    }
    result.details = outcomes.map { "\($0.key.rawValue): \($0.value)" }.sorted()
    return result
  }
}

/// One change of a table.
struct SchemaChange {
  enum Outcome: String { case kept, refused, destructive = "marked destructive" }

  private let old: RandomTable
  private let new: RandomTable
  private let db: Database
  private let declared: TableSchema
  private let hasTrigger: Bool
  private let way: Int

  init(seed: UInt64) throws {
    var random = RandomNumbers(seed: seed)
    old = RandomTable(&random)
    new = old.changed(&random)
    db = try Database()
    try db.executeStatements(SQL(raw: old.sql()))
    let other = try Database()
    try other.executeStatements(SQL(raw: new.sql()))
    guard let table = try Schema(other).table("t") else {
      throw WrongAnswer(description: "no table")
    }
    declared = table
    for _ in 0..<Int.random(in: 0...6, using: &random) { Self.insert(into: db, old, &random) }
    hasTrigger = random.chance(30)
    try Self.addDependents(to: db, of: old, hasTrigger: hasTrigger, &random)
    way = Int.random(in: 0..<4, using: &random)
  }

  /// Inserts a row, if the table takes it.
  private static func insert(
    into db: Database, _ table: RandomTable, _ random: inout RandomNumbers
  ) {
    var names = table.written
    var values = names.map {
      $0 == "id" && random.chance(70)
        ? .integer(.random(in: 1...99, using: &random)) : random.value()
    }
    if table.hasRowID, ![.rowID, .autoincrement, .tableDescending].contains(table.key) {
      names.append("rowid")
      values.append(.integer(.random(in: 1...99, using: &random)))
    }
    let places = names.map { _ in "?" }.joined(separator: ", ")
    _ = try? db.executeUpdate(
      SQL(raw: "INSERT INTO t (\(names.joined(separator: ", "))) VALUES (\(places))"),
      arguments: Arguments(values))
  }

  private static func addDependents(
    to db: Database, of table: RandomTable, hasTrigger: Bool, _ random: inout RandomNumbers
  ) throws {
    let columns = table.columns.map(\.name)
    if random.chance(30) {
      let names = columns.indices.map { "x\($0)" }.joined(separator: ", ")
      try db.executeStatements(SQL(raw: "CREATE VIEW star (\(names)) AS SELECT * FROM t"))
    }
    if hasTrigger {
      let list = table.written.joined(separator: ", ")
      let values = table.written.map { "new.\($0)" }.joined(separator: ", ")
      try db.executeStatements(
        SQL(
          raw: """
            CREATE TABLE source (\(list));
            CREATE TRIGGER copied AFTER INSERT ON source BEGIN INSERT INTO t VALUES (\(values)); END;
            """))
    }
    if table.hasRowID, table.columns[1].expression == nil, random.chance(40) {
      try db.executeStatements(
        """
        CREATE VIRTUAL TABLE search USING fts5(a, content='t');
        INSERT INTO search(search) VALUES ('rebuild')
        """)
    }
    if random.chance(35) {
      try db.executeStatements(
        "CREATE INDEX kept ON t (a, id); CREATE TEMP VIEW temporary AS SELECT a FROM t")
    }
  }

  func run() throws -> Outcome {
    let before = try TableState(db, hasRowID: old.hasRowID)
    var schema = try Schema(db)
    schema.tables = schema.tables.map { $0.name == "t" ? declared : $0 }
    let isDifferent = !declared.differences(from: try Schema(db).table("t")).isEmpty
    guard isDifferent || !new.differs(from: old) else {
      throw WrongAnswer(description: "no difference is found, \(description)")
    }
    let steps = schema.steps(from: try Schema(db))
    let isMarked = steps.contains(where: \.isDestructive)
    func change(_ db: Database) throws {
      if way == 0 {
        try declared.rebuild(db)
      } else {
        for step in steps { try step.run(db) }
      }
    }
    do {
      switch way {
      case 0: try change(db)
      case 1: try db.inTransaction { try change($0) }
      default:
        let migration = Migration("change") { db in for step in steps { try step.run(db) } }
        if way == 3 {
          _ = try Migrator([migration]).dryRun(db)
          let after = try TableState(db, hasRowID: old.hasRowID)
          try WrongAnswer.check(after.dump, before.dump, "a dry run")
        }
        try Migrator([migration]).migrate(db)
      }
    } catch let error as WrongAnswer {
      throw error
    } catch {
      let after = try TableState(db, hasRowID: old.hasRowID)
      let entries = after.dump.filter { !$0.contains("larder_migration") }
      try WrongAnswer.check(entries, before.dump, "after a refusal (\(error))")
      return .refused
    }
    try WrongAnswer.check(
      try db.value("PRAGMA integrity_check"), "ok", "the integrity check, \(description),")
    // A rebuild keeps indexes that aren't declared.
    let differences = declared.differences(from: try Schema(db).table("t"))
      .filter { way != 0 || $0.kind != .index || $0.declared != nil }
    guard differences.isEmpty else {
      throw WrongAnswer(description: "\(differences.map(\.description)) is left, \(description)")
    }
    if try db.value("SELECT count(*) FROM temp.sqlite_schema", as: Int.self) ?? 0 > 0 {
      try db.validate("SELECT * FROM temporary")
    }
    if way != 0, isMarked { return .destructive }
    let after = try TableState(db, hasRowID: new.hasRowID)
    if let problem = try after.problem(comparedTo: before, from: old, to: new) ?? triggerProblem() {
      throw WrongAnswer(description: "\(problem), \(description)")
    }
    return .kept
  }

  /// A trigger that counts columns writes to the same as before.
  private func triggerProblem() throws -> String? {
    guard hasTrigger else { return nil }
    let values: [DatabaseValue] = old.written.indices.map { .integer(Int64(1000 + $0)) }
    let places = values.map { _ in "?" }.joined(separator: ", ")
    do {
      try db.executeUpdate(
        SQL(raw: "INSERT INTO source VALUES (\(places))"), arguments: Arguments(values))
    } catch is DatabaseError {
      return nil
    }
    let kept = old.written.indices.filter { new.written.contains(old.written[$0]) }
    let rows = try TableState(db, hasRowID: new.hasRowID).rows
    let isThere = rows.contains { row in
      kept.allSatisfy { KeptValue.isKept(values[$0], as: row.values[old.written[$0]] ?? .null) }
    }
    return isThere ? nil : "a trigger has written \(rows)"
  }

  private var description: String { "\(old.sql()) → \(new.sql()) in way \(way)" }
}
