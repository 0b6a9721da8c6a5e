import Dispatch
import Glibc
import Synchronization

/// Something that several threads do over and over at the same time.
protocol ThreadBenchmark: Sendable {
  var name: String { get }
  func measure(path: String, seconds: Double) throws -> ContentionMeasurement
}

/// Threads that work side by side until the time is up.
enum Threads {
  /// Makes what a thread does in each of its turns, on that thread and before any of them begins.
  typealias Maker = @Sendable () throws -> () throws -> Void

  /// Runs a thread for each maker, and returns how long its turns took, in milliseconds.
  static func run(_ makers: [Maker], seconds: Double) throws -> [[Double]] {
    let results = Mutex<[Int: Result<[Double], any Error>]>([:])
    let (ready, done) = (DispatchGroup(), DispatchGroup())
    let start = DispatchSemaphore(value: 0)
    for (index, make) in makers.enumerated() {
      ready.enter()
      done.enter()
      WorkThread {
        let times = Result {
          let turn = Result { try make() }
          ready.leave()
          start.wait()
          return try time(turn.get(), seconds)
        }
        results.withLock { $0[index] = times }
        done.leave()
      }.start()
    }
    ready.wait()
    for _ in makers { start.signal() }
    done.wait()
    return try results.withLock { results in
      try makers.indices.compactMap { try results[$0]?.get() }
    }
  }

  /// Runs a closure on several threads at the same time, with the number of each.
  static func each(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let firstError = Mutex<(any Error)?>(nil)
    let done = DispatchGroup()
    for index in 0..<count {
      done.enter()
      WorkThread {
        do { try body(index) } catch { firstError.withLock { $0 = $0 ?? error } }
        done.leave()
      }.start()
    }
    done.wait()
    if let error = firstError.withLock({ $0 }) { throw error }
  }

  private static func time(_ turn: () throws -> Void, _ seconds: Double) throws -> [Double] {
    var times: [Double] = []
    var now = ContinuousClock.now
    let end = now + .seconds(seconds)
    while now < end {
      try turn()
      let next = ContinuousClock.now
      times.append((next - now) / .milliseconds(1))
      now = next
    }
    return times
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
