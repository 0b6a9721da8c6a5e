import CLibPQ
import LarderSQLite

extension EngineValue {
  /// A value in the binary format of its type, read where it is: numbers are converted, text and bytes stay as
  /// they are. NUMERIC, whose text has to be made, is a blob here, and so are bytes that aren't what the type
  /// says, which no reader of the type takes: how many there are is checked, since they came from outside.
  init(_ bytes: UnsafeRawBufferPointer, of type: Oid) {
    self.init(.blob)
    self.bytes = bytes
    switch (type, bytes.count) {
    case (TypeOID.int8, 8): set(bytes.bigEndian(Int64.self))
    case (TypeOID.float8, 8): set(Double(bitPattern: bytes.bigEndian(UInt64.self)))
    case (TypeOID.int4, 4): set(Int64(bytes.bigEndian(Int32.self)))
    case (TypeOID.int2, 2): set(Int64(bytes.bigEndian(Int16.self)))
    case (TypeOID.bool, 1): set(Int64(bytes[0] == 0 ? 0 : 1))
    case (TypeOID.oid, 4): set(Int64(bytes.bigEndian(UInt32.self)))
    case (TypeOID.float4, 4): set(Double(Float(bitPattern: bytes.bigEndian(UInt32.self))))
    case (TypeOID.timestamp, 8), (TypeOID.timestamptz, 8):
      set(ServerTime.secondsSince1970(microseconds: bytes.bigEndian(Int64.self)))
    case (TypeOID.date, 4):
      switch bytes.bigEndian(Int32.self) {
      case .max: set(Double.infinity)
      case .min: set(-Double.infinity)
      case let day: set(Double((Int64(day) + ServerTime.dayOf2000) * 86_400))
      }
    case (TypeOID.jsonb, 1...) where bytes[0] == 1:
      storageClass = .text
      self.bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    default: if TypeOID.isText(type) { storageClass = .text }
    }
  }

  private mutating func set(_ integer: Int64) {
    storageClass = .integer
    self.integer = integer
  }

  private mutating func set(_ real: Double) {
    storageClass = .real
    self.real = real
  }
}
