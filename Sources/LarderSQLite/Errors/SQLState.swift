/// The SQLSTATE codes that the library tells apart, and their counterparts among SQLite's result codes.
///
/// See [PostgreSQL Error Codes](https://www.postgresql.org/docs/current/errcodes-appendix.html).
package enum SQLState {
  package static let cannotConnect = "08001"
  package static let connectionFailure = "08006"
  /// The outcome is unknown, since the answer never came.
  package static let unknownOutcome = "08007"
  package static let notSupported = "0A000"
  package static let wrongState = "55000"
  package static let canceled = "57014"
  package static let unknownStatement = "26000"
  package static let duplicateStatement = "42P05"

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

  /// Whether a transaction collided with others: a conflict of isolation, or a deadlock.
  package static func isConflict(_ sqlState: String) -> Bool {
    sqlState == "40001" || sqlState == "40P01"
  }

  /// Whether a statement is at fault by its syntax or names, such as one of a table that isn't there.
  package static func isOfSyntaxOrNames(_ sqlState: String) -> Bool { sqlState.hasPrefix("42") }

  /// Whether a statement is at fault by its values, such as a number that is out of its type's range.
  static func isOfData(_ sqlState: String) -> Bool { sqlState.hasPrefix("22") }

  /// The result code that SQLite would report for a server's error.
  package static func resultCode(of sqlState: String) -> ResultCode {
    switch sqlState {
    case "23505": .constraintUnique
    case "23503", "23001": .constraintForeignKey
    case "23502": .constraintNotNull
    case "23514": .constraintCheck
    case "40001", "40P01", "55P03": .busy
    case canceled: .interrupt
    case "25006": .readOnly
    case "25P02": .abort
    case "25P03", "57P01", "57P02", "57P05": .ioError
    case "53100": .full
    case "53200": .noMemory
    case "53300", "57P03", "57P04", "3D000", cannotConnect, "08004": .cannotOpen
    case "42501": .authorization
    case wrongState: .misuse
    case "XX001", "XX002": .corrupt
    default:
      switch sqlState.prefix(2) {
      case "08", "58": .ioError
      case "23": .constraint
      case "28": .authorization
      case "54": .tooBig
      default: .error
      }
    }
  }
}
