import Glibc

/// Bytes that are written one after the other into memory that is used again.
///
/// What makes the unsafe pointer sound: nobody else has it but closures that end before anything is
/// appended; `count` never passes `capacity`, and `capacity` bytes are allocated.
struct ValueBuffer: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0
  /// No statement keeps more than this once it has run.
  private static let largestKept = 1 << 20

  init(capacity: Int = 256) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// Begins anew; large memory is given back.
  mutating func removeAll() {
    count = 0
    guard capacity > Self.largestKept else { return }
    memory.deallocate()
    capacity = 256
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  /// Takes away what was appended last.
  mutating func removeLast(to count: Int) { self.count = min(self.count, max(0, count)) }

  /// Makes room, and returns the place for that many bytes, which count as written.
  @inline(__always)
  private mutating func extend(by length: Int) -> UnsafeMutableRawPointer {
    if length > capacity - count { grow(by: length) }
    defer { count += length }
    return memory + count
  }

  private mutating func grow(by length: Int) {
    capacity = max(capacity * 2, count + length)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    extend(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
  }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends an integer in network order.
  @inline(__always)
  mutating func append(_ integer: some FixedWidthInteger) {
    let place = extend(by: integer.bitWidth / 8)
    place.storeBytes(of: integer.bigEndian, as: type(of: integer))
  }

  /// Writes an integer over one that was appended.
  mutating func replace(at offset: Int, by integer: Int32) {
    guard offset >= 0, offset + 4 <= count else { return }
    memory.storeBytes(of: integer.bigEndian, toByteOffset: offset, as: Int32.self)
  }

  /// Calls a closure with the address of the first byte, which is good inside of it only.
  @inline(__always)
  func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawBufferPointer(start: memory, count: count))
  }
}

extension UnsafeRawBufferPointer {
  /// An integer in network order; the caller has checked that there are as many bytes.
  @inline(__always)
  func bigEndian<Integer: FixedWidthInteger>(_: Integer.Type, at offset: Int = 0) -> Integer {
    Integer(bigEndian: loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }

  /// Whether there is a NUL among the bytes.
  var hasNUL: Bool { baseAddress.map { memchr($0, 0, count) != nil } ?? false }
}
