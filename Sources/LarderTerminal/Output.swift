import FoundationEssentials
@preconcurrency import Glibc

/// What the program prints.
package enum Output {
  /// Prints values as an array of JSON objects, or as the table that they make.
  package static func show<Value: Encodable>(
    _ values: [Value], asJSON: Bool, table: ([Value]) -> TextTable
  ) throws {
    if asJSON { return try showJSON(values) }
    for line in table(values).lines { print(line) }
  }

  package static func showJSON(_ values: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(values), as: UTF8.self)
    print(text.split(separator: "\n").map { JSONText.withoutControls($0) }.joined(separator: "\n"))
  }

  /// Whether what is printed arrives nowhere, such as in a pipe that nobody reads any more.
  package static var isLost: Bool { ferror(stdout) != 0 }

  /// Writes what is still to be written. Throws where something could not be, now or before.
  package static func finish() throws {
    guard fflush(stdout) == 0, ferror(stdout) == 0 else {
      // Whoever has stopped reading needs no more.
      if errno == EPIPE { throw Failure("") }
      throw Failure("the output could not be written")
    }
  }

  /// Prints a line on standard error.
  package static func note(_ line: String) { write(Array((line + "\n").utf8)) }

  /// Whether the output goes to a terminal that shows colours, and nobody has asked for none; see
  /// [NO_COLOR](https://no-color.org).
  package static let showsColors =
    isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"

  package static var errorsGoToTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  static func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      // There is nowhere left to complain.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
