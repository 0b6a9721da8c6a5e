import CLibPQ
import FoundationEssentials
import LarderSQLite

/// In which of PostgreSQL's two formats a parameter is sent.
enum ValueFormat: Int32 {
  case text = 0
  case binary = 1
}

/// Values as a parameter's or column's type wants them: in binary where that is cheap, else as text that
/// the server reads; only in binary for COPY.
///
/// Conversions are exact, or throw `ConversionError`; a real number is rounded to what REAL holds, as the
/// server does.
extension [UInt8] {
  /// Appends a value, which isn't NULL.
  mutating func write(
    _ value: DatabaseValue, as type: Oid, inBinary: Bool = false
  ) throws -> ValueFormat {
    switch value {
    case .null: throw ConversionError(.null, DatabaseValue.self)
    case .integer(let value): try write(value, as: type, inBinary: inBinary)
    case .real(let value): try write(value, as: type, inBinary: inBinary)
    case .text(let value): try write(value, as: type, inBinary: inBinary)
    case .blob(let value): try value.withUnsafeBytes { try writeBlob($0, as: type) }
    }
  }

  private mutating func write(_ value: Int64, as type: Oid, inBinary: Bool) throws -> ValueFormat {
    func exactly<T: FixedWidthInteger>(_: T.Type) throws -> T {
      guard let exact = T(exactly: value) else { throw ConversionError(.notExact, T.self) }
      return exact
    }
    switch type {
    case TypeOID.int8: append(bigEndian: value)
    case TypeOID.int4: append(bigEndian: try exactly(Int32.self))
    case TypeOID.int2: append(bigEndian: try exactly(Int16.self))
    case TypeOID.oid: append(bigEndian: try exactly(UInt32.self))
    case TypeOID.float8, TypeOID.float4:
      guard let number = Double(exactly: value) else {
        throw ConversionError(.notExact, Double.self)
      }
      return try write(number, as: type, inBinary: inBinary)
    case TypeOID.bool:
      guard value == 0 || value == 1 else { throw ConversionError(.notExact, Bool.self) }
      append(UInt8(value))
    default: return try write(String(value), as: type, inBinary: inBinary)
    }
    return .binary
  }

  private mutating func write(_ value: Double, as type: Oid, inBinary: Bool) throws -> ValueFormat {
    guard !value.isNaN else { throw ConversionError(.notANumber, Double.self) }
    switch type {
    case TypeOID.float8: append(bigEndian: value.bitPattern)
    case TypeOID.float4:
      let rounded = Float(value)
      guard rounded.isFinite == value.isFinite else { throw ConversionError(.notExact, Float.self) }
      append(bigEndian: rounded.bitPattern)
    case TypeOID.int8, TypeOID.int4, TypeOID.int2, TypeOID.oid, TypeOID.bool:
      guard let integer = Int64(exactly: value) else {
        throw ConversionError(.notExact, Int64.self)
      }
      return try write(integer, as: type, inBinary: inBinary)
    case TypeOID.timestamptz, TypeOID.timestamp:
      append(bigEndian: try ServerTime.microseconds(secondsSince1970: value))
    default:
      let text = value.isFinite ? "\(value)" : value < 0 ? "-Infinity" : "Infinity"
      return try write(text, as: type, inBinary: inBinary)
    }
    return .binary
  }

  private mutating func write(
    _ text: String, as type: Oid, inBinary: Bool
  ) throws -> ValueFormat {
    var text = text
    return try text.withUTF8 {
      try writeText(UnsafeRawBufferPointer($0), as: type, inBinary: inBinary)
    }
  }

  private mutating func writeText(
    _ text: UnsafeRawBufferPointer, as type: Oid, inBinary: Bool
  ) throws -> ValueFormat {
    try checkLength(text.count)
    guard !text.hasNUL else { throw ConversionError(.malformed, String.self) }
    switch type {
    case TypeOID.bytea: throw ConversionError(.storageClass(.text), [UInt8].self)
    case TypeOID.uuid:
      if let uuid = UUID(uuidString: String(decoding: text, as: UTF8.self))?.uuid {
        Swift.withUnsafeBytes(of: uuid) { append(contentsOf: $0) }
        return .binary
      }
    case _ where TypeOID.isText(type):
      append(contentsOf: text)
      return .binary
    default: break
    }
    guard inBinary else {
      append(contentsOf: text)
      append(0)
      return .text
    }
    switch type {
    case TypeOID.jsonb:
      append(1)
      append(contentsOf: text)
    case TypeOID.numeric: try writeNumeric(text)
    case TypeOID.timestamptz, TypeOID.timestamp:
      let seconds = try CivilTime.secondsSince1970(String(decoding: text, as: UTF8.self))
      return try write(seconds, as: type, inBinary: true)
    case TypeOID.int8, TypeOID.int4, TypeOID.int2:
      guard let integer = Int64(String(decoding: text, as: UTF8.self)) else {
        throw ConversionError(.storageClass(.text), Int64.self)
      }
      return try write(integer, as: type, inBinary: true)
    default: throw ConversionError(.storageClass(.text), String.self)
    }
    return .binary
  }

  private mutating func writeBlob(
    _ bytes: UnsafeRawBufferPointer, as type: Oid
  ) throws -> ValueFormat {
    try checkLength(bytes.count)
    guard type == TypeOID.bytea || type == TypeOID.uuid && bytes.count == 16 else {
      throw ConversionError(.storageClass(.blob), String.self)
    }
    append(contentsOf: bytes)
    return .binary
  }
  /// The server takes a gigabyte at most, of a row too.
  func checkLength(_ count: Int) throws {
    guard count < 1 << 30 else {
      throw PostgresFailure(SQLState.tooManyBytes, "a value of \(count) bytes is too long")
    }
  }
}
