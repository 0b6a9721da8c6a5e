import Dispatch

/// Passes errors on to ``Configuration/log``: the first of its kind at once, further equal ones counted.
///
/// A full disk makes a service throw thousands of equal errors a minute. The log gets the first one, and every
/// ten seconds one that says how many there were since. Errors are equal if they have the same code, file and
/// label, and texts that differ in numbers only.
///
/// Sendable because it has no state except what its lock guards.
package final class ErrorLog: Sendable {
  private let log: @Sendable (DatabaseError) -> Void
  private let entries = Lock<[Key: Entry]>([:])

  private struct Key: Hashable {
    let code: Int32
    let place: String?
    let label: String?
    let message: [UInt8]
    let sql: [UInt8]

    init(_ error: DatabaseError) {
      code = error.extendedCode.rawValue
      place = error.path
      label = error.label
      message = Self.withoutDigits(error.message)
      sql = Self.withoutDigits(error.sql ?? "")
    }

    private static func withoutDigits(_ text: String) -> [UInt8] {
      text.utf8.filter { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }

  private struct Entry {
    /// The end of the time in which equal errors are counted.
    var end: Duration
    var count = 0
    /// The last equal error, which tells how many there were.
    var last: DatabaseError?
  }

  /// How long equal errors are counted before the log is told again.
  private let window: Duration
  /// How many kinds of errors are kept apart at most.
  private static let mostKinds = 1_000

  package init(
    window: Duration = .seconds(10), _ log: @escaping @Sendable (DatabaseError) -> Void
  ) {
    self.window = window
    self.log = log
  }

  /// Tells the log of an error, unless it is told later.
  package func report(_ error: DatabaseError) {
    let key = Key(error)
    let now = MonotonicClock.now
    let (isTold, schedules) = entries.withLock { entries in
      if var entry = entries[key], entry.count > 0 || now < entry.end {
        entry.count += 1
        entry.last = error
        entries[key] = entry
        return (false, entry.count == 1)
      }
      if entries.count >= Self.mostKinds {
        entries = entries.filter { $0.value.count > 0 || now < $0.value.end }
      }
      // Beyond that, every error is told: memory is bounded, and nothing is lost.
      if entries.count < Self.mostKinds { entries[key] = Entry(end: now + window) }
      return (true, false)
    }
    if schedules { tellLater(key) }
    if isTold { log(error) }
  }

  private func tellLater(_ key: Key) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + window.dispatchInterval) {
      [self] in
      let last = entries.withLock { entries -> DatabaseError? in
        guard let entry = entries[key], var last = entry.last else { return nil }
        last.repeats = entry.count
        entries[key] = Entry(end: MonotonicClock.now + window)
        return last
      }
      if let last { log(last) }
    }
  }
}
