import Dispatch
import Glibc
import LarderSQLite
import Synchronization

/// Tasks that wait for their turn, and are cancelled at once: how long it takes until all are gone.
struct CancelledTasks: FigureBenchmark {
  private let tasks = 40_000
  var name: String { "cancel-\(tasks)" }

  func measure(path: String, seconds: Double) throws -> Figures {
    let queue = try DatabaseQueue(path: path)
    let time = Mutex(Duration.zero)
    let mayEnd = DispatchSemaphore(value: 0)
    let holds = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      _ = try? queue.inDatabase { _ in
        holds.signal()
        mayEnd.wait()
      }
      ended.signal()
    }
    holds.wait()
    defer {
      mayEnd.signal()
      ended.wait()
    }
    try Tasks.wait { [tasks] in
      let begun = Lock(0)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<tasks {
          group.addTask {
            begun.withLock { $0 += 1 }
            do {
              try await queue.inDatabase { _ in }
            } catch is CancellationError {
              return true
            }
            return false
          }
        }
        while begun.withLock({ $0 }) < tasks { try await Task.sleep(for: .milliseconds(1)) }
        // The last ones are about to wait.
        try await Task.sleep(for: .milliseconds(50))
        let start = ContinuousClock.now
        group.cancelAll()
        for try await wasCancelled in group where !wasCancelled { throw Lost(expected: 0) }
        time.withLock { $0 = ContinuousClock.now - start }
      }
    }
    return Figures(name: name, values: [("seconds", time.withLock { $0 / .seconds(1) })])
  }
}
