import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Work of which a sample is timed", .promptly)
struct SampledWorkTests {
  private func doWork(_ work: borrowing SampledWork) { work.end(work.begin()) }

  @Test("All work is counted at each reading, and no bucket's count ever falls")
  func counts() {
    let work = SampledWork()
    var former = work.figures
    for count in 1...500 {
      doWork(work)
      guard count % 7 == 0 else { continue }
      let figures = work.figures
      #expect(figures.count == count && figures.histogram.reduce(0, +) == count)
      #expect(zip(figures.histogram, former.histogram).allSatisfy { $0 >= $1 })
      #expect(figures.total >= former.total && figures.longest >= former.longest)
      former = figures
    }
  }

  @Test("The first sixteen are timed, and then one of 33 to 64")
  func intervals() {
    let work = SampledWork()
    var gaps: [Int] = []
    var gap = 0
    for _ in 0..<2_000 {
      if work.isDue {
        gaps.append(gap)
        gap = 0
      } else {
        gap += 1
      }
      doWork(work)
    }
    #expect(gaps.prefix(16).allSatisfy { $0 == 0 })
    #expect(gaps.dropFirst(16).allSatisfy { (32...63).contains($0) })
    #expect(gaps.count > 40)
  }

  @Test("A timed one stands for those before it, and one that was long only for itself")
  func weights() {
    let work = SampledWork()
    for _ in 0..<16 { work.add(.init(coarse: 0, exact: 1_000, isTimed: true)) }
    for _ in 0..<20 { work.addAlone(.init(coarse: 0, isTimed: false)) }
    work.addAlone(.init(coarse: 50_000_000, isTimed: false))
    work.add(.init(coarse: 0, exact: 3_000, isTimed: true))
    let figures = work.figures
    #expect(figures.count == 38)
    #expect(figures.total == 16 * 1_000 + 21 * 3_000 + 50_000_000)
    #expect(figures.longest == 50_000_000)
    work.addAlone(.init(coarse: 0, isTimed: false))
    #expect(work.figures.total == figures.total + 3_000)
  }

  @Test("Work of several threads is all counted")
  func threads() async throws {
    let times = CallTimes()
    let call = ScopeCall("work")
    let callers = (0..<4).map { _ in
      Caller { for _ in 0..<5_000 { times.measure(call) {} } }
    }
    for caller in callers { try await caller.end() }
    var statistics = AccessStatistics()
    times.describe(&statistics)
    #expect(statistics.calls["work"]?.count == 20_000)
    #expect(statistics.calls["work"]?.histogram.reduce(0, +) == 20_000)
  }

  @Test("What was taken over isn't counted twice")
  func taking() {
    let work = SampledWork()
    let former = SampledWork()
    for _ in 0..<100 { doWork(work) }
    former.take(work)
    former.take(work)
    #expect(former.figures.count == 100 && work.figures.count == 0)
  }
}
