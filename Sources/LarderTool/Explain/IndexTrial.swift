import Glibc
import Larder
import LarderTerminal

/// Finds the indexes that make a statement faster by measuring it on a copy with each of them.
///
/// The planner's own choice on an empty copy isn't enough: without statistics it takes an index of few
/// different values for as good as any other.
struct IndexTrial {
  struct Result {
    /// The CREATE INDEX statements; empty if none makes the statement faster.
    var indexes: [String] = []
    var plan: [PlanRow] = []
    /// The processor's seconds that the statement takes in the copy, without and with the indexes; nil if it was
    /// stopped after a time.
    var before: Double?
    var after: Double?
    /// The tables of which the copy has only some rows.
    var sampled: [String] = []
  }

  /// An index, with its name and statement.
  private struct Candidate: Hashable {
    let table: String
    let terms: [TrialTerms.Term]
    let name: String
    /// The statement of an index that isn't one of columns.
    var statement: String?

    var sql: String {
      statement ?? "CREATE INDEX \(name.quotedIdentifier) ON \(table.quotedIdentifier) "
        + "(\(terms.map(\.sql).joined(separator: ", ")))"
    }
  }

  private let copy: TrialCopy
  private let empty: Database
  private let sql: SQL
  private let advised: [IndexSchema]
  /// The processor time at the beginning, and the end by the clock.
  private let start: Double
  private let end: ContinuousClock.Instant
  private var db: Database { copy.database }

  /// The processor's seconds for all trials, and for a single run.
  private static let time = 8.0
  private static let timeOfRun = 1.5
  /// The time for all trials by the clock, which counts more on a busy machine.
  private static let longestTime = Duration.seconds(24)
  /// The processor's seconds of a run from which on it is measured once to see whether an index is worth suggesting.
  private static let long = 0.05
  /// The seconds by which two runs of the same may differ.
  private static let noise = 2e-6
  /// The part of its time that the statement may still take with an index that is worth suggesting.
  private static let worth = 0.87

  /// Prepares the trial. Returns nil if the statement can't be measured, since a parameter's value isn't known.
  ///
  /// - Parameter advised: the indexes that the planner chooses on an empty copy.
  init?(_ source: Database, _ text: String, advised: [IndexSchema]) throws {
    let copy = try TrialCopy(of: source, statement: text)
    guard !copy.tables.isEmpty else { return nil }
    self.copy = copy
    self.advised = advised
    var sql = SQL(raw: text)
    let count = try copy.database.prepare(sql).parameterCount
    guard let values = try ParameterSamples(text, count: count, copy.tables, copy.database).values
    else { return nil }
    sql.values = values
    sql.isCacheable = false
    self.sql = sql
    empty = try Self.emptyCopy(source)
    start = Self.processorTime
    end = .now + Self.longestTime
  }

  /// Whether there is time for another trial.
  private var hasTime: Bool { Self.processorTime - start < Self.time && .now < end }

  /// An empty copy of the schema without the indexes that aren't constraints.
  private static func emptyCopy(_ source: Database) throws -> Database {
    var configuration = Configuration()
    configuration.trustsSchema = true
    let db = try Database(configuration: configuration)
    try db.executeUpdate("PRAGMA automatic_index = OFF")
    for statement in try SchemaDocument(source).statements {
      let words = statement.sqlTokens.prefix(2).map { $0.text.lowercased() }
      guard words.last != "index" else { continue }
      try db.executeUpdate(SQL(raw: statement))
    }
    return db
  }

  // MARK: The search

  func result() throws -> Result {
    var result = Result(sampled: copy.sampled)
    let before = try seconds(atMost: Self.timeOfRun)
    result.before = before
    var best: (indexes: [Candidate], seconds: Double) = ([], before ?? .infinity)
    let names = try existingNames()
    let whole = advised.map {
      Candidate(table: "", terms: [], name: $0.name, statement: $0.sql)
    }
    if !whole.isEmpty, let time = try measured(whole, best.seconds), time < best.seconds {
      best = (whole, time)
    }
    // Not more than one further index for each table.
    var open = try terms().map { terms in
      terms.candidates.map { list in
        Candidate(
          table: terms.table, terms: list,
          name: Self.name(terms.table, list.map(\.column), besides: names))
      }
    }
    for base in best.indexes.isEmpty ? [[]] : [[], best.indexes] {
      var chosen: (indexes: [Candidate], seconds: Double) =
        base.isEmpty ? ([], before ?? .infinity) : best
      var lists = open
      while !lists.isEmpty, hasTime {
        var step: (place: Int, candidate: Candidate, seconds: Double)?
        for (place, list) in lists.enumerated() {
          for candidate in list where hasTime {
            try Interruption.check()
            let bound = step?.seconds ?? chosen.seconds
            guard let time = try measured(chosen.indexes + [candidate], bound), time < bound * 0.9
            else { continue }
            guard let old = step else {
              step = (place, candidate, time)
              continue
            }
            let (again, other) = try compared(
              chosen.indexes + [old.candidate], chosen.indexes + [candidate], at: bound)
            step =
              other < again * 0.9 ? (place, candidate, other) : (old.place, old.candidate, again)
          }
        }
        guard let step else { break }
        chosen = (chosen.indexes + [step.candidate], step.seconds)
        lists.remove(at: step.place)
      }
      if chosen.seconds < best.seconds * 0.95 { best = chosen }
    }
    open = []
    best = try shortened(best)
    guard !best.indexes.isEmpty, try isWorth(best.indexes) else { return result }
    result.indexes = best.indexes.map(\.sql)
    try trying(best.indexes) {
      result.after = try seconds(atMost: Self.timeOfRun)
      result.plan = try db.planRows(of: sql)
    }
    return result
  }

  /// Measures again, in turn, so that a disturbance of one measurement suggests nothing.
  private func isWorth(_ indexes: [Candidate]) throws -> Bool {
    var (before, after) = (Self.timeOfRun, Double.infinity)
    for _ in 0..<3 {
      before = min(before, try seconds(atMost: Self.timeOfRun) ?? .infinity)
      after = min(after, try trying(indexes) { try seconds(atMost: Self.timeOfRun) } ?? .infinity)
      // What takes long isn't disturbed as easily.
      if before > Self.long || !hasTime { break }
    }
    // Of statements that take microseconds, the clock's own reading is a part.
    return after < before * Self.worth && after < before - Self.noise
  }

  /// The least seconds with each of two lists of indexes, measured in turn: a disturbance of one measurement makes
  /// no index of two equally good ones better.
  private func compared(
    _ first: [Candidate], _ second: [Candidate], at bound: Double
  ) throws -> (Double, Double) {
    var least = (bound, Double.infinity)
    for _ in 0..<3 {
      least.0 = min(least.0, try measured(first, bound * 2) ?? .infinity)
      least.1 = min(least.1, try measured(second, bound * 2) ?? .infinity)
    }
    return least
  }

  /// Leaves out the indexes, and the columns at the ends, that make nothing faster.
  private func shortened(
    _ found: (indexes: [Candidate], seconds: Double)
  ) throws -> (indexes: [Candidate], seconds: Double) {
    var best = found
    let names = try existingNames()
    for candidate in found.indexes {
      let rest = best.indexes.filter { $0 != candidate }
      if best.indexes.count > 1,
        let time = try measured(rest, best.seconds * 1.1, evenIfUnused: true),
        time <= best.seconds * 1.1
      {
        best = (rest, max(time, best.seconds))
        continue
      }
      var longer = candidate
      while longer.terms.count > 1 {
        let terms = Array(longer.terms.dropLast())
        let shorter = Candidate(
          table: longer.table, terms: terms,
          name: Self.name(longer.table, terms.map(\.column), besides: names))
        let others = best.indexes.filter { $0 != longer }
        // A shorter index takes less space, and makes writes less slow.
        guard let time = try measured(others + [shorter], best.seconds * 1.25),
          time <= best.seconds * 1.25 + Self.noise
        else { break }
        best = (others + [shorter], best.seconds)
        longer = shorter
      }
    }
    return best
  }

  private func terms() throws -> [TrialTerms] {
    let tokens = sql.text.sqlTokens
    return try copy.tables.compactMap { name in
      guard let table = try TableSchema.found(name, in: db, schema: "main") else { return nil }
      return try TrialTerms(table, tokens) { column in
        try empty.inSavepoint { empty in
          empty.setRollbackOnly()
          try empty.executeUpdate(
            SQL(
              raw:
                "CREATE INDEX larder_trial ON \(name.quotedIdentifier) (\(column.quotedIdentifier))"
            ))
          return try empty.planRows(of: sql).map(\.detail)
        }
      } distinct: { column in
        let list =
          "SELECT \(column.quotedIdentifier) AS c FROM \(name.quotedIdentifier) LIMIT 20000"
        return try db.value(SQL(raw: "SELECT count(DISTINCT c) FROM (\(list))"), as: Int.self) ?? 0
      }
    }
  }

  private func existingNames() throws -> Set<[UInt8]> {
    Set(try db.schema().map(\.name.foldedName))
  }

  private static func name(
    _ table: String, _ columns: [String], besides taken: Set<[UInt8]>
  ) -> String {
    let base = ([table] + columns).joined(separator: "_")
    var name = base
    var number = 1
    while taken.contains(name.foldedName) {
      number += 1
      name = "\(base)_\(number)"
    }
    return name
  }

  // MARK: Measuring

  private func trying<T>(_ indexes: [Candidate], _ body: () throws -> T) throws -> T {
    var made: [Candidate] = []
    func drop() throws {
      for index in made { try db.executeUpdate("DROP INDEX \(identifier: index.name)") }
    }
    do {
      for index in indexes {
        try db.executeUpdate(SQL(raw: index.sql))
        made.append(index)
      }
      let result = try body()
      try drop()
      return result
    } catch {
      try drop()
      throw error
    }
  }

  /// The seconds with some indexes; nil if the statement doesn't use the last one, or takes longer than a bound.
  private func measured(
    _ indexes: [Candidate], _ bound: Double, evenIfUnused: Bool = false
  ) throws -> Double? {
    do {
      return try trying(indexes) {
        if let last = indexes.last, !evenIfUnused {
          let plan = try db.planRows(of: sql)
          guard plan.contains(where: { $0.detail.contains(last.name) }) else { return nil }
        }
        return try seconds(atMost: min(Self.timeOfRun, bound * 1.2))
      }
    } catch let error as DatabaseError where error.code == .error {
      // Such as too many columns, or an index of this name.
      return nil
    }
  }

  /// The processor's seconds of a run, the least of several; nil if one takes longer than a bound.
  private func seconds(atMost bound: Double) throws -> Double? {
    // Compiled before: after a change of the schema, all of it is parsed again.
    let statement = try db.prepare(sql)
    // An open statement keeps its indexes from being dropped.
    defer { statement.close() }
    var least = Double.infinity
    var total = 0.0
    for run in 0..<20 {
      // The first run also reads the pages.
      guard run < 3 && total < 0.5 || total < 0.02 else { break }
      guard let time = try seconds(of: statement, atMost: min(bound, Self.timeOfRun)) else {
        return nil
      }
      total += time
      least = min(least, time)
      if run > 0, least > bound { return nil }
    }
    return least
  }

  /// The processor's seconds of one run; nil if it takes longer than a bound.
  private func seconds(of statement: Statement, atMost bound: Double) throws -> Double? {
    var limit = Duration.milliseconds(Int(bound * 3000) + 50)
    while true {
      let start = Self.processorTime
      let time: Double? = try db.within(limit) {
        try db.inSavepoint { db in
          db.setRollbackOnly()
          let start = Self.processorTime
          let rows = try statement.query(arguments: Arguments(sql.values))
          while try rows.next() {}
          return Self.processorTime - start
        }
      }
      // The limit is one by the clock. On a busy machine a run may have waited for most of it.
      guard time == nil, Self.processorTime - start < bound, .now < end else { return time }
      limit *= 4
    }
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
