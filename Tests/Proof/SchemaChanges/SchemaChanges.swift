import Foundation
import Larder
import ProofSupport
import TestSupport

/// Random tables become others, by rebuilds, steps and migrations: every value, row id and what
/// depends on the table is as before, or it was said beforehand that it wouldn't be.
enum SchemaChanges: ProofRow {
  static let name = "schema-changes"
  static let number = 20
  static let unit = "changes"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    var outcomes: [SchemaChange.Outcome: Int] = [:]
    let count = options.count ?? 300
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      do {
        // Every tenth is one of those that need a file.
        if result.tried % 10 == 9 {
          try ScratchFolder.empty(folder)
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

  private let plan: ChangePlan
  private let db: Database
  private let declared: TableSchema
  private var old: RandomTable { plan.old }
  private var new: RandomTable { plan.new }

  init(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    plan = ChangePlan(seed: seed, &random)
    db = try Database()
    try db.executeStatements(SQL(raw: plan.old.sql()))
    let other = try Database()
    try other.executeStatements(SQL(raw: plan.new.sql()))
    guard let table = try Schema(other).table("t") else {
      throw WrongAnswer(description: "no table")
    }
    declared = table
    for index in 0..<plan.rowCount { insert(plan.row(index, &random)) }
    if plan.old.key == .autoincrement { insert([("id", .integer(500))]) }
    try db.executeStatements(
      """
      DELETE FROM t WHERE id = 500;
      CREATE TABLE source (x);
      CREATE TABLE other (d);
      INSERT INTO other VALUES ('elsewhere')
      """)
    // In the same order each time.
    for dependent in Dependent.allCases where plan.dependents.contains(dependent) {
      try db.executeStatements(SQL(raw: dependent.sql(for: plan.old)))
    }
  }

  /// Inserts a row, if the table takes it.
  private func insert(_ row: [(name: String, value: DatabaseValue)]) {
    let names = row.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let places = row.map { _ in "?" }.joined(separator: ", ")
    _ = try? db.executeUpdate(
      SQL(raw: "INSERT INTO t (\(names)) VALUES (\(places))"),
      arguments: Arguments(row.map(\.value)))
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
    if plan.way != .rebuild, plan.isDestructive, !isMarked {
      throw WrongAnswer(description: "no step is marked as destructive, \(description)")
    }
    do {
      try change(steps, before)
    } catch let error as WrongAnswer {
      throw error
    } catch {
      let after = try TableState(db, hasRowID: old.hasRowID)
      let entries = after.dump.filter { !$0.contains("larder_migration") }
      try WrongAnswer.check(entries, before.dump, "after a refusal (\(error))")
      if plan.isHarmless {
        throw WrongAnswer(description: "\(error), though nothing is lost, \(description)")
      }
      return .refused
    }
    try check(before, isMarked: isMarked && plan.way != .rebuild)
    return isMarked && plan.way != .rebuild ? .destructive : .kept
  }

  private func change(_ steps: [SchemaStep], _ before: TableState) throws {
    @Sendable func run(_ db: Database) throws { for step in steps { try step.execute(db) } }
    switch plan.way {
    case .rebuild:
      try declared.rebuild(db, copying: plan.copying.mapValues(\.sql), losing: plan.losing)
    case .transaction: try db.inTransaction { try run($0) }
    case .migration, .dryRun:
      let migration = Migration("change") { try run($0) }
      if plan.way == .dryRun {
        _ = try Migrator([migration]).dryRun(db)
        let after = try TableState(db, hasRowID: old.hasRowID)
        try WrongAnswer.check(after.dump, before.dump, "a dry run")
      }
      try Migrator([migration]).migrate(db)
    }
  }

  private func check(_ before: TableState, isMarked: Bool) throws {
    try WrongAnswer.check(
      try db.value("PRAGMA integrity_check"), "ok", "the integrity check, \(description),")
    // A rebuild keeps indexes that aren't declared.
    let differences = declared.differences(from: try Schema(db).table("t"))
      .filter { plan.way != .rebuild || $0.kind != .index || $0.declared != nil }
    guard differences.isEmpty else {
      throw WrongAnswer(description: "\(differences.map(\.description)) is left, \(description)")
    }
    let after = try TableState(db, hasRowID: new.hasRowID)
    let comparison = TableComparison(plan: plan, old: before, new: after, isMarked: isMarked)
    if let problem = try comparison.problem() ?? keyProblem() ?? dependentProblem() {
      throw WrongAnswer(description: "\(problem), \(description)")
    }
  }

  /// Nothing refers to what isn't there.
  private func keyProblem() throws -> String? {
    do {
      let rows = try db.executeQuery("PRAGMA foreign_key_check").map {
        try $0.get(at: 0, as: String.self)
      }
      return rows.isEmpty ? nil : "rows of \(rows) refer to nothing"
    } catch {
      return "a foreign key refers to no key: \(error)"
    }
  }

  /// What depended on the table works, and what counts columns writes to the same ones.
  private func dependentProblem() throws -> String? {
    for dependent in Dependent.allCases where plan.dependents.contains(dependent) {
      do {
        for use in dependent.uses { try db.validate(SQL(raw: use)) }
      } catch {
        return "\(dependent) doesn't work any more: \(error)"
      }
    }
    if plan.dependents.contains(.updateOf), let last = old.columns.last,
      !new.columns.contains(where: { $0.name == last.name })
    {
      return "a trigger isn't fired any more by updates of \(last.name)"
    }
    for dependent in Dependent.allCases where plan.dependents.contains(dependent) {
      guard try dependent.fire(db) else { continue }
      let rows = try TableState(db, hasRowID: new.hasRowID).rows
      let places = old.written.indices.filter { new.written.contains(old.written[$0]) }
      let isThere = rows.contains { row in
        places.allSatisfy {
          KeptValue.isKept(Dependent.written($0), as: row.values[old.written[$0]] ?? .null)
        }
      }
      if !isThere { return "\(dependent) has written \(rows)" }
    }
    return nil
  }

  private var description: String {
    "\(old.sql()) → \(new.sql()) by \(plan.way), with \(plan.dependents)"
  }
}
