// Leaving the literals of SQL out of what the log and the trace get.

extension String {
  /// The SQL with `?` in place of its strings, numbers and blobs, and without its comments.
  var withoutLiterals: String {
    var text = ""
    // The `x` of a blob or the `E` of a server's string, which belongs to the string after it.
    var prefix = ""
    // The mark that ends a server's string in dollars; all up to it is left out.
    var dollars: String?
    for piece in SQL(raw: self).pieces {
      if let end = dollars {
        if piece.text.contains(end) { dollars = nil }
        continue
      }
      let isString = piece.kind == .quoted && piece.text.utf8.first == UInt8(ascii: "'")
      if !prefix.isEmpty, !isString { text += prefix }
      prefix = ""
      switch piece.kind {
      case .word where ["x", "b", "e", "n"].contains(piece.text.lowercased()): prefix = piece.text
      case .word where piece.text.first?.isNumber == true: text += "?"
      case .word:
        guard let mark = piece.text.dollarMark else {
          text += piece.text
          continue
        }
        text += "?"
        if !piece.text.dropFirst(mark.count).contains(mark) { dollars = mark }
      case .quoted where isString: text += "?"
      case .comment: text += " "
      default: text += piece.text
      }
    }
    return text + prefix
  }

  /// The `$$` or `$name$` with which a word begins; nil for any other word, and for `$1`.
  private var dollarMark: String? {
    guard first == "$", let end = dropFirst().firstIndex(of: "$") else { return nil }
    return String(self[...end])
  }
}

extension DatabaseError {
  /// A copy without the literals of its SQL, also where the message repeats a part of them.
  var maskingLiterals: DatabaseError {
    guard let sql else { return self }
    let shown = sql.withoutLiterals
    var copy = DatabaseError(
      extendedCode, Redaction.hide(wordsOf: sql, butNotOf: shown, in: message), sql: shown,
      constraint: constraint, engine: engine, sqlState: sqlState
    ).at(placeOf: self)
    copy.commitToken = commitToken
    return copy
  }
}
