import Larder
import LarderSQLite
import LarderTerminal

/// The kind of values that a column holds on both sides of a copy.
enum CopyKind: Equatable {
  case integer(bytes: Int)
  case real
  /// Floating-point numbers of 32 bits.
  case float
  case bool
  case text
  case blob
  /// A type that only the server has, in its text form.
  case other(ServerForm)
  /// Dates of the server, which the file stores as numbers, or as numbers and texts.
  case dates(DateNumbers)
  /// Any value of SQLite.
  case any

  /// The kind for a server's type, as its catalog spells it.
  init(ofServerType type: String) {
    switch type {
    case "bigint": self = .integer(bytes: 8)
    case "integer": self = .integer(bytes: 4)
    case "smallint": self = .integer(bytes: 2)
    case "double precision": self = .real
    case "real": self = .float
    case "boolean": self = .bool
    case "bytea": self = .blob
    default:
      let isText =
        type == "text" || type == "character varying" || type.hasPrefix("character varying(")
      self = isText ? .text : .other(ServerForm(ofServerType: type))
    }
  }

  /// The type of a column that is created for the values.
  var columnType: ColumnType {
    switch self {
    case .integer: .integer
    case .real, .float: .real
    case .bool: .bool
    case .blob: .blob
    case .text, .other, .dates: .text
    case .any: .any
    }
  }

  /// The kind's name in error messages, such as “5 isn't …”.
  var name: String {
    switch self {
    case .integer(let bytes): "an integer of \(bytes * 8) bits"
    case .real, .float: "a number"
    case .bool: "0 or 1"
    case .dates: "a date"
    case .other(.uuid): "a UUID"
    case .text, .other, .any: "a text"
    case .blob: "a blob"
    }
  }
}

/// The reason why a value can't be stored in the other database.
struct CopyProblem: Error { let problem: String }

/// A value in transit, converted to its column's kind. It is the same on both sides, or an error.
enum CopiedValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// Calls a closure with a row's value. Throws ``CopyProblem`` if the value isn't of the column's kind.
  ///
  /// - Parameter toServer: whether the value goes to PostgreSQL, whose texts can't contain NUL.
  static func with<T>(
    _ reader: ColumnReader, _ kind: CopyKind, toServer: Bool, _ body: (CopiedValue) throws -> T
  ) throws -> T {
    switch (reader.storageClass, kind) {
    case (.null, _): return try body(.null)
    case (.integer, .integer(let bytes)):
      let number = reader.integer
      guard bytes == 8 || number.magnitude < 1 << (8 * bytes - 1) || number == -1 << (8 * bytes - 1)
      else { throw CopyProblem(problem: "\(number) isn't \(kind.name)") }
      return try body(.integer(number))
    case (.integer, .bool):
      guard 0...1 ~= reader.integer else {
        throw CopyProblem(problem: "\(reader.integer) isn't 0 or 1")
      }
      return try body(.integer(reader.integer))
    case (.integer, .any): return try body(.integer(reader.integer))
    case (.integer, .real), (.integer, .float):
      guard let real = Double(exactly: reader.integer), kind == .real || Float(real).keeps(real)
      else {
        throw CopyProblem(problem: "\(reader.integer) can't be a real number without a loss")
      }
      return try body(.real(real))
    case (.real, .real), (.real, .any): return try body(.real(reader.real))
    case (.real, .float):
      let real = reader.real
      guard Float(real).keeps(real) else {
        throw CopyProblem(problem: "\(real) can't be a number of 32 bits without a loss")
      }
      return try body(.real(Float(real).asPrinted))
    case (.integer, .other), (.real, .other):
      var text = reader.storageClass == .real ? reader.real.textOnServer : String(reader.integer)
      return try text.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    case (.integer, .dates(let dates)):
      return try dates.text(of: reader.integer).withUnsafeBytes { try body(.text($0)) }
    case (.real, .dates(let dates)):
      return try dates.text(of: reader.real).withUnsafeBytes { try body(.text($0)) }
    case (.blob, .other(.uuid)):
      return try reader.withUnsafeBytes { bytes in
        guard bytes.count == 16 else {
          throw CopyProblem(problem: "a blob of \(bytes.count.counted("byte")) isn't a UUID")
        }
        var digits: [UInt8] = []
        digits.append(hexadecimal: bytes)
        return try digits.withUnsafeBytes { try body(.text($0)) }
      }
    case (.text, .text), (.text, .other), (.text, .dates), (.text, .any):
      return try reader.withUnsafeBytes { bytes in
        if kind != .any || toServer { try check(bytes, toServer: toServer) }
        if toServer, case .other(.lists(let lists)) = kind,
          let literal = lists.literal(ofJSON: bytes)
        {
          return try literal.withUnsafeBytes { try body(.text($0)) }
        }
        if kind == .other(.uuid), ServerForm.uuidDigits(of: bytes) == nil {
          throw CopyProblem(problem: "the text isn't a UUID")
        }
        return try body(.text(bytes))
      }
    case (.blob, .blob), (.blob, .any): return try reader.withUnsafeBytes { try body(.blob($0)) }
    case (.text, .real), (.text, .float):
      let text = try reader.withUnsafeBytes { String(decoding: $0.prefix(3), as: UTF8.self) }
      guard !toServer, text == "NaN" else { throw CopyProblem(problem: "a text isn't a number") }
      throw CopyProblem(problem: "SQLite can't store NaN, which would become NULL")
    case (let found, _): throw CopyProblem(problem: "\(found.phrase) isn't \(kind.name)")
    }
  }

  private static func check(_ text: UnsafeRawBufferPointer, toServer: Bool) throws {
    let isUTF8 = text.withMemoryRebound(to: UInt8.self) { $0.isUTF8 }
    guard isUTF8 else { throw CopyProblem(problem: "the text isn't valid UTF-8") }
    guard !toServer || !text.contains(0) else {
      throw CopyProblem(problem: "the text contains a NUL, which PostgreSQL doesn't allow")
    }
  }

  func hash(as kind: CopyKind, into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let number):
      hasher.combine(1)
      hasher.combine(number)
    case .real(let number):
      hasher.combine(2)
      // SQLite turns -0.0 into 0.0, so both must have the same hash.
      hasher.combine(number == 0 ? 0 : number.bitPattern)
    case .text(let bytes):
      hasher.combine(3)
      switch kind {
      case .other(let form): return form.hash(bytes, into: &hasher)
      case .dates(let dates): return dates.form.hash(bytes, into: &hasher)
      default: break
      }
      hasher.combine(bytes.count)
      hasher.combine(bytes: bytes)
    case .blob(let bytes):
      hasher.combine(4)
      hasher.combine(bytes.count)
      hasher.combine(bytes: bytes)
    }
  }

  func bind(to parameter: ParameterBinder) throws {
    switch self {
    case .null: try parameter.bindNull()
    case .integer(let number): try parameter.bind(number)
    case .real(let number): try parameter.bind(number)
    case .text(let bytes):
      try bytes.withMemoryRebound(to: UInt8.self) { try parameter.bind(text: $0) }
    case .blob(let bytes): try parameter.bind(bytes)
    }
  }

  /// Appends the value to a line in COPY's [text
  /// format](https://www.postgresql.org/docs/current/sql-copy.html).
  func append(to line: inout [UInt8]) {
    switch self {
    case .null: line += "\\N".utf8
    case .integer(let number): line.append(integer: number)
    case .real(let number): line += number.textOnServer.utf8
    case .text(let bytes):
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\\"): line += "\\\\".utf8
        case UInt8(ascii: "\n"): line += "\\n".utf8
        case UInt8(ascii: "\r"): line += "\\r".utf8
        case UInt8(ascii: "\t"): line += "\\t".utf8
        default: line.append(byte)
        }
      }
    case .blob(let bytes):
      line += "\\\\x".utf8
      line.append(hexadecimal: bytes)
    }
  }
}

extension StorageClass {
  fileprivate var phrase: String {
    switch self {
    case .null: "NULL"
    case .integer: "an integer"
    case .real: "a real number"
    case .text: "a text"
    case .blob: "a blob"
    }
  }
}

extension Double {
  fileprivate var textOnServer: String {
    isFinite ? "\(self)" : self < 0 ? "-Infinity" : "Infinity"
  }
}

extension Float {
  /// Whether this number equals a Double, either in all bits or in its printed digits.
  fileprivate func keeps(_ real: Double) -> Bool { Double(self) == real || asPrinted == real }

  /// The Double with this number's printed digits: a plain conversion to 64 bits would print more of them.
  fileprivate var asPrinted: Double { isFinite ? Double("\(self)") ?? Double(self) : Double(self) }
}

/// The number of rows, and the sum of their hashes, which doesn't depend on their order.
struct TableSum: Equatable {
  var rows = 0
  private var sum = 0

  mutating func add(_ hasher: consuming Hasher) {
    rows += 1
    sum &+= hasher.finalize()
  }
}
