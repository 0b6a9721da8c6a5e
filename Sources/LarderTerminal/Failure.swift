import LarderSQLite

/// The reason why a program fails: a line for the user, and an exit status.
package struct Failure: Error {
  /// The exit statuses, as `--help` lists them.
  package enum Status: Int32, Sendable {
    case failed = 1
    case usage = 2
    case database = 3
    case interrupted = 130
  }

  package let status: Status
  /// The line for the user; empty if everything was said already.
  package let message: String

  package init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  package init(_ message: String) { self.init(.failed, message) }
}

extension Failure {
  /// Describes an error of a database file to the program's user.
  package init(describing error: DatabaseError, database path: String) {
    switch error.code {
    case .interrupt: self.init(.interrupted, "interrupted")
    case .constraint: self.init("the database doesn't allow that: \(error.message)")
    default: self.init(.database, "\(path): \(Self.reason(error))")
    }
  }

  private static func reason(_ error: DatabaseError) -> String {
    switch error.code {
    case .busy, .locked: "another program is writing to the database; try again, or --wait longer"
    case .readOnly: "the database can only be read"
    case .full: "the disk, or the database's share of it, is full"
    case .notADatabase: "this isn't a database"
    case .corrupt: "the database is damaged"
    case .cannotOpen, .permission, .ioError, .authorization: error.message
    default: "\(error)"
    }
  }
}
