// What errors mean to whoever runs the program.

import Larder
import LarderTerminal

extension Failure {
  /// What any error means, in one line.
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
