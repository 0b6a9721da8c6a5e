import Dispatch
import Synchronization
import Testing

@testable import LarderSQLite

@Suite("Standby threads")
struct StandbyThreadTests {
  @Test(
    "A standby thread runs each job once and in order, with any idle time",
    arguments: [Duration.zero, .microseconds(20), .seconds(1)])
  func jobsInOrder(idleTime: Duration) {
    let thread = StandbyThread(idleTime: idleTime)
    let called = Lock<[Int]>([])
    for round in 0..<500 {
      let isOver = DispatchSemaphore(value: 0)
      thread.run { called.withLock { $0.append(2 * round) } }
      thread.run {
        called.withLock { $0.append(2 * round + 1) }
        isOver.signal()
      }
      isOver.wait()
    }
    #expect(called.withLock { $0 } == Array(0..<1000))
  }

  @Test("A standby thread runs all jobs that several threads submit at once, one at a time")
  func manyCallers() {
    let thread = StandbyThread(idleTime: .zero)
    let running = Atomic<Int>(0)
    let overlaps = Atomic<Int>(0)
    let isOver = DispatchSemaphore(value: 0)
    DispatchQueue.concurrentPerform(iterations: 400) { _ in
      thread.run {
        if running.add(1, ordering: .relaxed).newValue > 1 { overlaps.add(1, ordering: .relaxed) }
        running.subtract(1, ordering: .relaxed)
        isOver.signal()
      }
    }
    for _ in 0..<400 { isOver.wait() }
    #expect(overlaps.load(ordering: .relaxed) == 0)
  }

  @Test(
    "A timed job of a standby thread runs at its time, after the jobs before it, with any idle time",
    arguments: [Duration.zero, .seconds(1)])
  func timedJobs(idleTime: Duration) {
    let thread = StandbyThread(idleTime: idleTime)
    let called = Lock<[String]>([])
    let isOver = DispatchSemaphore(value: 0)
    let time = MonotonicClock.nanoseconds + 20_000_000
    thread.run(at: .max) { called.withLock { $0.append("replaced") } }
    thread.run(at: time) {
      called.withLock { $0.append(MonotonicClock.nanoseconds >= time ? "timed" : "early") }
      isOver.signal()
    }
    thread.run { called.withLock { $0.append("first") } }
    isOver.wait()
    thread.run { isOver.signal() }
    isOver.wait()
    #expect(called.withLock { $0 } == ["first", "timed"])
  }

  @Test("A standby thread releases a job's captures once the job has ended")
  func nothingKept() {
    final class Owner: Sendable {}
    let thread = StandbyThread()
    let isOver = DispatchSemaphore(value: 0)
    weak var owner: Owner?
    do {
      let kept = Owner()
      owner = kept
      thread.run { withExtendedLifetime(kept) {} }
    }
    thread.run { isOver.signal() }
    isOver.wait()
    #expect(owner == nil)
  }
}
