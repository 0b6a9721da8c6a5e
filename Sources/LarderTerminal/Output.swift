import FoundationEssentials
@preconcurrency import Glibc

/// Prints to the standard output and to standard error.
package enum Output {
  /// Prints values as an array of JSON objects, or as a table.
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

  /// Whether writing to the standard output has failed, such as to a pipe whose reader has gone.
  package static var isLost: Bool { ferror(stdout) != 0 }

  /// Flushes the standard output. Throws if this or an earlier write failed.
  package static func finish() throws {
    guard fflush(stdout) == 0, ferror(stdout) == 0 else {
      // The reader has closed the pipe and wants no more: no error text.
      if errno == EPIPE { throw Failure("") }
      throw Failure("the output could not be written")
    }
  }

  /// Prints a line on standard error.
  package static func note(_ line: String) { write(line + "\n") }

  /// Whether the output goes to a terminal with colours, and [NO_COLOR](https://no-color.org) isn't set.
  package static let showsColors =
    isatty(STDOUT_FILENO) == 1 && (getenv("NO_COLOR").map { $0.pointee == 0 } ?? true)
    && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"

  package static var errorsGoToTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Writes to standard error. An error is ignored: its message would be printed here too.
  static func write(_ text: String) { _ = Array(text.utf8).write(to: STDERR_FILENO) {} }
}

extension [UInt8] {
  /// Writes all bytes to a file descriptor. Returns false, with `errno`, if that fails.
  ///
  /// - Parameter onSignal: called when a signal has interrupted the call, before it is repeated.
  package func write(to descriptor: Int32, onSignal: () throws -> Void) rethrows -> Bool {
    var rest = self[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR {
        try onSignal()
        continue
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
