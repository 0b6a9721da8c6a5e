import CLibPQ
import LarderSQLite

/// A value of a row, in the binary format of its type.
///
/// What makes the unsafe pointer sound: it is libpq's, and good as long as the statement stands on the
/// row; whoever asks for a column lets go of it before the statement goes on. How long the bytes are is
/// checked before they are read, since they came from outside.
struct PostgresColumn {
  /// Empty for NULL.
  let bytes: UnsafeRawBufferPointer
  let type: Oid
  let isNull: Bool

  /// How a value of the type is read; bytes that aren't what the type says are a blob, which no reader of
  /// the type takes.
  var storageClass: StorageClass {
    if isNull { return .null }
    guard hasRightLength else { return .blob }
    return TypeOID.storageClass(of: type) ?? .blob
  }

  private var hasRightLength: Bool {
    switch type {
    case TypeOID.bool: bytes.count == 1
    case TypeOID.int2: bytes.count == 2
    case TypeOID.int4, TypeOID.oid, TypeOID.float4, TypeOID.date: bytes.count == 4
    case TypeOID.int8, TypeOID.float8, TypeOID.timestamp, TypeOID.timestamptz: bytes.count == 8
    case TypeOID.uuid: bytes.count == 16
    case TypeOID.jsonb: bytes.first == 1
    case TypeOID.numeric:
      bytes.count >= 8 && bytes.count == 8 + 2 * Int(bytes.bigEndian(UInt16.self))
    default: true
    }
  }

  /// The integer. The storage class has to be `.integer`.
  var integer: Int64 {
    switch (type, bytes.count) {
    case (TypeOID.int8, 8): bytes.bigEndian(Int64.self)
    case (TypeOID.int4, 4): Int64(bytes.bigEndian(Int32.self))
    case (TypeOID.int2, 2): Int64(bytes.bigEndian(Int16.self))
    case (TypeOID.bool, 1): bytes[0] == 0 ? 0 : 1
    case (TypeOID.oid, 4): Int64(bytes.bigEndian(UInt32.self))
    default: 0
    }
  }

  /// The number; of a moment the seconds since 1970 in UTC. The storage class has to be `.real`.
  var real: Double {
    switch (type, bytes.count) {
    case (TypeOID.float8, 8): Double(bitPattern: bytes.bigEndian(UInt64.self))
    case (TypeOID.float4, 4): Double(Float(bitPattern: bytes.bigEndian(UInt32.self)))
    case (TypeOID.timestamp, 8), (TypeOID.timestamptz, 8):
      ServerTime.secondsSince1970(microseconds: bytes.bigEndian(Int64.self))
    case (TypeOID.date, 4):
      switch bytes.bigEndian(Int32.self) {
      case .max: .infinity
      case .min: -.infinity
      case let day: Double((Int64(day) + ServerTime.dayOf2000) * 86_400)
      }
    default: 0
    }
  }

  /// Calls a closure with the bytes of a blob or of text, without a copy where that is how they came; none
  /// for NULL. The bytes are good inside the closure only.
  func withUnsafeBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    if type == TypeOID.jsonb {
      return try body(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }
    guard type == TypeOID.numeric, hasRightLength, var text = NumericFormat.text(of: bytes) else {
      return try body(bytes)
    }
    return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
  }
}
