import Larder

/// Why the program ends without having done what was asked for: one line for people, and a status.
struct Failure: Error {
  /// The exit statuses, as `--help` lists them.
  enum Status: Int32 {
    case failed = 1
    case usage = 2
    case database = 3
    case interrupted = 130
  }

  let status: Status
  let message: String

  init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ message: String) { self.init(.failed, message) }
}

extension Failure {
  /// What any error means to whoever runs the program.
  init(describing error: any Error, database path: String) {
    switch error {
    case let failure as Failure:
      self = failure
    case RecordError.notFound(let table, let key):
      self.init("there is no \(table) \(key.map(\.plainText).joined(separator: ", "))")
    case RecordError.batch(_, _, let cause):
      self.init(describing: cause, database: path)
    case let error as DatabaseError:
      self.init(describing: error, database: path)
    default:
      self.init(.database, "\(path): \(error)")
    }
  }

  private init(describing error: DatabaseError, database path: String) {
    let reason: String
    switch error.code {
    case .busy, .locked:
      reason = "another program is writing to the database; try again, or --wait longer"
    case .readOnly:
      reason = "the database can only be read"
    case .full:
      reason = "the disk, or the part of it that the database may take, is full"
    case .notADatabase:
      reason = "this is no database"
    case .corrupt:
      reason = "the database is damaged"
    case .cannotOpen, .permission, .ioError, .authorization:
      reason = error.message
    case .interrupt:
      self.init(.interrupted, "interrupted")
      return
    case .constraint:
      self.init("the database doesn't allow that: \(error.message)")
      return
    default:
      reason = "\(error)"
    }
    self.init(.database, "\(path): \(reason)")
  }
}

extension DatabaseValue {
  /// The value as a person would write it.
  var plainText: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "“\(value)”"
    case .blob(let value): "a blob of \(value.count) bytes"
    }
  }
}
