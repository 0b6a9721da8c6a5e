import FoundationEssentials
@preconcurrency import Glibc

/// What the program prints.
enum Output {
  /// Prints values as an array of JSON objects, or as the table that they make.
  static func show<Value: Encodable>(
    _ values: [Value], asJSON: Bool, table: ([Value]) -> TextTable
  ) throws {
    if asJSON { return try showJSON(values) }
    for line in table(values).lines { print(line) }
  }

  static func showJSON<Value: Encodable>(_ values: [Value]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(values), as: UTF8.self))
  }

  /// Writes what is still to be written. Throws where something could not be, now or before.
  static func finish() throws {
    guard fflush(stdout) == 0, ferror(stdout) == 0 else {
      throw Failure("the output could not be written")
    }
  }

  /// Prints a line on standard error.
  static func note(_ line: String) { write(Array((line + "\n").utf8)) }

  static var errorsGoToTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  fileprivate static func write(_ bytes: [UInt8]) {
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

/// A bar on standard error, where that is a terminal.
struct ProgressBar {
  private let title: String
  private let isShown = Output.errorsGoToTerminal
  private var shown = -1

  init(_ title: String) { self.title = title }

  /// Shows which part is done, from 0 to 1.
  mutating func show(_ part: Double) {
    guard isShown else { return }
    let percent = Int(max(0, min(1, part)) * 100)
    guard percent != shown else { return }
    shown = percent
    let full = String(repeating: "█", count: percent / 4)
    let empty = String(repeating: "░", count: 25 - percent / 4)
    Output.write(Array("\r\(title) \(full)\(empty) \(percent) %".utf8))
  }

  /// Removes the bar.
  func clear() {
    if isShown, shown >= 0 { Output.write(Array("\r\u{1B}[K".utf8)) }
  }
}
