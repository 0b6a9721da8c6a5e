import Glibc

/// Text as bytes, read through a pointer and compared by C functions.
///
/// The compiler runs a plugin that is mostly built without optimization. There, reading an array, looking up
/// a word in a set, or iterating over a range takes many times as long, and dominated the time that the
/// compiler waited.
///
/// The pointer is safe: it is freed only with the object, its memory is never written after initialization,
/// and all reading is bounds-checked by this type's methods.
final class SourceBytes {
  private let start: UnsafePointer<UInt8>
  let count: Int
  /// Scratch memory for the word to search for.
  private let word: UnsafeMutablePointer<UInt8>
  private static var longestWord: Int { 30 }

  init(_ text: String) {
    var text = text
    (start, count) = text.withUTF8 { (Self.copy($0), $0.count) }
    word = .allocate(capacity: Self.longestWord + 3)
  }

  init(_ bytes: [UInt8]) {
    (start, count) = bytes.withUnsafeBufferPointer { (Self.copy($0), $0.count) }
    word = .allocate(capacity: Self.longestWord + 3)
  }

  private static func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8> {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
    if let first = bytes.baseAddress { memory.initialize(from: first, count: bytes.count) }
    return UnsafePointer(memory)
  }

  deinit {
    start.deallocate()
    word.deallocate()
  }

  /// The byte at an index; 0 outside the text.
  subscript(index: Int) -> UInt8 { index >= 0 && index < count ? start[index] : 0 }

  func has(_ text: StaticString, at index: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard index >= 0, length <= count - index else { return false }
    return memcmp(start + index, text.utf8Start, length) == 0
  }

  /// The position of the next such byte, at or after `index`.
  func find(_ byte: UInt8, from index: Int, before end: Int = .max) -> Int? {
    let end = end < count ? end : count
    guard index >= 0, index < end else { return nil }
    guard let found = memchr(start + index, Int32(byte), end - index) else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(start)
  }

  /// The position of the next quotation mark after an even number of backslashes.
  func findEndOfString(from index: Int) -> Int? {
    guard index >= 0 else { return nil }
    var place = index
    while place < count {
      guard let found = memchr(start + place, Int32(UInt8.quote), count - place) else { return nil }
      let quote = UnsafeRawPointer(found) - UnsafeRawPointer(start)
      var escapes = 0
      while quote - escapes > index, start[quote - 1 - escapes] == .backslash { escapes += 1 }
      if escapes & 1 == 0 { return quote }
      place = quote + 1
    }
    return nil
  }

  /// Whether at least this many hashes stand at a position.
  func hasHashes(_ hashes: Int, at index: Int) -> Bool {
    var found = 0
    while found < hashes, self[index + found] == .hash { found += 1 }
    return found == hashes
  }

  /// Whether a part of the bytes is one of these words, each of which has a space on both sides.
  func isWord(_ first: Int, _ end: Int, of words: StaticString) -> Bool {
    let length = end - first
    guard length > 0, length <= Self.longestWord, first >= 0, end <= count else { return false }
    word[0] = .space
    memcpy(word + 1, start + first, length)
    word[length + 1] = .space
    word[length + 2] = 0
    return word.withMemoryRebound(to: CChar.self, capacity: Self.longestWord + 3) { word in
      words.utf8Start.withMemoryRebound(to: CChar.self, capacity: words.utf8CodeUnitCount + 1) {
        strstr($0, word) != nil && strlen(word) == length + 2
      }
    }
  }

  func text(_ first: Int, _ end: Int) -> String {
    String(decoding: part(first, end), as: UTF8.self)
  }

  /// A part of the bytes as text; nil if it isn't UTF-8.
  func validText(_ first: Int, _ end: Int) -> String? {
    String(validating: part(first, end), as: UTF8.self)
  }

  func append(_ first: Int, _ end: Int, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: part(first, end))
  }

  private func part(_ first: Int, _ end: Int) -> UnsafeBufferPointer<UInt8> {
    let (first, end) = (max(0, first), min(end, count))
    return UnsafeBufferPointer(start: start + first, count: max(0, end - first))
  }
}
