/// A piece of SQL text that means something: no space, no comment.
package struct SQLToken {
  package let piece: SQLPiece
  /// Whether a space or comment stands before it.
  let followsSpace: Bool

  package var identifier: String? { piece.identifier }
  package var name: String? { piece.name }

  /// Whether it is this keyword, which is given in small letters.
  package func isWord(_ word: String) -> Bool {
    piece.kind == .word && piece.text.foldedName == Array(word.utf8)
  }

  /// Whether it is this character outside of quotes.
  package func isSymbol(_ symbol: String) -> Bool { piece.kind == .other && piece.text == symbol }
}

extension SQLPiece {
  /// Whether it means nothing.
  package var isSpace: Bool { kind == .space || kind == .comment }

  /// The name that a word or a quoted identifier stands for; nil for anything else.
  package var identifier: String? { text.utf8.first == UInt8(ascii: "'") ? nil : name }

  /// The name that it stands for where only a name can stand: SQLite takes a string for one there.
  package var name: String? {
    switch kind {
    case .word: text
    case .quoted: quotedName
    default: nil
    }
  }

  /// What stands between quotes.
  private var quotedName: String? {
    guard let quote = text.utf8.first else { return nil }
    let inner = text.utf8.dropFirst().dropLast()
    // In brackets quotes are nothing, else two stand for one.
    var bytes: [UInt8] = []
    var isSecond = false
    for byte in inner {
      isSecond = byte == quote && quote != UInt8(ascii: "[") && !isSecond
      if !isSecond { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  package var sqlTokens: [SQLToken] {
    var tokens: [SQLToken] = []
    var followsSpace = false
    for piece in SQL(raw: self).pieces {
      if !piece.isSpace { tokens.append(SQLToken(piece: piece, followsSpace: followsSpace)) }
      followsSpace = piece.isSpace
    }
    return tokens
  }

  /// What is the same in SQL texts that differ in spaces, comments, the case of words, and the
  /// quotes around names only.
  package var normalizedSQL: [String] { sqlTokens.normalized }

  /// Whether SQL text names this.
  package func mentions(_ name: String) -> Bool {
    sqlTokens.contains { $0.identifier?.foldedName == name.foldedName }
  }
}

extension [SQLToken] {
  /// See ``Swift/String/normalizedSQL``.
  var normalized: [String] {
    map { $0.identifier.map { String(decoding: $0.foldedName, as: UTF8.self) } ?? $0.piece.text }
  }

  /// What stands between the first parenthesis from a place on and the one that closes it, and where
  /// that is.
  package func group(from start: Int) -> (tokens: [SQLToken], end: Int)? {
    guard let open = self[start...].firstIndex(where: { $0.isSymbol("(") }) else { return nil }
    var depth = 0
    for index in open..<count {
      if self[index].isSymbol("(") { depth += 1 }
      if self[index].isSymbol(")") { depth -= 1 }
      if depth == 0 { return (Array(self[(open + 1)..<index]), index) }
    }
    return nil
  }

  /// What stands between the commas that are in no parentheses.
  package func splitAtCommas() -> [[SQLToken]] {
    var parts: [[SQLToken]] = [[]]
    var depth = 0
    for token in self {
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
      if depth == 0, token.isSymbol(",") {
        parts.append([])
      } else {
        parts[parts.count - 1].append(token)
      }
    }
    return parts
  }

  /// The text, with one space for each space or comment.
  package var text: String {
    var text = ""
    for token in self {
      if token.followsSpace, !text.isEmpty { text += " " }
      text += token.piece.text
    }
    return text
  }
}
