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
}
