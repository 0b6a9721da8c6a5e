import Dispatch
import LarderSQLite
import Synchronization

/// Tasks that look up rows in a pool beside a writer with synchronous FULL, by what they do beside one
/// with NORMAL: what they read has to be durable before they are told.
struct ReadsBesideDurableWriter: ThreadBenchmark {
  let tasks = 64
  var name: String { "reads-beside-full-\(tasks)" }

  static let all = [ReadsBesideDurableWriter()]

  /// How often a transaction is due: seldom enough for both to keep up, since each makes the readers'
  /// page caches useless.
  private static let interval = Duration.milliseconds(5)

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    let normal = try run(path: path + "-normal", .normal, seconds)
    let full = try run(path: path, .full, seconds)
    return ContentionMeasurement(
      name: name, sides: ("NORMAL", "FULL"), reference: normal.reads, larder: full.reads,
      note: "beside \(normal.writes.count) and \(full.writes.count) writes of median "
        + "\(Table.number(normal.writes.median, 3)) and \(Table.number(full.writes.median, 3)) ms")
  }

  private func run(
    path: String, _ synchronous: Configuration.Synchronous, _ seconds: Double
  ) throws -> (reads: Waits, writes: Waits) {
    try CounterTable.make(path)
    var configuration = Configuration()
    configuration.synchronous = synchronous
    let pool = try DatabasePool(path: path, configuration: configuration)
    let writes = Mutex<Result<[Double], any Error>>(.success([]))
    let done = DispatchGroup()
    done.enter()
    DispatchQueue.global().async {
      let times = Result { try write(pool, seconds) }
      writes.withLock { $0 = times }
      done.leave()
    }
    let reads = try Tasks.run(tasks, seconds: seconds) { index in
      try await CounterTable.lookUp(pool, CounterTable.row(after: index))
    }
    done.wait()
    let times = try writes.withLock { try $0.get() }
    try CounterTable.check(pool, times.count)
    return (Waits(reads, seconds: seconds), Waits([times], seconds: seconds))
  }

  /// Writes at a steady rate, and returns how long each transaction took.
  private func write(_ pool: DatabasePool, _ seconds: Double) throws -> [Double] {
    let times = Mutex<[Double]>([])
    let writer = CounterTable.writing(every: Self.interval) {
      { id in
        let time = try ContinuousClock().measure { try CounterTable.add(pool, id) }
        times.withLock { $0.append(time / .milliseconds(1)) }
      }
    }
    _ = try Threads.run([writer], seconds: seconds)
    return times.withLock { $0 }
  }
}
