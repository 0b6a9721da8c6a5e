/// What a statement is, as far as its first words tell, read as SQLite's tokenizer reads them.
///
/// Looked at where SQL is compiled, never where a compiled statement runs.
enum StatementKind {
  /// What needs no care.
  case ordinary
  /// BEGIN, COMMIT, END, and ROLLBACK but to a savepoint.
  case transactionControl
  /// What begins, ends or undoes a savepoint of the scopes' own name.
  case scopeSavepoint
  /// ATTACH and DETACH.
  case attachment
  case pragma(Pragma)

  /// Reads the statement that begins at a position.
  init(of text: SQLText, from start: Int) {
    var scanner = SQLScanner(text.bytes, from: start, to: text.count)
    var token = scanner.nextToken()
    // Empty statements are skipped.
    while let empty = token, text.isSemicolon(at: empty.range) { token = scanner.nextToken() }
    guard var first = token, first.kind == .word else {
      self = .ordinary
      return
    }
    let isExplained = text.isWord("explain", at: first.range)
    if isExplained {
      var next = scanner.nextToken()
      if let query = next, text.isWord("query", at: query.range) {
        _ = scanner.nextToken()
        next = scanner.nextToken()
      }
      guard let next, text.isWord("pragma", at: next.range) else {
        self = .ordinary
        return
      }
      first = next
    }
    func begins(_ word: StaticString) -> Bool { text.isWord(word, at: first.range) }
    if begins("pragma") {
      self =
        Pragma(text, from: start, &scanner, isExplained: isExplained).map { .pragma($0) }
        ?? .ordinary
    } else if begins("begin") || begins("commit") || begins("end") {
      self = .transactionControl
    } else if begins("attach") || begins("detach") {
      self = .attachment
    } else if begins("savepoint") || begins("release") || begins("rollback") {
      self.init(ofSavepoint: text, &scanner, isRollback: begins("rollback"))
    } else {
      self = .ordinary
    }
  }

  /// Reads what follows SAVEPOINT, RELEASE or ROLLBACK.
  private init(ofSavepoint text: SQLText, _ scanner: inout SQLScanner, isRollback: Bool) {
    let reserved = TransactionControl.savepointName.foldedName
    var isOfSavepoint = !isRollback
    while let token = scanner.nextToken(), !text.isSemicolon(at: token.range) {
      if token.kind == .quoted, text.name(at: token.range).foldedName == reserved {
        self = .scopeSavepoint
        return
      }
      if token.kind == .word, text.isWord("to", at: token.range) { isOfSavepoint = true }
    }
    self = isOfSavepoint ? .ordinary : .transactionControl
  }
}

extension SQLText {
  func isSemicolon(at range: Range<Int>) -> Bool {
    bytes[range.lowerBound] == UInt8(ascii: ";")
  }

  /// Whether a piece is this word, in any case. The word has to be given in small letters.
  func isWord(_ word: StaticString, at range: Range<Int>) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    return word.withUTF8Buffer { word in
      for (offset, letter) in word.enumerated()
      where bytes[range.lowerBound + offset] | 0x20 != letter { return false }
      return true
    }
  }

  /// A name or a string without its quotes.
  func name(at range: Range<Int>) -> String {
    guard let quote = bytes[range].first, "'\"`[".utf8.contains(quote), range.count > 1 else {
      return string(from: range)
    }
    var name: [UInt8] = []
    var isDoubled = false
    for byte in bytes[range].dropFirst().dropLast() {
      isDoubled = byte == quote && !isDoubled
      if !isDoubled { name.append(byte) }
    }
    return String(decoding: name, as: UTF8.self)
  }
}
