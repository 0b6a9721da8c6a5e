import TestSupport

/// What a process does that is killed, and what is checked then.
package protocol KillStory {
  /// Starts a process, kills it, and looks at what it leaves: how much it had acknowledged.
  mutating func kill(_ number: Int, _ random: inout SeededGenerator) throws -> Int
}

extension KillStory {
  /// The lines that a process writes until it is killed, 2 to 12 ms after its first one; or, one
  /// time in five, at any moment after its start.
  package static func lines(
    of process: ChildProcess, _ random: inout SeededGenerator
  ) throws -> [String] {
    var lines: [String] = []
    let isEarly = Int.random(in: 0..<5, using: &random) == 0
    let delay = Duration.microseconds(
      Int.random(in: isEarly ? 0...20_000 : 2000...12_000, using: &random))
    if !isEarly {
      guard let first = process.line() else {
        throw WrongAnswer(description: "the process says nothing")
      }
      lines.append(first)
    }
    let end = ContinuousClock.now + delay
    while ContinuousClock.now < end, let line = process.line(before: end) { lines.append(line) }
    process.kill()
    // What it wrote before it died still arrives.
    lines += process.remainingLines()
    if let error = lines.first(where: { $0.hasPrefix("error") }) {
      throw WrongAnswer(description: error)
    }
    return lines
  }
}
