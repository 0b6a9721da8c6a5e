import LarderReplication
import LarderSQLite

/// Threads that write to a pool whose log is shipped, by what they do alone. The log is on the same disk, which is
/// more than it should cost.
struct WritersBesideReplication: ThreadBenchmark {
  let threads: Int
  let synchronous: Configuration.Synchronous

  var name: String { "writers-beside-log-\(synchronous == .full ? "full" : "normal")-\(threads)" }

  static let all = [1, 16].flatMap { threads in
    [Configuration.Synchronous.normal, .full].map { synchronous in
      WritersBesideReplication(threads: threads, synchronous: synchronous)
    }
  }

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    // Several turns of each side, since disks have moods.
    var (alone, beside): ([[Double]], [[Double]]) = ([], [])
    var note = ""
    for turn in 0..<3 {
      alone += try run(path: "\(path)-alone-\(turn)", seconds / 3, nil).times
      let shipped = try run(path: "\(path)-\(turn)", seconds / 3, "\(path)-log-\(turn)")
      beside += shipped.times
      note = shipped.note
    }
    return ContentionMeasurement(
      name: name, sides: ("alone", "shipped"), reference: Waits(alone, seconds: seconds),
      larder: Waits(beside, seconds: seconds), note: note)
  }

  private func run(
    path: String, _ seconds: Double, _ folder: String?
  ) throws -> (times: [[Double]], note: String) {
    try CounterTable.make(path)
    var configuration = Configuration()
    configuration.synchronous = synchronous
    let pool = try DatabasePool(path: path, configuration: configuration)
    let log = try folder.map { try pool.replicate(to: FolderSink($0)) }
    try log?.ship()
    let before = log?.statistics.bytes ?? 0
    let times = try Threads.run(
      (0..<threads).map { thread in
        {
          var id = thread
          return {
            id = CounterTable.row(after: id)
            try CounterTable.add(pool, id)
          }
        }
      }, seconds: seconds)
    try log?.ship()
    let bytes = (log?.statistics.bytes ?? 0) - before
    try CounterTable.check(pool, times.reduce(0) { $0 + $1.count })
    try pool.close()
    return (times, "\(bytes / 1024) KiB shipped")
  }
}
