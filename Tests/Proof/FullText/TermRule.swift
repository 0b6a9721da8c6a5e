import Larder

/// The rules of some tokenizers, in Swift: the terms at each place of a text.
enum TermRule: Sendable {
  /// Runs of ASCII letters and digits, and of what isn't ASCII.
  case ascii
  /// Every three characters.
  case trigrams
  /// What stands between spaces or NUL, in small letters. Text that is looked for as it is written has no others.
  case words

  func terms(of text: String, isQuery: Bool) -> [[String]] {
    switch self {
    case .ascii:
      return text.utf8.split { $0 < 0x80 && !Self.isLetterOrDigit($0) }.map {
        [String(decoding: $0.map { 65...90 ~= $0 ? $0 + 32 : $0 }, as: UTF8.self)]
      }
    case .trigrams:
      // SQLite takes two of them for none, as Unicode does.
      let scalars = text.unicodeScalars.map { $0.value & ~1 == 0xfffe ? "\u{fffd}" : $0 }
      return scalars.indices.dropLast(2).map {
        [String(String.UnicodeScalarView(scalars[$0..<$0 + 3]))]
      }
    case .words:
      return Self.words(text, isQuery: isQuery).reduce(into: [[String]]()) { places, word in
        if word.isSynonym {
          places[places.count - 1].append(word.term)
        } else {
          places.append([word.term])
        }
      }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    48...57 ~= byte || 65...90 ~= byte || 97...122 ~= byte
  }

  /// Whether the rule is also that of SQLite for a text: trigrams end at a NUL in some versions.
  func isSure(of text: String) -> Bool { self != .trigrams || !text.utf8.contains(0) }

  /// The words of a text: in a text that is looked for as they are written, else also in small letters.
  private static func words(
    _ text: String, isQuery: Bool
  ) -> [(term: String, range: Range<Int>, isSynonym: Bool)] {
    var start = 0
    return text.utf8.split(omittingEmptySubsequences: false) { $0 == 32 || $0 == 0 }.flatMap {
      bytes in
      let range = start..<start + bytes.count
      start = range.upperBound + 1
      if bytes.isEmpty { return [(term: String, range: Range<Int>, isSynonym: Bool)]() }
      let word = String(decoding: bytes, as: UTF8.self)
      let small = word.lowercased()
      if isQuery { return [(word, range, false)] }
      // Swift takes several spellings for equal.
      let isSmall = small.utf8.elementsEqual(word.utf8)
      return [(small, range, false)] + (isSmall ? [] : [(word, range, true)])
    }
  }

  /// Registers the tokenizer of words.
  static func register(_ db: Database) throws {
    try db.createTokenizer("words") { text, isQuery in
      words(text, isQuery: isQuery).map { ($0.term, $0.range) }
    }
  }
}
