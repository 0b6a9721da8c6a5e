import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Texts of growing length, of what makes readers go back and forth, for every API that takes one: the
/// time grows with the length, and errors keep a bounded part of them.
enum HostileTexts: ProofRow {
  static let name = "hostile-texts"
  static let number = 21
  static let unit = "texts"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let readers = try TextReader.all()
    var random = SeededGenerator(seed: options.seed)
    var slowest = (time: Duration.zero, name: "")
    let count = options.count ?? 4000
    // First each unit at full length by each reader, then random ones.
    var systematic = readers.flatMap { reader in HostileText.units.map { (reader, $0) } }[...]
    while result.tried < count, options.goesOn(after: result.tried) {
      let (reader, unit, length): (TextReader, String, Int)
      if let next = systematic.popFirst() {
        (reader, unit, length) = (next.0, next.1, HostileText.longest)
      } else {
        reader = readers[Int.random(in: 0..<readers.count, using: &random)]
        unit = HostileText.unit(using: &random)
        // Most are short, and some are as long as any.
        length = 1 << Int.random(in: 0...HostileText.longestPower, using: &random)
      }
      let text = HostileText.make(of: unit, length)
      let label = "\(reader.name) of \(text.utf8.count) bytes of \(unit.debugDescription)"
      fault_watch("hostile-texts: \(label), seed \(options.seed)", 60)
      let start = ProcessorTime.now
      do {
        try reader.read(text)
      } catch  where WrongAnswer.isTyped(error) {
        let shown = String(describing: error).utf8.count
        if shown > 40_000 { result.failures.append("\(label): an error of \(shown) bytes") }
      } catch {
        result.failures.append("\(label): \(error)")
      }
      let time = ProcessorTime.now - start
      if time > slowest.time { slowest = (time, label) }
      if time > HostileText.allowed(text.utf8.count) {
        result.failures.append("\(label): \(time)")
      }
      result.tried += 1
    }
    fault_watch("", 0)
    result.details = [
      "\(readers.count) readers",
      "the slowest: \(slowest.name) in \(slowest.time / .milliseconds(1)) ms",
    ]
    return result
  }
}

/// Texts that repeat something.
enum HostileText {
  /// Whether everything takes longer. What the sanitizer finds it finds in short texts too; it copies
  /// whatever grows, each time.
  private static let isSanitized = fault_has_address_sanitizer() != 0
  #if DEBUG
    private static let isSlow = true
  #else
    private static let isSlow = isSanitized
  #endif

  /// A quarter of it is enough to tell the square of it where everything takes longer.
  static let longestPower = isSanitized ? 13 : isSlow ? 15 : 17
  static let longest = 1 << longestPower

  static let units = [
    "0", "9", "7x", ".", "e", "1e", "-", "+", ";", "';", "'", "''", "\"", "`", "[", "]", "(", ")",
    "((", "/*", "/* */", "*/", "-- \n", "--", "\r\n", "\n", "?", "?1,", ":a ", "$.", "$[0]", "%",
    "_",
    "%25", "*", "\\", "\\u0000", ",", ", ", "a.", ".a", "a b ", "CHECK (", "CASE ", "NOT ",
    "AND x ",
    "SELECT ", "BEGIN;", "END;", "CREATE TRIGGER ", "x'", "0x", "{\"a\":", "[[", "\u{301}",
    "e\u{301}",
    "ä", "😀", "👨‍👩‍👧", "\u{feff}", "\0", "T", "Z", ":", "2024-", "//", "file:", "%00", "A", "=", "a=b&",
    "NEAR(", "\"a\" OR ", "^",
  ]

  static func unit(using random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in
      units[Int.random(in: 0..<units.count, using: &random)]
    }.joined()
  }

  static func make(of unit: String, _ length: Int) -> String {
    String(repeating: unit, count: Swift.max(1, length / unit.utf8.count)) + "x"
  }

  /// What a text may take: much more than what is linear takes, and much less than what isn't.
  static func allowed(_ count: Int) -> Duration {
    isSlow
      ? .milliseconds(500) + .microseconds(20) * count
      : .milliseconds(250) + .microseconds(2) * count
  }
}
