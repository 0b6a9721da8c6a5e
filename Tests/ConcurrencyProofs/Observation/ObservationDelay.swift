import Foundation
import Larder
import TestSupport

/// How soon those who observe see what is committed.
enum ObservationDelay {
  static func measure(
    _ path: String, times: Int, _ ledger: ObservationRow.Ledger
  ) async throws -> [String] {
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction(.immediate, ObservedWriting.createTables)
    let seen = Recorder<(value: Int, at: Int)>()
    let observer = Task {
      for try await value in pool.values(of: {
        try $0.value("SELECT value FROM counter", as: Int.self) ?? 0
      }) {
        seen.add((value, MonotonicClock.nanoseconds))
      }
    }
    defer { observer.cancel() }
    func wait(for value: Int) async throws -> Int {
      while true {
        if let last = seen.elements.last, last.value >= value { return last.at }
        try await Task.sleep(for: .microseconds(200))
      }
    }
    var own: [Int] = []
    for number in 1...times {
      try await pool.inTransaction {
        _ = try $0.executeUpdate("UPDATE counter SET value = value + 1")
      }
      let committed = MonotonicClock.nanoseconds
      own.append(try await wait(for: number) - committed)
      if number % 100 == 0 { seen.removeAll() }
    }
    // The shell's clock is this one's.
    var foreign: [Int] = []
    let other = try Database(path: path)
    for number in 1...min(times, 200) {
      try other.executeUpdate("UPDATE counter SET value = value + 1")
      let committed = MonotonicClock.nanoseconds
      foreign.append(try await wait(for: times + number) - committed)
    }
    let medians = [own, foreign].map { Double($0.sorted()[$0.count / 2]) / 1e6 }
    // Short forms run beside other tests.
    let isMeasured = times >= 1000
    if isMeasured, medians[0] > 1 {
      ledger.fail("a commit reaches an observer after \(medians[0]) ms")
    }
    if isMeasured, medians[1] > 20 { ledger.fail("another connection's after \(medians[1]) ms") }
    return [
      "seen after \(milliseconds(medians[0])) ms, of another connection after \(milliseconds(medians[1])) ms"
    ]
  }

  private static func milliseconds(_ number: Double) -> String {
    String(format: "%.2f", max(0, number))
  }
}
