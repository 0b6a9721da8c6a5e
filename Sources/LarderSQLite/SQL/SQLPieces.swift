/// A piece of SQL text, as far as it takes to tell placeholders from what only looks like them.
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
}

extension SQL {
  /// The text taken apart without a loss.
  package var pieces: [SQLPiece] {
    var scanner = Scanner(bytes: Array(text.utf8))
    var pieces: [SQLPiece] = []
    while let piece = scanner.next() { pieces.append(piece) }
    return pieces
  }

  /// What is the same in texts that differ in spaces, comments and the case of words only.
  package var essence: [String] {
    pieces.filter { $0.kind != .space && $0.kind != .comment }
      .map { $0.kind == .word ? String(decoding: $0.text.foldedName, as: UTF8.self) : $0.text }
  }
}

/// Reads pieces as SQLite's tokenizer does; see [its syntax](https://www.sqlite.org/lang_comment.html).
private struct Scanner {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> SQLPiece? {
    guard position < bytes.count else { return nil }
    let start = position
    let kind = take()
    return SQLPiece(kind: kind, text: String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func take() -> SQLPiece.Kind {
    let byte = bytes[position]
    let following = position + 1 < bytes.count ? bytes[position + 1] : 0
    position += 1
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
      takeQuoted(by: byte)
      return .quoted
    case UInt8(ascii: "["):
      take { $0 != UInt8(ascii: "]") }
      position = min(position + 1, bytes.count)
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
    case _ where byte.isSQLSpace:
      take(while: \.isSQLSpace)
      return .space
    case _ where byte.isSQLWord:
      take(while: \.isSQLWord)
      return .word
    default:
      return .other
    }
  }

  private mutating func take(while condition: (UInt8) -> Bool) {
    while position < bytes.count, condition(bytes[position]) { position += 1 }
  }

  private mutating func takeQuoted(by quote: UInt8) {
    while position < bytes.count {
      take { $0 != quote }
      position = min(position + 1, bytes.count)
      // Twice it stands for itself.
      guard position < bytes.count, bytes[position] == quote else { return }
      position += 1
    }
  }

  private mutating func takeComment() {
    position += 1
    while position < bytes.count {
      take { $0 != UInt8(ascii: "*") }
      position = min(position + 1, bytes.count)
      if position < bytes.count, bytes[position] == UInt8(ascii: "/") {
        position += 1
        return
      }
    }
  }
}

extension UInt8 {
  fileprivate var isSQLSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) && self != 0x0b }

  /// Whether it can stand in a keyword, an identifier or a number.
  var isSQLWord: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}
