import Larder
import TestSupport

/// What is changed in a trial, and how.
struct ChangePlan {
  enum Way: CaseIterable { case rebuild, transaction, migration, dryRun }

  let seed: UInt64
  var old: RandomTable
  var new: RandomTable
  var way: Way
  var rowCount: Int
  var dependents: Set<Dependent> = []
  /// What a rebuild is told to copy into columns.
  var copying: [String: CopiedValue] = [:]
  /// What a rebuild may lose.
  var losing: RebuildLosses = []
  /// Whether it has to work: nothing could be lost.
  var isHarmless = false
  /// The values of the first row, in the columns behind the key.
  var firstValues: [DatabaseValue] = []
  /// The key of the first row.
  var firstKey: DatabaseValue?

  init(seed: UInt64, _ random: inout SeededGenerator) {
    self.seed = seed
    old = RandomTable(&random)
    new = old.changed(&random)
    way = random.pick(Way.allCases)
    rowCount = Int.random(in: 0...6, using: &random)
    dependents = Dependent.some(of: old, &random)
    if way == .rebuild, random.chance(10) { losing = random.pick([.rowIDs, .columns]) }
    turn(to: Aim(seed: seed), &random)
  }

  /// The columns that have to have their values still, where those of others may be lost.
  var kept: [String] {
    old.written.filter { new.written.contains($0) && !copying.keys.contains($0) }
  }

  /// The columns whose values nothing of the new table has.
  var lost: [String] {
    let read = copying.values.flatMap(\.reads)
    return old.written.filter { !new.written.contains($0) && !read.contains($0) }
  }

  /// Whether the steps have to say that they are destructive.
  var isDestructive: Bool {
    !lost.isEmpty || dependents.contains(.search) && old.hasRowID && !new.hasRowID
  }

  /// A row to insert, by the names of columns: as random values, or those that the trial needs.
  func row(_ index: Int, _ random: inout SeededGenerator) -> [(name: String, value: DatabaseValue)]
  {
    let names = old.written
    var row = names.map { name in
      (
        name: name,
        value: name == "id" && random.chance(70)
          ? .integer(.random(in: 1...99, using: &random)) : random.value()
      )
    }
    if index == 0 {
      for (place, value) in firstValues.enumerated() { row[place + 1].value = value }
      if let firstKey { row[0].value = firstKey }
    }
    if old.hasRowID, !old.keyIsRowID {
      row.append((name: "rowid", value: .integer(.random(in: 1...99, using: &random))))
    }
    return row
  }
}

/// An expression that is copied into a column, and what it is in Swift.
struct CopiedValue {
  let sql: SQL
  let reads: [String]
  let value: ([String: DatabaseValue]) -> DatabaseValue

  init(
    _ sql: String, reading reads: [String],
    _ value: @escaping ([String: DatabaseValue]) -> DatabaseValue
  ) {
    self.sql = SQL(raw: sql)
    self.reads = reads
    self.value = value
  }
}

extension DatabaseValue {
  /// What `typeof` says.
  var typeName: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }
}
