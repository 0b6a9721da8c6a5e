// Tokens of SQL text: the pieces that aren't space or comments, with names and groups of them.

extension SQLPiece {
  package var isSpace: Bool { kind == .space || kind == .comment }

  /// The name that a word or a quoted identifier stands for; nil for anything else.
  package var identifier: String? { text.utf8.first == UInt8(ascii: "'") ? nil : name }

  /// The name that the piece stands for where only a name can stand: SQLite takes a string for one there.
  package var name: String? {
    switch kind {
    case .word: text
    case .quoted: text.utf8.unquoted
    default: nil
    }
  }

  /// Whether the piece is this keyword, which is given in lower case.
  package func isWord(_ word: String) -> Bool {
    kind == .word && text.foldedName == Array(word.utf8)
  }

  /// Whether the piece is this character outside of quotes.
  package func isSymbol(_ symbol: String) -> Bool { kind == .other && text == symbol }
}

extension String {
  /// The pieces that are neither space nor comment.
  package var sqlTokens: [SQLPiece] {
    var followsSpace = false
    return SQL(raw: self).pieces.compactMap { piece in
      defer { followsSpace = piece.isSpace }
      var token = piece
      token.followsSpace = followsSpace
      return piece.isSpace ? nil : token
    }
  }

  /// A normalized form, equal for SQL texts that differ only in spaces, comments, the case of words, and the
  /// quotes around names.
  package var normalizedSQL: [String] { sqlTokens.normalized }
}

extension [SQLPiece] {
  package var normalized: [String] { map { $0.identifier?.folded ?? $0.text } }

  /// The tokens between the first parenthesis from an index on and the one that closes it, with the index of
  /// the closing one.
  package func group(from start: Int) -> (tokens: [SQLPiece], end: Int)? {
    guard let open = self[start...].firstIndex(where: { $0.isSymbol("(") }) else { return nil }
    var depth = 0
    for index in open..<count {
      if self[index].isSymbol("(") { depth += 1 }
      if self[index].isSymbol(")") { depth -= 1 }
      if depth == 0 { return (Array(self[(open + 1)..<index]), index) }
    }
    return nil
  }

  /// The tokens without the parentheses that enclose all of them.
  package var withoutParentheses: [SQLPiece] {
    guard first?.isSymbol("(") == true, let (tokens, end) = group(from: 0), end == count - 1 else {
      return self
    }
    return tokens.withoutParentheses
  }

  /// The tokens, split at the commas outside of parentheses.
  package func splitAtCommas() -> [[SQLPiece]] {
    var parts: [[SQLPiece]] = [[]]
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

  /// The text of the tokens, with one space in place of spaces and comments.
  package var text: String {
    var text = ""
    for token in self {
      if token.followsSpace, !text.isEmpty { text += " " }
      text += token.text
    }
    return text
  }
}
