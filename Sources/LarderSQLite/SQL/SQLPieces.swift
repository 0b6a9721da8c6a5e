/// A piece of SQL text, classified just well enough to tell placeholders from text that looks like them.
package struct SQLPiece: Sendable {
  package enum Kind: Sendable {
    case space, comment
    /// A string or identifier in quotes of any kind.
    case quoted
    /// A keyword, an identifier or a number.
    case word
    /// `?` or `?3`.
    case placeholder
    /// Any other character.
    case other
  }

  package let kind: Kind
  package let text: String
  /// Whether a space or comment precedes the piece; set for tokens only (``Swift/String/sqlTokens``).
  package internal(set) var followsSpace = false
}

extension SQL {
  /// The text split into pieces. Joined, they are the same text.
  package var pieces: [SQLPiece] {
    var scanner = SQLScanner(Array(text.utf8))
    var pieces: [SQLPiece] = []
    while let token = scanner.next() {
      pieces.append(SQLPiece(kind: token.kind, text: token.text))
    }
    return pieces
  }

  /// Whether the text is a single function call: `ntile(4)`.
  package var isFunctionCall: Bool {
    let tokens = text.sqlTokens
    guard tokens.first?.name != nil, tokens.dropFirst().first?.isSymbol("(") == true else {
      return false
    }
    // The parenthesis after the name has to be the last one to be closed.
    return tokens.group(from: 1)?.end == tokens.count - 1
  }

  /// The tokens, which are equal for texts that differ only in spaces, comments and the case of words.
  package var normalizedTokens: [String] {
    text.sqlTokens.map { $0.kind == .word ? $0.text.folded : $0.text }
  }
}

/// A piece as the scanner finds it: a part of the scanned bytes.
struct SQLToken {
  let kind: SQLPiece.Kind
  let bytes: ArraySlice<UInt8>

  var text: String { String(decoding: bytes, as: UTF8.self) }

  var isSemicolon: Bool { bytes.first == UInt8(ascii: ";") }

  /// Whether the token is this word, in any case. The word has to be in small letters.
  func isWord(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      bytes.count == word.count && zip(bytes, word).allSatisfy { $0 | 0x20 == $1 }
    }
  }

  var name: String {
    guard let quote = bytes.first, "'\"`[".utf8.contains(quote) else { return text }
    return bytes.count > 1 ? bytes.unquoted : text
  }
}

extension BidirectionalCollection<UInt8> {
  /// The text between two quotes. Two quotes inside stand for one, except in brackets.
  var unquoted: String {
    var text: [UInt8] = []
    var isSecond = false
    for byte in dropFirst().dropLast() {
      isSecond = byte == first && byte != UInt8(ascii: "[") && !isSecond
      if !isSecond { text.append(byte) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// A scanner that splits text as SQLite's tokenizer does, byte by byte; see
/// [its syntax](https://www.sqlite.org/lang_comment.html).
struct SQLScanner {
  let bytes: [UInt8]
  let end: Int
  private(set) var position: Int

  /// Scans from a position to an end, which is that of the text by default.
  init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
    self.bytes = bytes
    self.end = end ?? bytes.count
    position = start
  }

  mutating func next() -> SQLToken? {
    guard position < end else { return nil }
    let start = position
    return SQLToken(kind: take(), bytes: bytes[start..<position])
  }

  /// The next piece that is neither a space nor a comment.
  mutating func nextToken() -> SQLToken? {
    while let piece = next() {
      if piece.kind != .space && piece.kind != .comment { return piece }
    }
    return nil
  }

  private func byte(at offset: Int) -> UInt8 {
    position + offset < end ? bytes[position + offset] : 0
  }

  private mutating func take() -> SQLPiece.Kind {
    let byte = bytes[position]
    let following = self.byte(at: 1)
    let isByteOrderMark = byte == 0xef && following == 0xbb && self.byte(at: 2) == 0xbf
    position += 1
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      takeQuoted(by: byte)
      return .quoted
    case UInt8(ascii: "["):
      take { $0 != UInt8(ascii: "]") }
      position = min(position + 1, end)
      return .quoted
    case UInt8(ascii: "-") where following == UInt8(ascii: "-"):
      take { $0 != UInt8(ascii: "\n") }
      return .comment
    case UInt8(ascii: "/") where following == UInt8(ascii: "*"):
      takeComment()
      return .comment
    case UInt8(ascii: "?"):
      take { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      return .placeholder
    case _ where isByteOrderMark:
      position += 2
      return .space
    case _ where byte.isSQLSpace:
      // For SQLite a vertical tab is a space only after another space.
      take { $0.isSQLSpace || $0 == 0x0b }
      return .space
    case _ where byte.isSQLWord:
      take(while: \.isSQLWord)
      return .word
    default: return .other
    }
  }

  private mutating func take(while condition: (UInt8) -> Bool) {
    while position < end, condition(bytes[position]) { position += 1 }
  }

  private mutating func takeQuoted(by quote: UInt8) {
    while position < end {
      take { $0 != quote }
      position = min(position + 1, end)
      // A doubled quote stands for itself.
      guard position < end, bytes[position] == quote else { return }
      position += 1
    }
  }

  private mutating func takeComment() {
    position += 1
    while position < end {
      take { $0 != UInt8(ascii: "*") }
      position = min(position + 1, end)
      if position < end, bytes[position] == UInt8(ascii: "/") {
        position += 1
        return
      }
    }
  }
}

extension UInt8 {
  fileprivate var isSQLSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) && self != 0x0b }

  /// Whether the byte can occur in a keyword, an identifier or a number.
  package var isSQLWord: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
