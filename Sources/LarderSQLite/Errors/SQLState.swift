/// The SQLSTATE codes of other engines that the library tells apart.
///
/// See [PostgreSQL Error Codes](https://www.postgresql.org/docs/current/errcodes-appendix.html).
package enum SQLState {
  package static let cannotConnect = "08001"
  package static let connectionFailure = "08006"
  /// The outcome is unknown, since the answer never came.
  package static let unknownOutcome = "08007"

  /// The schema has changed under a plan.
  package static let stalePlan = ResultCode(rawValue: 17)

  /// Whether a transaction may run again: its connection was lost before it was committed, or can't be had for
  /// now, or the schema has changed under a statement's plan.
  package static func isTransient(_ error: DatabaseError) -> Bool {
    if error.extendedCode == stalePlan { return true }
    return switch error.sqlState {
    // No connection. Conflicts of isolation, and deadlocks; not 55P03: a program that says NOWAIT wants to be
    // told. Connections ended by others, by a crash, or for idling; a server that starts or stops; too many
    // connections. Not 25P03: a closure that has idled in its transaction for too long would do so again.
    case cannotConnect, "08003", "08004", connectionFailure, "40001", "40P01", "57P01", "57P02",
      "57P03", "57P05", "53300":
      true
    default: false
    }
  }

  /// Whether a statement is at fault by its syntax or names, such as one of a table that isn't there.
  package static func isOfSyntaxOrNames(_ sqlState: String) -> Bool { sqlState.hasPrefix("42") }

  /// Whether a statement is at fault by its values, such as a number that is out of its type's range.
  static func isOfData(_ sqlState: String) -> Bool { sqlState.hasPrefix("22") }
}
