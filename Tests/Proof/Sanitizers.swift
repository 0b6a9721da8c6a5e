import Foundation

/// The suites of threads, tasks and processes, by the thread sanitizer. It finds what happens to
/// happen, so they run several times.
enum ThreadSanitizer: ProofRow {
  static let name = "thread-sanitizer"
  static let number = 9
  static let unit = "tests"

  private static let suites = [
    "BusyTests", "CancellationTests", "GroupCommitTests", "InterruptTests", "LockTests",
    "PoolReaderTests", "PoolTests", "QueueAsyncTests", "QueueOrderTests", "QueueStressTests",
    "QueueTests", "ReentryTests", "RetryTests", "ScopeIntegrityTests", "ScopeMisuseTests",
  ]

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let filter = "LarderSQLiteTests\\.(" + suites.joined(separator: "|") + ")/"
    return try Sanitizer(kind: "thread", arguments: ["--filter", filter]).run(options)
  }
}

/// All tests by the address sanitizer, several times.
enum AddressSanitizer: ProofRow {
  static let name = "address-sanitizer"
  static let number = 9
  static let unit = "tests"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    try Sanitizer(kind: "address", arguments: []).run(options)
  }
}

/// Runs of the tests of the package in this folder, built with a sanitizer.
private struct Sanitizer {
  let kind: String
  let arguments: [String]

  func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var runs = 0
    while runs < options.count ?? 1, options.goesOn(after: runs) {
      // A build of its own, which the usual one isn't made anew for.
      let child = try ChildProcess(
        program: "sh",
        arguments: ["sh", "-c", "exec \"$@\" 2>&1", "sh", "swift", "test", "--disable-xctest"]
          + ["--sanitize=\(kind)", "--scratch-path", ".build/\(kind)-sanitizer"] + arguments)
      let lines = child.remainingLines()
      let status = child.end()
      runs += 1
      result.tried += lines.compactMap(Self.testCount).reduce(0, +)
      let reports = lines.filter { $0.contains("Sanitizer:") && $0.contains("==") }
      let failures = lines.filter { $0.hasPrefix("✘") || $0.contains(" recorded an issue") }
      result.failures += (reports + failures).prefix(10).map { "run \(runs): \($0)" }
      if status != 0, reports.isEmpty, failures.isEmpty {
        result.failures.append("run \(runs) ended with \(status): \(lines.suffix(3))")
      }
    }
    result.details = ["runs: \(runs)"]
    return result
  }

  /// The number of tests in "Test run with 7 tests in 2 suites passed …".
  private static func testCount(_ line: String) -> Int? {
    let words = line.split(separator: " ")
    guard line.contains("Test run with"), line.contains("passed") || line.contains("failed"),
      let place = words.firstIndex(of: "with"), place + 1 < words.count
    else { return nil }
    return Int(words[place + 1])
  }
}
