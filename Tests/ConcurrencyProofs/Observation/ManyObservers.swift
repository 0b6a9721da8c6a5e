import Larder
import TestSupport

/// Thousands of observers of one row each: a commit wakes those of the rows that it touches, and costs those who write
/// as good as nothing for the others.
enum ManyObservers {
  private static let observers = 3000
  private static let commits = 300
  /// A commit takes 5 to 10 µs, to which waking and reading of others add as much, or more where they share its core.
  /// What would be wrong is a cost that grows with the observers that nothing touches: it was 77 and 1,479 times.
  /// Between 0.5 and 3 times were seen on two cores that do nothing else.
  private static let most = 5.0

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

  /// - Parameter isStrict: whether more than ``most`` times the time is a failure, which on a machine that does other
  ///   things beside means little for a short run.
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
    for index in 0..<2 * ways.count { alone.append(try await time(pool, index, ways)) }
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
    _ = try await time(pool, 0, ways)
    var details: [String] = []
    for (index, alone) in alone.enumerated() {
      let factor = try await time(pool, index, ways) / alone
      let name = ways[index / 2].0 + (index % 2 == 0 ? "" : ", synchronously")
      let text = (factor * 100).rounded() / 100
      details.append("\(observers) observers of one row each: \(text) × the time of \(name)")
      if isStrict, factor > most { ledger.fail("\(text) × the time of \(name) beside observers") }
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

  /// The median of nine times of as many commits.
  ///
  /// - Parameter index: which way, and whether synchronously; each is a call of its own, as scopes are trusted to be
  ///   brief by the calls that they had before.
  private static func time(
    _ pool: DatabasePool, _ index: Int, _ ways: [(String, @Sendable (Database, Int) throws -> Void)]
  ) async throws -> Duration {
    let write = ways[index / 2].1
    func synchronously(_ number: Int) throws {
      try pool.inTransaction { try write($0, number) }
    }
    var times: [Duration] = []
    for round in 0..<9 {
      let begin = ContinuousClock.now
      for number in 1...commits {
        let number = (number * 7 + round) % observers + 1
        if index % 2 == 1 {
          try synchronously(number)
        } else {
          try await pool.inTransaction(line: UInt(index)) { try write($0, number) }
        }
      }
      times.append(ContinuousClock.now - begin)
    }
    return times.sorted()[4]
  }
}
