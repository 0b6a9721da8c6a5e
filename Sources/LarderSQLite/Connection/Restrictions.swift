/// The restrictions of a scope on the statements that run in it.
struct Restrictions: OptionSet {
  let rawValue: UInt8
  static let writing = Restrictions(rawValue: 1)
  /// The transaction is the scope's: no statement may begin or end one.
  static let transactionControl = Restrictions(rawValue: 2)
  /// The transaction has to be open still: an error can have made SQLite roll it back, and every
  /// later statement would be committed by itself.
  static let autocommit = Restrictions(rawValue: 4)
  /// The restrictions of a scope that is a transaction or a savepoint.
  static let transaction: Restrictions = [.transactionControl, .autocommit]

  static let endedTransaction = "an error or a statement has ended the scope's transaction"
  static let scopesTransaction = "only the scope can begin and end its transaction"

  /// Whether they rule a statement out, for which ``check(_:_:hasTransaction:sql:)`` throws. Each statement is asked about,
  /// so that there is nothing of errors here.
  @inline(__always)
  func allow(
    _ kind: StatementKind, _ isReadOnly: Bool, hasTransaction: @autoclosure () -> Bool
  ) -> Bool {
    if contains(.writing), !isReadOnly { return false }
    if contains(.autocommit), !hasTransaction() { return false }
    if contains(.transactionControl), case .transactionControl = kind { return false }
    return true
  }

  /// Throws for a statement that the restrictions rule out.
  func check(
    _ kind: StatementKind, _ isReadOnly: Bool, hasTransaction: @autoclosure () -> Bool, sql: String
  ) throws {
    if contains(.writing), !isReadOnly {
      let refusal =
        if case .pragma = kind {
          "a read scope can't change settings; use inDatabase"
        } else {
          "a read scope can't write; use inTransaction"
        }
      throw DatabaseError(.readOnly, refusal, sql: sql)
    }
    if contains(.autocommit), !hasTransaction() {
      throw DatabaseError(.abort, Self.endedTransaction, sql: sql)
    }
    if contains(.transactionControl), case .transactionControl = kind {
      throw DatabaseError(.misuse, Self.scopesTransaction, sql: sql)
    }
  }
}
