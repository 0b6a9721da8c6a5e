import Larder
import TestSupport

/// Thousands of observers of one row each: a commit wakes those of the rows that it touches, and costs those who write
/// as good as nothing for the others.
enum ManyObservers {
  private static let observers = 3000
  private static let commits = 300

  private struct Person: Record, Equatable {
    var id: Int64?
    var name: String
    var age: Int

    struct Columns: Sendable {
      let id = Column("id", \Person.id, .primaryKey)
      let name = Column("name", \Person.name)
      let age = Column("age", \Person.age)
    }
    static let columns = Columns()
    static let table = Table("person", Person.init, columns.id, columns.name, columns.age)
  }

  /// - Parameter isStrict: whether more than twice the time is a failure, which on a machine that does other things
  ///   beside means little for a short run.
  static func measure(
    _ path: String, isStrict: Bool, _ ledger: ObservationRow.Ledger
  ) async throws -> [String] {
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { db in
      try Person.table.create(db)
      try Person.insert(
        db, contentsOf: (1...observers).map { Person(id: Int64($0), name: "n\($0)", age: 0) })
    }
    let ways: [(String, @Sendable (Database, Int) throws -> Void)] = [
      (
        "records",
        { db, number in try Person(id: Int64(number), name: "n\(number)", age: 1).update(db) }
      ),
      (
        "SQL",
        { db, number in
          try db.executeUpdate("UPDATE person SET age = age + 1 WHERE id = ?", number)
        }
      ),
      (
        "SQL by another column",
        { db, number in
          try db.executeUpdate("UPDATE person SET age = age + 1 WHERE name = ?", "n\(number)")
        }
      ),
    ]
    var alone: [Duration] = []
    for way in ways { alone.append(try await time(pool, way.1)) }
    let seen = Recorder<Int>()
    let tasks = (1...observers).map { number in
      Task {
        var isFirst = true
        for try await person in pool.values(of: { try Person.fetchOne($0, Int64(number)) }) {
          if isFirst { seen.add(number) }
          isFirst = false
          if person?.age == -number { return true }
        }
        return false
      }
    }
    while seen.elements.count < observers { try await Task.sleep(for: .milliseconds(5)) }
    // The first commit has the connection compile its statements anew.
    _ = try await time(pool, ways[0].1)
    var details: [String] = []
    for (way, alone) in zip(ways, alone) {
      let factor = try await time(pool, way.1) / alone
      let text = (factor * 100).rounded() / 100
      details.append("\(observers) observers of one row each: \(text) × the time of \(way.0)")
      if isStrict, factor > 2 { ledger.fail("\(text) × the time of \(way.0) beside observers") }
    }
    try await pool.inTransaction { try $0.executeUpdate("UPDATE person SET age = -id") }
    let limit = Task {
      try await Task.sleep(for: .seconds(60))
      for task in tasks { task.cancel() }
    }
    var late = 0
    for task in tasks where try await !task.value { late += 1 }
    limit.cancel()
    if late > 0 { ledger.fail("\(late) of \(observers) observers miss the last commit") }
    try await pool.close()
    return details
  }

  /// The best of three times of as many commits.
  private static func time(
    _ pool: DatabasePool, _ write: @escaping @Sendable (Database, Int) throws -> Void
  ) async throws -> Duration {
    var best = Duration.seconds(3600)
    for round in 0..<3 {
      let begin = ContinuousClock.now
      for number in 1...commits {
        try await pool.inTransaction { try write($0, (number * 7 + round) % observers + 1) }
      }
      best = min(best, ContinuousClock.now - begin)
    }
    return best
  }
}
