/// A JSON text in one pass: an entry for each value and key, in the order of the text.
///
/// It is stricter than it needs to be: nil for whatever isn't certainly JSON, such as numbers and escapes in
/// unusual forms, leaves the text to Foundation.
struct JSONTape {
  enum Kind: UInt8 {
    case null, `true`, `false`
    /// A number without a fraction or an exponent.
    case integer
    case number
    /// A string of ASCII without escapes.
    case ascii
    case string, escaped
    case array, object
  }

  struct Entry {
    let kind: Kind
    /// The first byte of a number or a string; of a container the number of its elements or members.
    var start: UInt32
    /// The byte behind a number or a string; of a container the entry behind it.
    var end: UInt32
  }

  /// Texts of more bytes are left to Foundation, which bounds the memory.
  static let longest = 16 << 20

  let entries: UnsafeBufferPointer<Entry>
  /// Whether all bytes are ASCII. Strings of others are UTF-8 only if the text is.
  let isASCII: Bool

  /// - Parameter memory: room for an entry for each byte; it has to stay as it is while the tape is used.
  init?(_ bytes: UnsafeBufferPointer<UInt8>, in memory: UnsafeMutableBufferPointer<Entry>) {
    var scanner = Scanner(bytes, memory)
    guard scanner.scan() else { return nil }
    entries = UnsafeBufferPointer(rebasing: memory[..<scanner.count])
    isASCII = scanner.isASCII
  }

  /// The entry behind a value, with all that is in it.
  @inline(__always)
  func next(_ index: Int) -> Int {
    let entry = entries[index]
    return entry.kind == .array || entry.kind == .object ? Int(entry.end) : index + 1
  }

  /// The length of an escape, or of two that are one scalar; nil if it isn't right.
  fileprivate static func escape(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
    guard index + 1 < bytes.count else { return nil }
    switch bytes[index + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return 2
    default:
      guard let unit = unit(bytes, index) else { return nil }
      if unit & 0xF800 != 0xD800 { return 6 }
      guard unit < 0xDC00, let low = Self.unit(bytes, index + 6), low & 0xFC00 == 0xDC00 else {
        return nil
      }
      return 12
    }
  }

  /// The code unit of UTF-16 that an escape names; nil for any other bytes.
  static func unit<Bytes: RandomAccessCollection<UInt8>>(
    _ bytes: Bytes, _ index: Int
  ) -> UInt32? where Bytes.Index == Int {
    guard index + 6 <= bytes.endIndex, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for byte in bytes[(index + 2)..<(index + 6)] {
      switch byte {
      case 0x30...0x39: unit = unit << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: unit = unit << 4 | UInt32((byte | 0x20) - 0x61 + 10)
      default: return nil
      }
    }
    return unit
  }
}

/// Writes the entries of a text to memory with room for as many as the text has bytes, which is enough: each entry has a
/// byte of its own, its first one.
private struct Scanner {
  typealias Entry = JSONTape.Entry
  typealias Kind = JSONTape.Kind

  /// In place of an entry's number, where there is none.
  private static let none = UInt32.max

  private let bytes: UnsafeBufferPointer<UInt8>
  private let entries: UnsafeMutableBufferPointer<Entry>
  private var place = 0
  /// How many entries are written.
  private(set) var count = 0
  private(set) var isASCII = true

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ entries: UnsafeMutableBufferPointer<Entry>) {
    self.bytes = bytes
    self.entries = entries
  }

  @inline(__always)
  private mutating func append(_ kind: Kind, _ start: Int, _ end: Int) {
    entries.initializeElement(
      at: count,
      to: Entry(
        kind: kind, start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end)))
    count += 1
  }

  /// Scans the text; false if it isn't certainly JSON.
  mutating func scan() -> Bool {
    // The innermost container that is open, and how many are: Foundation opens as many. The entry of each has the one
    // around it in place of its end.
    var (container, depth) = (Self.none, 0)
    // Its closing bracket and how much is in it so far, which is written to its entry when it closes or another opens.
    var (closing, members) = (UInt8(0), UInt32(0))
    while true {
      guard skipSpaces() else { return false }
      // A key comes before each value of an object.
      if closing == UInt8(ascii: "}") {
        guard bytes[place] == UInt8(ascii: "\""), string(),
          skipSpaces(), bytes[place] == UInt8(ascii: ":")
        else { return false }
        place += 1
        guard skipSpaces() else { return false }
      }
      let byte = bytes[place]
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        let kind = byte == UInt8(ascii: "{") ? Kind.object : .array
        place += 1
        guard skipSpaces() else { return false }
        // In ASCII each closing bracket is two behind its opening one.
        if bytes[place] == byte + 2 {
          place += 1
          append(kind, 0, count + 1)
        } else {
          guard depth < 510 else { return false }
          if container != Self.none { entries[Int(container)].start = members }
          let outer = container
          container = UInt32(truncatingIfNeeded: count)
          append(kind, 0, Int(outer))
          depth += 1
          (closing, members) = (byte + 2, 0)
          continue
        }
      } else if !scalar() {
        return false
      }
      // The value ends here, and perhaps the containers around it.
      while container != Self.none {
        members += 1
        guard skipSpaces() else { return false }
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: ",") { break }
        guard byte == closing else { return false }
        let index = Int(container)
        container = entries[index].end
        depth -= 1
        entries[index].start = members
        entries[index].end = UInt32(truncatingIfNeeded: count)
        if container != Self.none {
          let outer = entries[Int(container)]
          closing = outer.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
          members = outer.start
        }
      }
      if container == Self.none { return !skipSpaces() }
    }
  }

  /// Whether anything follows the spaces.
  @inline(__always)
  private mutating func skipSpaces() -> Bool {
    while place < bytes.count {
      let byte = bytes[place]
      if byte > 0x20 { return true }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return true }
      place += 1
    }
    return false
  }

  @inline(__always)
  private mutating func scalar() -> Bool {
    switch bytes[place] {
    case UInt8(ascii: "\""): string()
    case UInt8(ascii: "n"): word("null", .null)
    case UInt8(ascii: "t"): word("true", .true)
    case UInt8(ascii: "f"): word("false", .false)
    default: number()
    }
  }

  private mutating func word(_ word: StaticString, _ kind: Kind) -> Bool {
    let end = place + word.utf8CodeUnitCount
    guard end <= bytes.count else { return false }
    for offset in 0..<word.utf8CodeUnitCount where bytes[place + offset] != word.utf8Start[offset] {
      return false
    }
    append(kind, place, end)
    place = end
    return true
  }

  @inline(__always)
  private mutating func number() -> Bool {
    let start = place
    if bytes[place] == UInt8(ascii: "-") { place += 1 }
    let first = place
    let digits = skipDigits()
    guard digits > 0, digits == 1 || bytes[first] != 0x30 else { return false }
    var kind = Kind.integer
    if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
      kind = .number
      place += 1
      guard skipDigits() > 0 else { return false }
    }
    if place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") {
      kind = .number
      place += 1
      if place < bytes.count, bytes[place] == 0x2B || bytes[place] == 0x2D { place += 1 }
      guard skipDigits() > 0 else { return false }
    }
    append(kind, start, place)
    return true
  }

  @inline(__always)
  private mutating func skipDigits() -> Int {
    let start = place
    while place < bytes.count, bytes[place] &- 0x30 < 10 { place += 1 }
    return place - start
  }

  @inline(__always)
  private mutating func string() -> Bool {
    let start = place + 1
    var kind = Kind.ascii
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      // Most bytes are ASCII that needs no escape.
      if byte &- 0x20 < 0x60, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        index += 1
        continue
      }
      if byte == UInt8(ascii: "\"") {
        append(kind, start, index)
        place = index + 1
        return true
      }
      if byte == UInt8(ascii: "\\") {
        kind = .escaped
        guard let length = JSONTape.escape(bytes, index) else { return false }
        index += length
      } else if byte < 0x20 {
        return false
      } else {
        isASCII = false
        if kind == .ascii { kind = .string }
        index += 1
      }
    }
    return false
  }
}
