import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

extension PostgresConnection {
  /// A connection to the server that all suites share.
  static func test() throws -> PostgresConnection {
    var configuration = PostgresConfiguration()
    // A server on a busy machine answers late.
    configuration.cancellationPatience = .seconds(60)
    return try PostgresConnection(PostgresServer.shared.address, configuration)
  }

  /// Runs the statements one after the other.
  func runAll(_ sql: String) throws {
    for part in sql.split(separator: ";") { try run(String(part)) }
  }

  /// Runs a statement with these values, and returns all rows as texts.
  @discardableResult
  func rows(_ sql: String, _ values: DatabaseValue..., streaming: Bool = false) throws
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
  func bind(_ values: [DatabaseValue]) throws {
    parameters.removeAll()
    for (index, value) in values.enumerated() { try parameters.bind(value, at: index) }
  }

  var texts: [String] {
    get throws { try columnTypes.indices.map { try column($0).description } }
  }
}

extension PostgresParameters {
  func bind(_ value: DatabaseValue, at index: Int) throws {
    try value.withEngineValue { try bind($0, at: index) }
  }
}

extension DatabaseValue {
  fileprivate func withEngineValue(_ body: (EngineValue) throws -> Void) throws {
    switch self {
    case .null: try body(EngineValue(.null))
    case .integer(let value): try body(EngineValue(value))
    case .real(let value): try body(EngineValue(value))
    case .text(let value):
      try Array(value.utf8).withUnsafeBytes { try body(EngineValue(.text, $0)) }
    case .blob(let value): try value.withUnsafeBytes { try body(EngineValue(.blob, $0)) }
    }
  }
}

extension PostgresConnection {
  /// Connects to an address.
  convenience init(
    _ address: String, _ configuration: PostgresConfiguration = .init(),
    interrupts: PostgresInterrupt? = nil, deadline: Int? = nil
  ) throws {
    try self.init(
      ServerAddress(address), configuration, interrupts: interrupts, keeping: StatementKeeping(),
      deadline: deadline)
  }
}

extension PostgresCopy {
  func bind(_ value: DatabaseValue) throws {
    try value.withEngineValue { try bind($0) }
  }

  /// Copies into columns of the types that the table has.
  convenience init(into table: String, columns: [String], on connection: PostgresConnection) throws
  {
    let names = columns.map(\.quotedIdentifier).joined(separator: ", ")
    let select = try connection.prepare("SELECT \(names) FROM \(table.quotedIdentifier)")
    try self.init(into: table, columns, select.columnTypes, on: connection)
  }
}

extension EngineValue {
  var isNull: Bool { storageClass == .null }

  func text() throws -> String {
    guard storageClass == .text else {
      throw ConversionError(.storageClass(storageClass), String.self)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value written as a literal of its storage class.
  var description: String {
    get throws {
      switch storageClass {
      case .null: "NULL"
      case .integer: "\(integer)"
      case .real: "\(real)"
      case .text: "'\(try text())'"
      case .blob:
        "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
      }
    }
  }
}

/// The deadline so many milliseconds from now.
func deadline(milliseconds: Int) -> Int {
  MonotonicClock.nanoseconds + milliseconds * 1_000_000
}

/// The failure that the closure throws.
func failure(_ body: () throws -> Void) -> PostgresFailure? {
  do {
    try body()
    return nil
  } catch { return error as? PostgresFailure }
}
