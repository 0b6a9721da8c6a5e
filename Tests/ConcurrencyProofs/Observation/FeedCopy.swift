import Larder
import ProofSupport
import TestSupport

/// A copy of a database that is made by a feed alone.
///
/// What makes it Sendable: one task applies, and another one compares once that has ended.
final class FeedCopy: @unchecked Sendable {
  private let copy: Database
  /// How many transactions have counted themselves.
  private(set) var count = 0

  /// A copy of a database as it is when the feed begins.
  init(_ fill: (Database) throws -> Void = ObservedWriting.createTables) throws {
    copy = try Database()
    try fill(copy)
    try copy.executeUpdate("PRAGMA foreign_keys = OFF")
  }

  /// Does what a transaction has done. Throws where that can't be, or transactions are missing before it.
  func apply(_ transaction: CommittedChanges<RowChange>) throws {
    for change in transaction.changes {
      try FeedReplay.apply(change, to: copy)
      if change.table == "counter", let value = change.new?.last {
        count += 1
        try WrongAnswer.check(value, .integer(Int64(count)), "the number of transaction \(count)")
      }
    }
  }

  var state: Int { get throws { try Self.state(of: copy) } }

  /// A digest of all rows, byte by byte.
  static func state(of db: Database) throws -> Int {
    var digest = Hasher()
    let state = try TableCopy(of: ObservedWriting.tables, in: db).state
    for table in ObservedWriting.tables { digest.combine(state[table]) }
    return digest.finalize()
  }
}
