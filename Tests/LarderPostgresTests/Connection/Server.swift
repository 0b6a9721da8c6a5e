import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

extension PostgresConnection {
  /// A connection to the server that all suites share.
  static func test(_ options: Options = Options()) throws -> PostgresConnection {
    try PostgresConnection(PostgresServer.shared.address, options: options)
  }

  /// Runs a statement with these values, and returns all rows as the text that a person would write.
  @discardableResult
  func rows(_ sql: String, _ values: (any Sendable)?..., streaming: Bool = false) throws
    -> [[String]]
  {
    let statement = try prepare(sql, parameterCount: values.count)
    try statement.bind(values)
    try statement.execute(streaming: streaming)
    var rows: [[String]] = []
    while try statement.next() { rows.append(try statement.texts) }
    return rows
  }
}

extension PostgresStatement {
  func bind(_ values: [(any Sendable)?]) throws {
    parameters.removeAll()
    for (index, value) in values.enumerated() {
      switch value {
      case let value as Int: try parameters.bind(Int64(value), at: index)
      case let value as Int64: try parameters.bind(value, at: index)
      case let value as Double: try parameters.bind(value, at: index)
      case let value as Bool: try parameters.bind(value, at: index)
      case let value as String:
        try Array(value.utf8).withUnsafeBufferPointer { try parameters.bindText($0, at: index) }
      case let value as [UInt8]:
        try value.withUnsafeBytes { try parameters.bindBlob($0, at: index) }
      default: try parameters.bindNull(at: index)
      }
    }
  }

  var texts: [String] {
    get throws { try columnTypes.indices.map { try column($0).description } }
  }
}

extension PostgresColumn {
  /// The value with its storage class in one letter.
  var description: String {
    get throws {
      switch storageClass {
      case .null: "NULL"
      case .integer: "\(integer)"
      case .real: "\(real)"
      case .text: "'\(try text())'"
      case .blob:
        "x'"
          + withUnsafeBytes { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) } }
          .joined() + "'"
      }
    }
  }
}

/// In how many milliseconds from now.
func deadline(milliseconds: Int) -> Int {
  MonotonicClock.nanoseconds + milliseconds * 1_000_000
}

/// The failure that a closure throws.
func failure(_ body: () throws -> Void) -> PostgresFailure? {
  do {
    try body()
    return nil
  } catch { return error as? PostgresFailure }
}
