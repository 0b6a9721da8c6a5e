import Larder
import LarderSQLite
import LarderTerminal

/// What a column holds while it is copied, on both sides.
enum CopyKind: Equatable {
  /// Whole numbers, up to a size in bytes.
  case integer(bytes: Int)
  case real
  /// Numbers of 32 bits.
  case float
  case bool
  case text
  case blob
  /// A type that only the server has, as it writes it.
  case other(ServerForm)
  /// Of SQLite, whatever it is.
  case any

  /// That of a server's type, in the words of its catalog.
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

  /// What a table of a server is made with.
  var serverType: String {
    switch self {
    case .integer: "BIGINT"
    case .real, .float: "DOUBLE PRECISION"
    case .bool: "BOOLEAN"
    case .blob: "BYTEA"
    case .text, .other, .any: "TEXT COLLATE \"C\""
    }
  }

  /// What a STRICT table of SQLite is made with.
  var fileType: String {
    switch self {
    case .integer, .bool: "INTEGER"
    case .real, .float: "REAL"
    case .blob: "BLOB"
    case .text, .other: "TEXT"
    case .any: "ANY"
    }
  }

  /// In a sentence about a value that isn't one.
  var name: String {
    switch self {
    case .integer(let bytes): "an integer of \(bytes * 8) bits"
    case .real, .float: "a number"
    case .bool: "0 or 1"
    case .text, .other, .any: "a text"
    case .blob: "a blob"
    }
  }
}

/// Why a value has no place in the other database.
struct CopyProblem: Error { let problem: String }

/// A value on its way, made what the column holds: the same on both sides, or an error.
enum CopiedValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
  case blob(UnsafeRawBufferPointer)

  /// Throws ``CopyProblem`` for one that the column doesn't hold.
  ///
  /// - Parameter toServer: whether PostgreSQL is to take it, which takes no NUL.
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
    case (.integer, .other):
      var text = String(reader.integer)
      return try text.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    case (.real, .other):
      var text =
        reader.real.isFinite ? "\(reader.real)" : reader.real < 0 ? "-Infinity" : "Infinity"
      return try text.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    case (.text, .text), (.text, .other), (.text, .any):
      return try reader.withUnsafeBytes { bytes in
        if kind != .any || toServer { try check(bytes, toServer: toServer) }
        return try body(.text(bytes))
      }
    case (.blob, .blob), (.blob, .any):
      return try reader.withUnsafeBytes { try body(.blob($0)) }
    case (.text, .real), (.text, .float):
      let text = try reader.withUnsafeBytes { String(decoding: $0.prefix(3), as: UTF8.self) }
      guard !toServer, text == "NaN" else { throw CopyProblem(problem: "a text isn't a number") }
      throw CopyProblem(problem: "NaN has no place in SQLite, which makes NULL of it")
    case (let found, _):
      throw CopyProblem(problem: "\(found.phrase) isn't \(kind.name)")
    }
  }

  private static func check(_ text: UnsafeRawBufferPointer, toServer: Bool) throws {
    let isUTF8 = text.withMemoryRebound(to: UInt8.self) { $0.isUTF8 }
    guard isUTF8 else { throw CopyProblem(problem: "the text isn't valid UTF-8") }
    guard !toServer || !text.contains(0) else {
      throw CopyProblem(problem: "the text has a NUL, which PostgreSQL doesn't take")
    }
  }

  /// Adds it to what tells two rows apart.
  func hash(as kind: CopyKind, into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let number):
      hasher.combine(1)
      hasher.combine(number)
    case .real(let number):
      hasher.combine(2)
      // Equal to -0.0, of which SQLite makes it.
      hasher.combine(number == 0 ? 0 : number.bitPattern)
    case .text(let bytes):
      hasher.combine(3)
      if case .other(let form) = kind { return form.hash(bytes, into: &hasher) }
      hasher.combine(bytes.count)
      hasher.combine(bytes: bytes)
    case .blob(let bytes):
      hasher.combine(4)
      hasher.combine(bytes.count)
      hasher.combine(bytes: bytes)
    }
  }

  /// Binds it to a statement of SQLite.
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

  /// Appends it to a line of COPY's [text format](https://www.postgresql.org/docs/current/sql-copy.html).
  func append(to line: inout [UInt8]) {
    switch self {
    case .null: line += "\\N".utf8
    case .integer(let number): line.append(integer: number)
    case .real(let number):
      line += (number.isFinite ? "\(number)" : number < 0 ? "-Infinity" : "Infinity").utf8
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

extension Float {
  /// Whether it is a number that has more bits, or has at least the same digits.
  fileprivate func keeps(_ real: Double) -> Bool {
    Double(self) == real || asPrinted == real
  }

  /// With the digits that it has as a number of 32 bits, and not those that follow in 64.
  fileprivate var asPrinted: Double {
    isFinite ? Double("\(self)") ?? Double(self) : Double(self)
  }
}

/// How many rows there are, and the sum of their hashes, which is the same in any order.
struct TableSum: Equatable {
  var rows = 0
  private var sum = 0

  mutating func add(_ hasher: consuming Hasher) {
    rows += 1
    sum &+= hasher.finalize()
  }
}
