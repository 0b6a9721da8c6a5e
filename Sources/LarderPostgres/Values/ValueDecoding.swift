import CLibPQ
import LarderSQLite

extension EngineValue {
  /// A value in the binary format of its type, read in place: numbers are converted, text and bytes stay as
  /// they are. NUMERIC, whose text is made elsewhere, becomes a blob. So do bytes of another length than the
  /// type's, which is checked since they came from outside; no reader of the type takes a blob.
  init(_ bytes: UnsafeRawBufferPointer, of type: Oid) {
    let count = bytes.count
    switch type {
    case TypeOID.int8 where count == 8: self.init(bytes.bigEndian(Int64.self))
    case TypeOID.float8 where count == 8:
      self.init(Double(bitPattern: bytes.bigEndian(UInt64.self)))
    case TypeOID.int4 where count == 4: self.init(Int64(bytes.bigEndian(Int32.self)))
    case TypeOID.int2 where count == 2: self.init(Int64(bytes.bigEndian(Int16.self)))
    case TypeOID.bool where count == 1: self.init(bytes[0] == 0 ? 0 : 1 as Int64)
    case TypeOID.oid where count == 4: self.init(Int64(bytes.bigEndian(UInt32.self)))
    case TypeOID.float4 where count == 4:
      self.init(Double(Float(bitPattern: bytes.bigEndian(UInt32.self))))
    case TypeOID.timestamp where count == 8, TypeOID.timestamptz where count == 8:
      self.init(ServerTime.secondsSince1970(microseconds: bytes.bigEndian(Int64.self)))
    case TypeOID.date where count == 4:
      switch bytes.bigEndian(Int32.self) {
      case .max: self.init(Double.infinity)
      case .min: self.init(-Double.infinity)
      case let day: self.init(Double((Int64(day) + ServerTime.dayOf2000) * 86_400))
      }
    case TypeOID.jsonb where count > 0 && bytes[0] == 1:
      self.init(.text, UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    default: self.init(TypeOID.isText(type) ? .text : .blob, bytes)
    }
  }

  /// A value that the server has written as text, apart from bytes.
  init(text bytes: UnsafeRawBufferPointer, of type: Oid) {
    func text() -> String { String(decoding: bytes, as: UTF8.self) }
    switch type {
    case TypeOID.bool: self.init(bytes.first == UInt8(ascii: "t") ? 1 : 0 as Int64)
    case TypeOID.int8, TypeOID.int4, TypeOID.int2, TypeOID.oid:
      self = Int64(text()).map { EngineValue($0) } ?? EngineValue(.text, bytes)
    case TypeOID.float4, TypeOID.float8:
      let real = type == TypeOID.float4 ? Float(text()).map(Double.init) : Double(text())
      self = real.flatMap { $0.isNaN ? nil : EngineValue($0) } ?? EngineValue(.text, bytes)
    default: self.init(.text, bytes)
    }
  }

  /// The bytes of text such as `\x0aff`, as the server writes them with `bytea_output` = `hex`.
  static func blob(ofText text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.starts(with: "\\x".utf8), text.count.isMultiple(of: 2) else { return nil }
    var blob: [UInt8] = []
    blob.reserveCapacity(text.count / 2 - 1)
    for index in stride(from: 2, to: text.count, by: 2) {
      guard let high = text[index].hexadecimalDigit, let low = text[index + 1].hexadecimalDigit
      else { return nil }
      blob.append(UInt8(truncatingIfNeeded: high << 4 | low))
    }
    return blob
  }
}
