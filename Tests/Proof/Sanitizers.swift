import Foundation
import ProofSupport
import TestSupport

/// All tests by the thread sanitizer, several times: it finds what happens to happen.
enum ThreadSanitizer: ProofRow {
  static let name = "thread-sanitizer"
  static let number = 9
  static let unit = "tests"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    try Sanitizer(kind: "thread").run(options)
  }
}

/// All tests by the address sanitizer, several times.
enum AddressSanitizer: ProofRow {
  static let name = "address-sanitizer"
  static let number = 9
  static let unit = "tests"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    try Sanitizer(kind: "address").run(options)
  }
}

/// Runs of the tests of the package in this folder, built with a sanitizer.
private struct Sanitizer {
  let kind: String

  /// The tests that run apart from the others, since their tasks would get their turns only behind all
  /// tests that wait for a thread: that takes longer than they let anybody wait.
  private static let waitingTests =
    "LarderSQLiteTests\\.("
    + [
      "AsIfAlone[A-Za-z]*Tests", "BusyTests", "CancellationTests", "GroupCommitTests",
      "InterruptTests", "LockTests",
      "PoolReaderTests", "PoolTests", "QueueAsyncTests", "QueueOrderTests", "QueueTests",
      "ReentryTests", "RetryTests", "ScopeIntegrityTests", "ScopeMisuseTests",
    ].joined(separator: "|") + ")/"

  func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var runs = 0
    while runs < options.count ?? 1, options.goesOn(after: runs) {
      runs += 1
      for part in ["--filter", "--skip"] { try run([part, Self.waitingTests], runs, &result) }
    }
    result.details = ["runs: \(runs)"]
    return result
  }

  private func run(_ arguments: [String], _ number: Int, _ result: inout ProofResult) throws {
    // A build of its own, which the usual one isn't made anew for.
    let child = try ChildProcess(
      "swift",
      ["test", "--disable-xctest", "--sanitize=\(kind)"]
        + ["--scratch-path", ".build/\(kind)-sanitizer"] + arguments, errors: .output)
    let lines = child.remainingLines(patience: .seconds(86_400))
    let status = child.end()
    result.tried += lines.compactMap(Self.testCount).reduce(0, +)
    let reports = lines.filter { $0.contains("Sanitizer:") && $0.contains("==") }
    let failures = lines.filter { $0.hasPrefix("✘") || $0.contains(" recorded an issue") }
    result.failures += (reports + failures).prefix(10).map { "run \(number): \($0)" }
    if status != 0, reports.isEmpty, failures.isEmpty {
      result.failures.append("run \(number) ended with \(status): \(lines.suffix(3))")
    }
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
