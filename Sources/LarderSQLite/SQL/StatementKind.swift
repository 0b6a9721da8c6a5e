/// The kind of a statement, as far as its first words tell.
///
/// It is determined when SQL is compiled, never when a compiled statement runs.
enum StatementKind {
  /// A statement that needs no special care.
  case ordinary
  /// INSERT, REPLACE, UPDATE and DELETE, or WITH, which one of them may follow.
  case rowChange
  /// BEGIN, COMMIT, END, and ROLLBACK except to a savepoint; on servers START, ABORT and PREPARE TRANSACTION,
  /// too.
  case transactionControl
  /// SAVEPOINT, RELEASE, and ROLLBACK to one.
  case savepoint
  /// A statement that begins, ends or undoes a savepoint of the scopes' own name.
  case scopeSavepoint
  /// ATTACH and DETACH.
  case attachment
  /// ATTACH with a key. It isn't a payload of the other case: with two payloads the PRAGMA's pointer would
  /// hold the tag, and the leak sanitizer reports memory that only such a pointer leads to.
  case keyedAttachment
  case pragma(Pragma)

  /// Reads the statement that begins at a position.
  init(of text: SQLText, from start: Int) {
    var scanner = SQLScanner(text.bytes, from: start, to: text.count)
    var token = scanner.nextToken()
    // Empty statements are skipped.
    while token?.isSemicolon == true { token = scanner.nextToken() }
    guard let first = token, first.kind == .word else {
      self = .ordinary
      return
    }
    func begins(_ word: StaticString) -> Bool { first.isWord(word) }
    if begins("select") {
      self = .ordinary
    } else if begins("insert") || begins("update") || begins("delete") || begins("replace")
      || begins("with")
    {
      self = .rowChange
    } else if begins("pragma") {
      self = Self.pragma(&scanner, from: start, isExplained: false)
    } else if begins("explain") {
      self = Self.explain(&scanner, from: start)
    } else if begins("begin") || begins("commit") || begins("end") || begins("abort")
      || begins("start") || begins("prepare") && scanner.nextToken()?.isWord("transaction") == true
    {
      self = .transactionControl
    } else if begins("attach") || begins("detach") {
      self = Self.hasKey(&scanner) ? .keyedAttachment : .attachment
    } else if begins("savepoint") || begins("release") {
      self = Self.savepoint(&scanner) ?? .savepoint
    } else if begins("rollback") {
      self = Self.savepoint(&scanner) ?? .transactionControl
    } else {
      self = .ordinary
    }
  }

  /// Reads the rest of an ATTACH: an expression, AS, another one and, maybe, KEY. SQLite takes KEY for the
  /// keyword only without quotes.
  private static func hasKey(_ scanner: inout SQLScanner) -> Bool {
    var isAfterAs = false
    while let token = scanner.nextToken(), !token.isSemicolon {
      guard token.kind == .word else { continue }
      if isAfterAs, token.isWord("key") { return true }
      if !isAfterAs, token.isWord("as") {
        isAfterAs = true
        // The name, which may be `key` itself.
        _ = scanner.nextToken()
      }
    }
    return false
  }

  private static func pragma(
    _ scanner: inout SQLScanner, from start: Int, isExplained: Bool
  ) -> Self {
    Pragma(&scanner, from: start, isExplained: isExplained).map { .pragma($0) } ?? .ordinary
  }

  /// Reads the rest of an EXPLAIN: maybe QUERY PLAN, and then a statement, which only matters if it is a
  /// PRAGMA.
  private static func explain(_ scanner: inout SQLScanner, from start: Int) -> Self {
    var next = scanner.nextToken()
    if next?.isWord("query") == true {
      _ = scanner.nextToken()
      next = scanner.nextToken()
    }
    guard next?.isWord("pragma") == true else { return .ordinary }
    return pragma(&scanner, from: start, isExplained: true)
  }

  /// Reads the rest of a SAVEPOINT, RELEASE or ROLLBACK; nil if it has neither TO nor the scopes' own name.
  private static func savepoint(_ scanner: inout SQLScanner) -> Self? {
    let reserved = TransactionControl.savepointName.foldedName
    var isOfSavepoint = false
    while let token = scanner.nextToken(), !token.isSemicolon {
      if token.kind == .quoted, token.name.foldedName == reserved { return .scopeSavepoint }
      if token.kind == .word, token.isWord("to") { isOfSavepoint = true }
    }
    return isOfSavepoint ? .savepoint : nil
  }

  /// Whether the known schema may be outdated once the statement has run: it changes the schema, or ends a
  /// transaction, or a part of one, that may have changed it.
  func mayChangeSchema(isReadOnly: Bool) -> Bool {
    switch self {
    case .transactionControl, .savepoint: true
    case .ordinary: !isReadOnly
    default: false
    }
  }
}
