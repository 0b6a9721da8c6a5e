import Dispatch
import Synchronization

/// Tasks that work side by side until the time is up.
enum Tasks {
  /// Runs several tasks that each do something over and over, and returns how long its turns took,
  /// in milliseconds.
  static func run(
    _ count: Int, seconds: Double, _ turn: @escaping @Sendable (Int) async throws -> Void
  ) throws -> [[Double]] {
    let times = Mutex([[Double]](repeating: [], count: count))
    try wait {
      try await withThrowingTaskGroup(of: (Int, [Double]).self) { group in
        let end = ContinuousClock.now + .seconds(seconds)
        for index in 0..<count {
          group.addTask { (index, try await time(end) { try await turn(index) }) }
        }
        for try await (index, own) in group { times.withLock { $0[index] = own } }
      }
    }
    return times.withLock { $0 }
  }

  private static func time(
    _ end: ContinuousClock.Instant, _ turn: () async throws -> Void
  ) async throws -> [Double] {
    var times: [Double] = []
    var now = ContinuousClock.now
    while now < end {
      try await turn()
      let next = ContinuousClock.now
      times.append((next - now) / .milliseconds(1))
      now = next
    }
    return times
  }

  /// Runs a closure in a task of its own, and waits for it on this thread, which is none of the
  /// tasks' threads.
  static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
    let result = Mutex<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        try await body()
        result.withLock { $0 = .success(()) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      done.signal()
    }
    done.wait()
    try result.withLock { $0 }?.get()
  }
}
