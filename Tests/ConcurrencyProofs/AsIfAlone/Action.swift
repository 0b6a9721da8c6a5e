import Larder
import TestSupport

/// What one scope of a random schedule does.
enum Action: Hashable, Sendable {
  /// Writes a row to the log and counts it.
  case succeed
  /// The same, then throws an error of its own.
  case throwError
  /// The same, then asks for a rollback and returns.
  case rollBackOnly
  /// Meets a row that was always there with INSERT OR ROLLBACK, which ends the transaction. May hide the
  /// error and return.
  case insertOrRollback(hides: Bool)
  /// Takes a name, which only one caller can have.
  case claim(name: Int)
  /// Needs more pages than there may be, by the limit that all have, or by one that it sets and puts
  /// back.
  case fill(byHand: Bool)
  /// Runs a statement past a deadline, one that writes, or one that reads and whose error it may hide.
  case exceedDeadline(writes: Bool, hides: Bool)
  /// Refers to a row that isn't there, and may mend that before the commit.
  case violateForeignKey(mends: Bool)
  /// Savepoints, one after the other, each with an inner one.
  case savepoints([SavepointEnd])
  /// Reads in the middle of its transaction, through the queue or pool itself.
  case nestedRead
  /// Leaves settings and an open result set behind.
  case leaveBehind
  /// Reads, in a scope for that.
  case read
  /// Moves the log into the file.
  case checkpoint(CheckpointMode)

  enum SavepointEnd: Hashable, Sendable { case kept, thrown, rolledBack }

  /// Whether it runs in a scope that holds the writer.
  var isWriting: Bool {
    switch self {
    case .read, .checkpoint: false
    default: true
    }
  }

  static func random(using random: inout SeededGenerator, isPool: Bool) -> Action {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<24: .succeed
    case 24..<29: .throwError
    case 29..<34: .rollBackOnly
    case 34..<42: .insertOrRollback(hides: .random(using: &random))
    case 42..<56: .claim(name: .random(in: 0..<6, using: &random))
    case 56..<61: .fill(byHand: .random(using: &random))
    case 61..<65:
      .exceedDeadline(writes: .random(using: &random), hides: .random(using: &random))
    case 65..<71: .violateForeignKey(mends: .random(using: &random))
    case 71..<77:
      .savepoints(
        (0...Int.random(in: 0...3, using: &random)).map { _ in
          let ends = [SavepointEnd.kept, .thrown, .rolledBack]
          return ends[Int.random(in: 0..<3, using: &random)]
        })
    case 77..<80: isPool ? .nestedRead : .succeed
    case 80..<84: .leaveBehind
    case 84..<98: .read
    default: .checkpoint(.random(using: &random) ? .passive : .truncate)
    }
  }
}

/// The kind of scope that an action runs in.
enum ScopeForm: CaseIterable, Sendable {
  case immediate, exclusive, deferred
  /// A transaction of the database in a scope without one.
  case plain
  case savepoint
}
