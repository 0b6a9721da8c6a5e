import Glibc
import LarderSQLite

/// Threads that each look up rows, one in a transaction, beside one that commits one-row
/// transactions at a steady rate.
struct ReadersBesideWriter: ThreadBenchmark {
  let threads: Int
  var name: String { "readers-\(threads)" }

  static let all = [1, 2, 4].map(ReadersBesideWriter.init)

  private static let rows = 10_000
  /// How often a transaction is due. Each makes the readers' page caches useless, so that readers
  /// are faster where the writer is late: one that is late catches up, to do as much on both sides.
  private static let interval = Duration.microseconds(300)

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    let setup = try Reference(path: path)
    try setup.execute(
      """
      CREATE TABLE counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);
      WITH RECURSIVE number (id) AS
        (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < \(Self.rows))
      INSERT INTO counter SELECT id, 0 FROM number;
      """)
    let reference = try run(seconds: seconds) {
      let update = try ReferenceTransaction(
        path: path, .normal, "UPDATE counter SET n = n + 1 WHERE id = ?")
      return { try update.run($0) }
    } reader: {
      let lookup = try ReferenceTransaction(
        path: path, .normal, begin: "BEGIN", "SELECT n FROM counter WHERE id = ?")
      return { try lookup.run($0) }
    }
    var configuration = Configuration()
    configuration.synchronous = .normal
    let pool = try DatabasePool(path: path, configuration: configuration)
    let larder = try run(seconds: seconds) {
      { id in
        _ = try pool.inTransaction {
          try $0.executeUpdate("UPDATE counter SET n = n + 1 WHERE id = ?", id)
        }
      }
    } reader: {
      { id in
        try pool.read { try $0.value("SELECT n FROM counter WHERE id = ?", id, as: Int.self) }
      }
    }
    let total = try pool.read { try $0.value("SELECT sum(n) FROM counter", as: Int.self) }
    guard total == reference.writes + larder.writes else {
      throw Lost(expected: reference.writes + larder.writes)
    }
    return ContentionMeasurement(
      name: name, reference: reference.reads, larder: larder.reads,
      note: "beside \(reference.writes) and \(larder.writes) writes")
  }

  /// Runs one writer and the readers; each is given a row's number. Returns how long the lookups
  /// took, and how often the writer wrote.
  private func run(
    seconds: Double, writer: @escaping @Sendable () throws -> (Int) throws -> Void,
    reader: @escaping @Sendable () throws -> (Int) throws -> Int?
  ) throws -> (reads: Waits, writes: Int) {
    let writing: Threads.Maker = {
      let write = try writer()
      var id = 0
      var due: ContinuousClock.Instant?
      return {
        id = Self.row(after: id)
        try write(id)
        let next = (due ?? .now) + Self.interval
        due = next
        let left = next - .now
        if left > .zero { usleep(UInt32(left / .microseconds(1))) }
      }
    }
    let reading: Threads.Maker = {
      let read = try reader()
      var id = 0
      return {
        id = Self.row(after: id)
        guard try read(id) != nil else { throw Lost(expected: 1) }
      }
    }
    let times = try Threads.run(
      [writing] + Array(repeating: reading, count: threads), seconds: seconds)
    return (Waits(Array(times.dropFirst()), seconds: seconds), times[0].count)
  }

  /// Goes through all rows, without an order that makes neighbours meet.
  private static func row(after id: Int) -> Int { (id + 3_332) % rows + 1 }
}
