import Glibc

/// A reusable buffer of bytes for the server, with integers in network order. An array would check for each
/// value whether its storage is shared.
///
/// Safety: the memory belongs to this value alone, which can't be copied, and is freed with it.
struct WireBuffer: ~Copyable {
  private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 8)
  /// How many bytes are written. A smaller number takes back the last ones.
  var count = 0
  var capacity: Int { memory.count }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  deinit { memory.deallocate() }

  @inline(__always)
  mutating func append(bigEndian integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.bigEndian) { append($0) }
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if capacity - count < bytes.count { grow(by: bytes.count) }
    if let start = bytes.baseAddress {
      memcpy(memory.baseAddress.unsafelyUnwrapped + count, start, bytes.count)
    }
    count += bytes.count
  }

  /// Overwrites an integer that was appended before.
  func replace(at offset: Int, byBigEndian integer: Int32) {
    memory.storeBytes(of: integer.bigEndian, toByteOffset: offset, as: Int32.self)
  }

  private mutating func grow(by size: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(2 * capacity, count + size), alignment: 8)
    larger.copyMemory(from: bytes)
    memory.deallocate()
    memory = larger
  }
}

extension UnsafeRawBufferPointer {
  /// An integer in network order. The caller has checked that there are enough bytes.
  @inline(__always)
  func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type, at offset: Int = 0) -> Integer {
    Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }

  /// Whether there is a NUL among the bytes.
  var hasNUL: Bool { baseAddress.map { memchr($0, 0, count) != nil } ?? false }
}
