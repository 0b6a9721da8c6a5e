import LarderSQLite

extension SQLPiece {
  /// The name that a word or a quoted identifier stands for; nil for anything else.
  var identifier: String? {
    switch kind {
    case .word: return text
    case .quoted:
      let inner = text.utf8.dropFirst().dropLast()
      guard let quote = text.utf8.first, quote != UInt8(ascii: "'") else { return nil }
      if quote == UInt8(ascii: "[") { return String(decoding: inner, as: UTF8.self) }
      // Two quotes stand for one.
      var bytes: [UInt8] = []
      var isSecond = false
      for byte in inner {
        isSecond = byte == quote && !isSecond
        if !isSecond { bytes.append(byte) }
      }
      return String(decoding: bytes, as: UTF8.self)
    default: return nil
    }
  }

  /// Whether it is this keyword, which is given in small letters.
  func isWord(_ word: String) -> Bool {
    kind == .word && text.foldedName == Array(word.utf8)
  }

  /// Whether it is this character outside of quotes.
  func isSymbol(_ symbol: String) -> Bool { kind == .other && text == symbol }
}

extension String {
  /// The pieces of SQL text that mean something.
  var meaningfulPieces: [SQLPiece] {
    SQL(raw: self).pieces.filter { $0.kind != .space && $0.kind != .comment }
  }

  /// What is the same in SQL texts that differ in spaces, comments, the case of words, and the
  /// quotes around names only.
  var normalizedSQL: [String] {
    meaningfulPieces.map {
      $0.identifier.map { String(decoding: $0.foldedName, as: UTF8.self) } ?? $0.text
    }
  }

  /// Whether a piece of SQL text names this.
  func mentions(_ name: String) -> Bool {
    meaningfulPieces.contains { $0.identifier?.foldedName == name.foldedName }
  }

  /// The statement with another name in the place of its third word: `CREATE TABLE city (…)` as
  /// SQLite keeps it, without a schema before the name.
  func renaming(_ name: String) -> String {
    var words = 0
    return SQL(raw: self).pieces.map { piece in
      if piece.identifier != nil { words += 1 }
      let isName = piece.identifier != nil && words == 3
      return isName ? name.quotedIdentifier : piece.text
    }.joined()
  }
}

extension [SQLPiece] {
  /// The pieces between the first parenthesis and the one that closes it, and where that is.
  func group(from start: Int) -> (pieces: [SQLPiece], end: Int)? {
    guard let open = self[start...].firstIndex(where: { $0.isSymbol("(") }) else { return nil }
    var depth = 0
    for index in open..<count {
      if self[index].isSymbol("(") { depth += 1 }
      if self[index].isSymbol(")") { depth -= 1 }
      if depth == 0 { return (Array(self[(open + 1)..<index]), index) }
    }
    return nil
  }

  /// What the commas stand between that are in no parentheses.
  func splitAtCommas() -> [[SQLPiece]] {
    var parts: [[SQLPiece]] = [[]]
    var depth = 0
    for piece in self {
      if piece.isSymbol("(") { depth += 1 }
      if piece.isSymbol(")") { depth -= 1 }
      if depth == 0, piece.isSymbol(",") {
        parts.append([])
      } else {
        parts[parts.count - 1].append(piece)
      }
    }
    return parts
  }

  /// The text with one space between pieces, but for those that need none.
  var text: String {
    var text = ""
    var previous: SQLPiece?
    for piece in self {
      if let previous, previous.needsSpace(before: piece) { text += " " }
      text += piece.text
      previous = piece
    }
    return text
  }
}

extension SQLPiece {
  fileprivate func needsSpace(before next: SQLPiece) -> Bool {
    if [")", ",", "."].contains(where: next.isSymbol) { return false }
    if isSymbol("(") || isSymbol(".") { return false }
    if next.isSymbol("(") { return kind != .word }
    // The characters of an operator such as || are pieces of their own; two minus signs would begin
    // a comment.
    let isOperator = kind == .other && next.kind == .other && !isSymbol(")") && !isSymbol(",")
    return !isOperator || isSymbol("-") && next.isSymbol("-")
  }
}
