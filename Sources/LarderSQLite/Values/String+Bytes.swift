import CSQLite
import Glibc

// Byte-wise comparison of strings, and case folding of ASCII letters, as SQLite does both. Swift's `==` takes
// texts for equal that look equal, such as "é" in one scalar and in two.

extension String {
  /// Whether both texts have the same UTF-8 bytes.
  ///
  /// Strings whose two words in memory are the same, as those of equal literals and short strings mostly are,
  /// are equal. Comparing the words takes a tenth of the time of comparing the bytes.
  @inlinable @inline(__always)
  package func isSame(as other: String) -> Bool {
    let isIdentical =
      unsafeBitCast(self, to: (UInt64, UInt64).self)
      == unsafeBitCast(other, to: (UInt64, UInt64).self)
    return isIdentical || hasSameBytes(as: other)
  }

  @usableFromInline
  func hasSameBytes(as other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { left.isSame(as: $0) }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  @inlinable @inline(__always)
  package func withBytes<T>(_ body: (LentBytes) throws -> T) rethrows -> T {
    if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
    return try Array(utf8).withUnsafeBufferPointer(body)
  }

  package func hasBytes(_ bytes: LentBytes) -> Bool {
    withBytes { $0.isSame(as: bytes) }
  }

  /// Whether the text is this ASCII word, ignoring case. The word is given in lower case.
  package func isWord(_ word: StaticString) -> Bool {
    withBytes { own in
      own.count == word.utf8CodeUnitCount
        && word.withUTF8Buffer { word in own.indices.allSatisfy { own[$0] | 0x20 == word[$0] } }
    }
  }

  /// The text with ASCII letters in lower case.
  package var folded: String {
    let hasCapitals = utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    return hasCapitals ? String(decoding: foldedName, as: UTF8.self) : self
  }

  package var foldedName: [UInt8] {
    utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

/// The bytes of a text, mostly in UTF-8, that their owner lends for one call: nobody else keeps or frees them.
@usableFromInline package typealias LentBytes = UnsafeBufferPointer<UInt8>

extension LentBytes {
  static var none: Self { Self(start: nil, count: 0) }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(self)) }

  @inline(__always)
  func isSame(as other: Self) -> Bool {
    guard count == other.count, let start = baseAddress, let other = other.baseAddress
    else { return count == other.count }
    return memcmp(start, other, count) == 0
  }

  /// The offset at which other bytes are found first, in linear time.
  func offset(of other: Self) -> Int? {
    guard let start = UnsafeRawPointer(baseAddress) else { return nil }
    return larder_find(start, count, other.baseAddress, other.count).map { $0 - start }
  }
}
