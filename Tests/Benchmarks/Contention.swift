import CSQLite
import Dispatch
import FoundationEssentials
import Glibc
import LarderSQLite
import Synchronization

/// Many threads that each commit one-row transactions on the same row.
struct Contention: Sendable {
  let name: String
  let threads: Int
  let synchronous: Configuration.Synchronous
  var groupCommit = true

  static let all: [Contention] = [2, 4, 16].flatMap { threads in
    [
      Contention(name: "contention-full-\(threads)", threads: threads, synchronous: .full),
      Contention(name: "contention-normal-\(threads)", threads: threads, synchronous: .normal),
      Contention(
        name: "contention-full-\(threads)-alone", threads: threads, synchronous: .full,
        groupCommit: false),
      Contention(
        name: "contention-normal-\(threads)-alone", threads: threads, synchronous: .normal,
        groupCommit: false),
    ]
  }

  func measure(path: String, seconds: Double) throws -> ContentionMeasurement {
    let setup = try Reference(path: path)
    try setup.execute("CREATE TABLE hot (n INTEGER); INSERT INTO hot VALUES (0)")
    let reference = try run(seconds: seconds) { try ReferenceWriter(path: path, synchronous) }
    var configuration = Configuration()
    configuration.synchronous = synchronous
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let larder = try run(seconds: seconds) { LarderWriter(queue: queue) }
    let total = try queue.read { try $0.value("SELECT n FROM hot", as: Int.self) }
    guard total == reference.count + larder.count else {
      throw Lost(expected: reference.count + larder.count)
    }
    return ContentionMeasurement(name: name, reference: reference, larder: larder)
  }

  struct Lost: Error {
    let expected: Int
  }

  private func run(
    seconds: Double, _ makeWriter: @escaping @Sendable () throws -> any Writer
  ) throws -> Waits {
    let results = Mutex<[[Double]]>([])
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    let start = DispatchSemaphore(value: 0)
    for _ in 0..<threads {
      let thread = WorkThread {
        do {
          let writer = try makeWriter()
          start.wait()
          var times: [Double] = []
          let end = ContinuousClock.now + .seconds(seconds)
          var now = ContinuousClock.now
          while now < end {
            try writer.write()
            let next = ContinuousClock.now
            times.append((next - now) / .milliseconds(1))
            now = next
          }
          results.withLock { $0.append(times) }
        } catch {
          failure.withLock { $0 = error }
        }
        group.leave()
      }
      group.enter()
      thread.start()
    }
    for _ in 0..<threads { start.signal() }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    return Waits(results.withLock { $0 }, seconds: seconds)
  }
}

private protocol Writer {
  func write() throws
}

private struct LarderWriter: Writer {
  let queue: DatabaseQueue
  func write() throws {
    try queue.inTransaction { try $0.executeUpdate("UPDATE hot SET n = n + 1") }
  }
}

private final class ReferenceWriter: Writer {
  private let reference: Reference
  private let statements: [OpaquePointer]

  init(path: String, _ synchronous: Configuration.Synchronous) throws {
    let reference = try Reference(path: path, isNew: false)
    self.reference = reference
    sqlite3_busy_timeout(reference.handle, 60_000)
    try reference.execute("PRAGMA synchronous = \(synchronous.rawValue)")
    statements = try ["BEGIN IMMEDIATE", "UPDATE hot SET n = n + 1", "COMMIT"].map {
      try reference.prepare($0)
    }
  }

  deinit { for statement in statements { sqlite3_finalize(statement) } }

  func write() throws {
    for statement in statements {
      let code = sqlite3_step(statement)
      sqlite3_reset(statement)
      try reference.check(code)
    }
  }
}

/// A thread with a stack large enough for SQLite.
private final class WorkThread: @unchecked Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func start() {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<WorkThread>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    pthread_detach(thread)
  }
}

/// How long transactions took, in milliseconds.
struct Waits {
  let count: Int
  let perSecond: Double
  let median: Double
  let percentile99: Double
  let percentile999: Double
  let longest: Double
  /// The slowest thread's share over the fastest's.
  let fairness: Double

  init(_ threads: [[Double]], seconds: Double) {
    let all = threads.joined().sorted()
    func at(_ share: Double) -> Double {
      all.isEmpty ? .nan : all[min(all.count - 1, Int(Double(all.count) * share))]
    }
    count = all.count
    perSecond = Double(all.count) / seconds
    (median, percentile99, percentile999, longest) = (at(0.5), at(0.99), at(0.999), at(1))
    let shares = threads.map(\.count)
    fairness = Double(shares.min() ?? 0) / Double(max(1, shares.max() ?? 0))
  }
}

/// One row of the contention table.
struct ContentionMeasurement: Encodable {
  let name: String
  let reference: Waits
  let larder: Waits
  var ratio: Double { larder.perSecond / reference.perSecond }

  enum CodingKeys: String, CodingKey {
    case name, storage, ratio
    case referenceRate = "reference_tps"
    case larderRate = "larder_tps"
    case referenceLongest = "reference_longest_ms"
    case larderLongest = "larder_longest_ms"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(Storage.wal, forKey: .storage)
    try container.encode(reference.perSecond, forKey: .referenceRate)
    try container.encode(larder.perSecond, forKey: .larderRate)
    try container.encode(reference.longest, forKey: .referenceLongest)
    try container.encode(larder.longest, forKey: .larderLongest)
    try container.encode(ratio, forKey: .ratio)
  }

  static let header =
    "contention                        tx/s   median     99 %   99.9 %  longest  fairness  (ms)"

  var lines: [String] {
    [
      line("\(name), C", reference),
      line("\(name), Larder", larder) + "  × \(Table.number(ratio, 2))",
    ]
  }

  private func line(_ name: String, _ waits: Waits) -> String {
    Table.left(name, 30) + Table.right(waits.perSecond, 9, 0) + Table.right(waits.median, 9, 3)
      + Table.right(waits.percentile99, 9, 2) + Table.right(waits.percentile999, 9, 2)
      + Table.right(waits.longest, 9, 1) + Table.right(waits.fairness, 9, 2)
  }
}
