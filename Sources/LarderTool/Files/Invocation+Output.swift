import LarderTerminal

// What several commands do with their options and results.

extension Invocation {
  /// Prints a report as JSON if that is wanted, or else as lines of text.
  func show(_ report: some Encodable, _ lines: @autoclosure () throws -> [String]) throws {
    if wantsJSON { return try Output.showJSON(report) }
    for line in try lines() { print(line) }
  }

  /// The one of several options that was given; nil if none was. Throws ``Failure`` if several were.
  func choice(of options: [String]) throws -> String? {
    let given = options.filter(has)
    guard given.count <= 1 else {
      throw Failure(.usage, "--\(given[0]) and --\(given[1]) exclude one another")
    }
    return given.first
  }
}

extension Int {
  /// The number with a noun, such as `1 row` or `2,000 rows`.
  func counted(_ noun: String) -> String { "\(grouped) \(noun)\(self == 1 ? "" : "s")" }
}
