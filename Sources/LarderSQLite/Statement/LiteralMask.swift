// Leaving the literals of SQL out of what the log and the trace get.

extension String {
  /// The SQL with `?` in place of its strings, numbers and blobs, and without its comments.
  var withoutLiterals: String {
    var text = ""
    var bytes = Array(utf8)[...]
    // The `x` of a blob or the `E` of a server's string, which belongs to the string after it.
    var prefix = ""
    while !bytes.isEmpty {
      var scanner = SQLScanner(Array(bytes))
      guard let piece = scanner.next() else { break }
      let word = piece.text
      let isString = piece.kind == .quoted && piece.bytes.first == UInt8(ascii: "'")
      var length = piece.bytes.count
      if isString, prefix.lowercased() == "e" { length = Self.escapedLength(of: bytes) }
      if !isString { text += prefix }
      prefix = ""
      switch piece.kind {
      case .word where ["x", "b", "e", "n"].contains(word.lowercased()): prefix = word
      case .word where word.first?.isNumber == true: text += "?"
      case .word:
        if let inDollars = Self.dollarLength(of: bytes) {
          length = inDollars
          text += "?"
        } else {
          text += word
        }
      case .quoted where isString: text += "?"
      case .comment: text += " "
      default: text += word
      }
      bytes = bytes.dropFirst(length)
    }
    return text + prefix
  }

  /// The length of a server's string that begins with the quote of `E'…'`, in which a backslash escapes.
  private static func escapedLength(of bytes: ArraySlice<UInt8>) -> Int {
    var index = bytes.startIndex + 1
    while index < bytes.endIndex {
      let isPair =
        bytes[index] == UInt8(ascii: "\\")
        || bytes[index] == UInt8(ascii: "'") && index + 1 < bytes.endIndex
          && bytes[index + 1] == UInt8(ascii: "'")
      if !isPair, bytes[index] == UInt8(ascii: "'") { return index + 1 - bytes.startIndex }
      index += isPair ? 2 : 1
    }
    return bytes.count
  }

  /// The length of a server's string in `$$` or `$name$` that begins here; nil if there is none. One that
  /// doesn't end goes to the end of the text.
  private static func dollarLength(of bytes: ArraySlice<UInt8>) -> Int? {
    let dollar = UInt8(ascii: "$")
    guard bytes.first == dollar,
      let second = bytes.dropFirst().firstIndex(where: { $0 == dollar || !$0.isSQLWord }),
      bytes[second] == dollar
    else { return nil }
    let mark = Array(bytes[...second])
    let rest = bytes[(second + 1)...]
    guard let end = rest.firstRange(of: mark)?.upperBound else { return bytes.count }
    return end - bytes.startIndex
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
