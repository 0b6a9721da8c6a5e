import LarderSQLite

/// A piece of SQL text that means something: no space, no comment.
struct SQLToken {
  let piece: SQLPiece
  /// Whether a space or comment stands before it.
  let followsSpace: Bool

  /// The name that a word or a quoted identifier stands for; nil for anything else.
  var identifier: String? {
    piece.text.utf8.first == UInt8(ascii: "'") ? nil : name
  }

  /// The name that it stands for where only a name can stand: SQLite takes a string for one there.
  var name: String? {
    switch piece.kind {
    case .word: piece.text
    case .quoted: piece.quotedName
    default: nil
    }
  }

  /// Whether it is this keyword, which is given in small letters.
  func isWord(_ word: String) -> Bool {
    piece.kind == .word && piece.text.foldedName == Array(word.utf8)
  }

  /// Whether it is this character outside of quotes.
  func isSymbol(_ symbol: String) -> Bool { piece.kind == .other && piece.text == symbol }
}

extension SQLPiece {
  /// Whether it means nothing.
  fileprivate var isSpace: Bool { kind == .space || kind == .comment }

  /// What stands between quotes.
  fileprivate var quotedName: String? {
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
  var sqlTokens: [SQLToken] {
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
  var normalizedSQL: [String] { sqlTokens.normalized }

  /// Whether SQL text names this.
  func mentions(_ name: String) -> Bool {
    sqlTokens.contains { $0.identifier?.foldedName == name.foldedName }
  }

  /// The text without a table's name, and a schema's, before the names of its columns: where only
  /// this table can be meant, as in its constraints, they are the same without.
  func withoutQualifier(_ table: String) -> String {
    var kept: [SQLPiece] = []
    func isName(_ piece: SQLPiece, _ name: String) -> Bool {
      // A number is no name.
      let isNumber = piece.kind == .word && piece.text.utf8.first.map { $0 < 0x3a } ?? false
      return !isNumber
        && SQLToken(piece: piece, followsSpace: false).identifier?.foldedName
          == name.foldedName
    }
    for piece in SQL(raw: self).pieces {
      kept.append(piece)
      guard piece.text == ".", piece.kind == .other else { continue }
      let names = kept.indices.dropLast().filter { !kept[$0].isSpace }
      guard let last = names.last, isName(kept[last], table) else { continue }
      kept.removeSubrange(last...)
      let rest = kept.indices.filter { !kept[$0].isSpace }.suffix(2)
      if let schema = rest.first, let dot = rest.last, schema != dot, kept[dot].text == ".",
        ["main", "temp"].contains(where: { isName(kept[schema], $0) })
      {
        kept.removeSubrange(schema...)
      }
    }
    return kept.map(\.text).joined()
  }

  /// The statement with another name in the place of its third word: `CREATE TABLE city (…)` as
  /// SQLite keeps it, without a schema before the name.
  func replacingTableName(by name: String) -> String {
    var words = 0
    return SQL(raw: self).pieces.map { piece in
      if piece.kind == .word || piece.kind == .quoted { words += 1 } else { return piece.text }
      return words == 3 ? name.quotedIdentifier : piece.text
    }.joined()
  }
}

extension [SQLToken] {
  /// See ``Swift/String/normalizedSQL``.
  var normalized: [String] {
    map { $0.identifier.map { String(decoding: $0.foldedName, as: UTF8.self) } ?? $0.piece.text }
  }

  /// What stands between the first parenthesis from a place on and the one that closes it, and where
  /// that is.
  func group(from start: Int) -> (tokens: [SQLToken], end: Int)? {
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
  func splitAtCommas() -> [[SQLToken]] {
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
  var text: String {
    var text = ""
    for token in self {
      if token.followsSpace, !text.isEmpty { text += " " }
      text += token.piece.text
    }
    return text
  }
}
