import Glibc

/// Says on standard error what doesn't hold, one line for each expectation.
final class Report {
  private(set) var hasFailed = false
  /// Standard error as it was, for a check that sends its own elsewhere.
  private let output = dup(STDERR_FILENO)

  func expect(_ expectation: String, _ condition: () throws -> Bool) {
    do {
      if try !condition() { fail(expectation) }
    } catch {
      fail("\(expectation): \(error)")
    }
  }

  func fail(_ reason: String) {
    hasFailed = true
    let line = reason.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
    _ = write(output, line, line.utf8.count)
  }

  /// Runs a part of the check in a child process, which says itself what doesn't hold there.
  func inChild(_ body: () throws -> Void) throws {
    let end = try ForkedProcess.run {
      do { try body() } catch { fail("in the child: \(error)") }
      return hasFailed ? 1 : 0
    }
    switch end {
    case .exited(0): break
    case .exited(1): hasFailed = true
    case .exited, .ended: fail("the child comes to its end: \(end)")
    }
  }
}
