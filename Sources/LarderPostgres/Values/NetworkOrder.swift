import Glibc

/// Integers in network order, as all of the protocol's are.
extension [UInt8] {
  @inline(__always)
  mutating func append(bigEndian integer: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
  }

  /// Writes an integer over one that was appended.
  mutating func replace(at offset: Int, byBigEndian integer: Int32) {
    Swift.withUnsafeBytes(of: integer.bigEndian) {
      replaceSubrange(offset..<(offset + 4), with: $0)
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The caller has checked that there are as many bytes.
  @inline(__always)
  func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type, at offset: Int = 0) -> Integer {
    Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }

  /// Whether there is a NUL among the bytes.
  var hasNUL: Bool { baseAddress.map { memchr($0, 0, count) != nil } ?? false }
}
