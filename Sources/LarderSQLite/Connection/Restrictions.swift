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
      let refusal =
        statement.isPragma
        ? "a read scope sets nothing; use inDatabase"
        : "a read scope doesn't write; use inTransaction"
      throw DatabaseError(.readOnly, refusal, sql: statement.sql)
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
}
