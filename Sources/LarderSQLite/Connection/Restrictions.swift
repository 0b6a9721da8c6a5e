import CSQLite

/// What a scope rules out for the statements that run in it.
struct Restrictions: OptionSet {
  let rawValue: UInt8
  /// Nothing may be written.
  static let writing = Restrictions(rawValue: 1)
  /// The transaction is the scope's: nobody else begins or ends one.
  static let transactionControl = Restrictions(rawValue: 2)
  /// The transaction has to be open still: an error can have made SQLite roll it back, and what
  /// runs afterwards would be committed by itself.
  static let autocommit = Restrictions(rawValue: 4)
  /// Those of a scope that is a transaction or a savepoint.
  static let transaction: Restrictions = [.transactionControl, .autocommit]

  func check(_ statement: PreparedStatement) throws {
    if contains(.writing), !statement.isReadOnly {
      throw DatabaseError(
        .readOnly, "a read scope doesn't write; use inTransaction", sql: statement.sql)
    }
    if contains(.autocommit), sqlite3_get_autocommit(statement.connection.handle) != 0 {
      throw DatabaseError(
        .abort, "an error has made SQLite roll the scope's transaction back", sql: statement.sql)
    }
    if contains(.transactionControl), statement.isTransactionControl {
      throw DatabaseError(
        .misuse, "the transaction is the scope's, which begins and ends it", sql: statement.sql)
    }
  }

  /// Whether a statement begins or ends a transaction; savepoints don't.
  static func isTransactionControl(_ sql: String) -> Bool {
    let words = words(of: sql, atMost: 5)
    switch words.first {
    case "BEGIN", "COMMIT", "END": return true
    case "ROLLBACK": return !words.contains("TO")
    default: return false
    }
  }

  /// The words that a statement begins with, in capitals, without comments.
  private static func words(of sql: String, atMost count: Int) -> [String] {
    var words: [String] = []
    var word = ""
    var rest = Substring(sql)
    func end() {
      if !word.isEmpty { words.append(word.uppercased()) }
      word = ""
    }
    while words.count < count, let character = rest.first {
      if rest.hasPrefix("--") {
        end()
        rest = rest.drop { $0 != "\n" }
      } else if rest.hasPrefix("/*") {
        end()
        let comment = rest.dropFirst(2)
        rest = comment.firstRange(of: "*/").map { comment[$0.upperBound...] } ?? ""
      } else {
        if character.isLetter { word.append(character) } else { end() }
        rest.removeFirst()
      }
    }
    end()
    return words
  }
}
