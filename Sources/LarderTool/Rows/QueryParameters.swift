import Larder
import LarderTerminal

/// Parses the values for a statement's parameters from the command line.
enum QueryParameters {
  /// - Parameters:
  ///   - words: the values for `?`, in order.
  ///   - pairs: `NAME=VALUE`, for `:name`, `@name` and `$name`.
  static func arguments(_ words: [String], named pairs: [String]) throws -> Arguments {
    guard !pairs.isEmpty else { return Arguments(words.map { value(of: $0) }) }
    guard words.isEmpty else {
      throw Failure(.usage, "give values by position or by --bind, not both")
    }
    var values: [String: (any DatabaseValueConvertible)?] = [:]
    for pair in pairs {
      guard let sign = pair.firstIndex(of: "="), sign > pair.startIndex else {
        throw Failure(.usage, "--bind needs NAME=VALUE, not “\(pair)”")
      }
      let name = pair[..<sign].drop { ":@$".contains($0) }
      values[String(name)] = value(of: String(pair[pair.index(after: sign)...]))
    }
    return Arguments(values)
  }

  /// Parses a word as an SQL literal: a number, NULL, `x'0AFF'` or `'text'`. Anything else is text,
  /// unchanged.
  ///
  /// A word is a number only if it is spelled as that number prints. `01581` and `+4712345678` are a postal
  /// code and a telephone number, and a real number would lose some of twenty digits.
  static func value(of word: String) -> DatabaseValue {
    if word == "NULL" { return .null }
    if let integer = Int64(word), String(integer) == word { return .integer(integer) }
    let isNumber = word.utf8.allSatisfy { byte in
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "+-.eE".utf8.contains(byte)
    }
    if isNumber, let real = Double(word), real.isFinite, "\(real)" == word { return .real(real) }
    var literal = word
    if let bytes = literal.withUTF8({ BlobLiteral.bytes($0) }) { return .blob(bytes) }
    if let inner = quoted(word[...]) { return .text(String(inner).replacing("''", with: "'")) }
    return .text(word)
  }

  private static func quoted(_ word: Substring) -> Substring? {
    guard word.utf8.count >= 2, word.utf8.first == UInt8(ascii: "'"),
      word.utf8.last == UInt8(ascii: "'")
    else { return nil }
    return Substring(word.utf8.dropFirst().dropLast())
  }
}
