import Glibc
import LarderSQLite
import Synchronization

/// Readers that never pause beside a writer of many pages, in a pool of the default profile: how large
/// the log gets, and for how long anybody is held up beyond what its own closure takes.
struct LogBound: FigureBenchmark {
  let name = "log-bound"
  private static let readers = 3
  private static let documents = 4_000

  func measure(path: String, seconds: Double) throws -> Figures {
    let pool = try DatabasePool(path: path)
    try pool.inTransaction { db in
      try db.executeUpdate("CREATE TABLE document (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
      for id in 0..<Self.documents {
        try db.executeUpdate("INSERT INTO document VALUES (?, zeroblob(4000))", id)
      }
    }
    let longest = Mutex(Duration.zero)
    let largest = Atomic<Int>(0)
    let writer: Threads.Maker = {
      var first = 0
      return {
        first = (first + 50) % Self.documents
        let range = first..<first + 50
        try holdUp(longest) { inside in
          try pool.inTransaction { db in
            try inside {
              try db.executeUpdate(
                "UPDATE document SET body = randomblob(4000) WHERE id >= ? AND id < ?",
                range.lowerBound, range.upperBound)
            }
          }
        }
        largest.max(Self.size(path + "-wal"), ordering: .relaxed)
      }
    }
    let reader: Threads.Maker = {
      {
        try holdUp(longest) { inside in
          try pool.read { db in
            try inside { try db.value("SELECT sum(length(body)) FROM document", as: Int.self) }
          }
        }
      }
    }
    _ = try Threads.run(
      [writer] + Array(repeating: reader, count: Self.readers), seconds: seconds)
    return Figures(
      name: name,
      values: [
        ("largest_log_mib", Double(largest.load(ordering: .relaxed)) / 1_048_576),
        ("longest_held_up_ms", longest.withLock { $0 / .milliseconds(1) }),
      ])
  }

  /// Takes the time of a scope without that of what it calls `inside` with.
  private func holdUp<T>(
    _ longest: borrowing Mutex<Duration>, _ scope: ((() throws -> T) throws -> T) throws -> T
  ) throws {
    var inner = Duration.zero
    let outer = try ContinuousClock().measure {
      _ = try scope { body in
        let start = ContinuousClock.now
        defer { inner = ContinuousClock.now - start }
        return try body()
      }
    }
    longest.withLock { $0 = max($0, outer - inner) }
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
