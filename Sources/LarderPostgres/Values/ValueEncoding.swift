import CLibPQ
import FoundationEssentials
import LarderSQLite

/// PostgreSQL's two formats of values.
enum ValueFormat: Int32 {
  case text = 0
  case binary = 1
}

/// Encodes values for the type of a parameter or column: in binary where that is cheap, else as text that the
/// server reads. COPY takes only binary.
///
/// Conversions are exact, or throw `ConversionError`; a real number is rounded to what REAL holds, as the
/// server does.
extension WireBuffer {
  /// Appends a value, which isn't NULL.
  mutating func write(
    _ value: EngineValue, as type: Oid, inBinary: Bool = false
  ) throws -> ValueFormat {
    switch value.storageClass {
    case .null: throw ConversionError(.null, DatabaseValue.self)
    case .integer: return try write(value.integer, as: type, inBinary)
    case .real: return try write(value.real, as: type, inBinary)
    case .text: return try write(value.bytes, as: type, inBinary)
    case .blob:
      try checkLength(value.bytes.count)
      guard type == TypeOID.bytea || type == TypeOID.uuid && value.bytes.count == 16 else {
        throw ConversionError(.storageClass(.blob), String.self)
      }
      append(value.bytes)
      return .binary
    }
  }

  private mutating func write(
    _ text: String, as type: Oid, _ inBinary: Bool
  ) throws -> ValueFormat {
    var text = text
    return try text.withUTF8 { try write(UnsafeRawBufferPointer($0), as: type, inBinary) }
  }

  private mutating func write(
    _ value: Int64, as type: Oid, _ inBinary: Bool
  ) throws -> ValueFormat {
    func exactly<T>(_ exact: T?) throws -> T {
      guard let exact else { throw ConversionError(.notExact, T.self) }
      return exact
    }
    switch type {
    case TypeOID.int8: append(bigEndian: value)
    case TypeOID.int4: append(bigEndian: try exactly(Int32(exactly: value)))
    case TypeOID.int2: append(bigEndian: try exactly(Int16(exactly: value)))
    case TypeOID.oid: append(bigEndian: try exactly(UInt32(exactly: value)))
    case TypeOID.bool: append(bigEndian: try exactly(0...1 ~= value ? UInt8(value) : nil))
    case TypeOID.float8, TypeOID.float4:
      return try write(try exactly(Double(exactly: value)), as: type, inBinary)
    default: return try write(String(value), as: type, inBinary)
    }
    return .binary
  }

  private mutating func write(
    _ value: Double, as type: Oid, _ inBinary: Bool
  ) throws -> ValueFormat {
    guard !value.isNaN else { throw ConversionError(.notANumber, Double.self) }
    switch type {
    case TypeOID.float8: append(bigEndian: value.bitPattern)
    case TypeOID.float4:
      let rounded = Float(value)
      guard rounded.isFinite == value.isFinite else { throw ConversionError(.notExact, Float.self) }
      append(bigEndian: rounded.bitPattern)
    case TypeOID.timestamptz, TypeOID.timestamp:
      append(bigEndian: try ServerTime.microseconds(secondsSince1970: value))
    case TypeOID.date: append(bigEndian: try ServerTime.day(secondsSince1970: value))
    case TypeOID.int8, TypeOID.int4, TypeOID.int2, TypeOID.oid, TypeOID.bool:
      guard let integer = Int64(exactly: value) else {
        throw ConversionError(.notExact, Int64.self)
      }
      return try write(integer, as: type, inBinary)
    default:
      let text = value.isFinite ? "\(value)" : value < 0 ? "-Infinity" : "Infinity"
      return try write(text, as: type, inBinary)
    }
    return .binary
  }

  private mutating func write(
    _ text: UnsafeRawBufferPointer, as type: Oid, _ inBinary: Bool
  ) throws -> ValueFormat {
    try checkLength(text.count)
    guard !text.hasNUL else { throw ConversionError(.malformed, String.self) }
    func string() -> String { String(decoding: text, as: UTF8.self) }
    if type == TypeOID.uuid, let uuid = UUID(uuidString: string())?.uuid {
      withUnsafeBytes(of: uuid) { append($0) }
      return .binary
    }
    switch type {
    case _ where TypeOID.isText(type): append(text)
    case TypeOID.bytea: throw ConversionError(.storageClass(.text), [UInt8].self)
    case _ where !inBinary:
      append(text)
      append(bigEndian: 0 as UInt8)
      return .text
    case TypeOID.jsonb:
      append(bigEndian: 1 as UInt8)
      append(text)
    case TypeOID.numeric: try writeNumeric(text)
    case TypeOID.timestamptz, TypeOID.timestamp:
      return try write(try CivilTime.secondsSince1970(string()), as: type, true)
    case TypeOID.int8, TypeOID.int4, TypeOID.int2:
      guard let integer = Int64(string()) else {
        throw ConversionError(.storageClass(.text), Int64.self)
      }
      return try write(integer, as: type, true)
    default: throw ConversionError(.storageClass(.text), String.self)
    }
    return .binary
  }

  /// Throws for a value or a row of a gigabyte or more, which the server doesn't take.
  func checkLength(_ count: Int) throws {
    guard count < 1 << 30 else {
      throw PostgresFailure("54000", "a value of \(count) bytes is too long")
    }
  }
}
