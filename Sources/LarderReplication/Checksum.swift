/// A checksum of 64 bits of pages and objects: XXH64, which reads some gigabytes a second. See
/// [the specification](https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
enum Checksum {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  @inline(__always)
  private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 {
    (value << bits) | (value >> (64 - bits))
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotated(lane &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func merge(_ sum: UInt64, _ lane: UInt64) -> UInt64 {
    (sum ^ round(0, lane)) &* prime1 &+ prime4
  }

  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var offset = 0
    let count = bytes.count
    func word(_ at: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }
    var sum: UInt64
    if count >= 32 {
      var (a, b, c, d) = (prime1 &+ prime2, prime2, UInt64(0), 0 &- prime1)
      while offset <= count - 32 {
        a = round(a, word(offset))
        b = round(b, word(offset + 8))
        c = round(c, word(offset + 16))
        d = round(d, word(offset + 24))
        offset += 32
      }
      sum = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
      sum = merge(merge(merge(merge(sum, a), b), c), d)
    } else {
      sum = prime5
    }
    sum = sum &+ UInt64(count)
    while offset <= count - 8 {
      sum = rotated(sum ^ round(0, word(offset)), 27) &* prime1 &+ prime4
      offset += 8
    }
    if offset <= count - 4 {
      let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      sum = rotated(sum ^ (UInt64(half) &* prime1), 23) &* prime2 &+ prime3
      offset += 4
    }
    while offset < count {
      sum = rotated(sum ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
      offset += 1
    }
    sum = (sum ^ (sum >> 33)) &* prime2
    sum = (sum ^ (sum >> 29)) &* prime3
    return sum ^ (sum >> 32)
  }
}
