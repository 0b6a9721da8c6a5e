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

  /// In place of an entry's number, where there is none.
  private static let none = UInt32.max

  private(set) var entries = ContiguousArray<Entry>()

  /// Whether all bytes are ASCII. Strings of others are UTF-8 only if the text is.
  private(set) var isASCII = true

  init?(_ bytes: [UInt8]) {
    guard bytes.count < Int(UInt32.max) else { return nil }
    entries.reserveCapacity(8 + bytes.count / 8)
    let isJSON = bytes.withUnsafeBufferPointer { scan($0) }
    if !isJSON { return nil }
  }

  /// The entry behind a value, with all that is in it.
  @inline(__always)
  func next(_ index: Int) -> Int {
    let entry = entries[index]
    return entry.kind == .array || entry.kind == .object ? Int(entry.end) : index + 1
  }

  // MARK: The text

  private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    // The innermost container that is open, and how many are: Foundation opens as many. The entry of each has the one
    // around it in place of its end.
    var (container, depth) = (Self.none, 0)
    // Its closing bracket and how much is in it so far, which is written to its entry when it closes or another opens.
    var (closing, count) = (UInt8(0), UInt32(0))
    var place = 0
    while true {
      guard skipSpaces(bytes, &place) else { return false }
      // A key comes before each value of an object.
      if closing == UInt8(ascii: "}") {
        guard bytes[place] == UInt8(ascii: "\""), string(bytes, &place),
          skipSpaces(bytes, &place), bytes[place] == UInt8(ascii: ":")
        else { return false }
        place += 1
        guard skipSpaces(bytes, &place) else { return false }
      }
      let byte = bytes[place]
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        place += 1
        guard skipSpaces(bytes, &place) else { return false }
        let index = UInt32(entries.count)
        let kind = byte == UInt8(ascii: "{") ? Kind.object : .array
        // In ASCII each closing bracket is two behind its opening one.
        if bytes[place] == byte + 2 {
          place += 1
          entries.append(Entry(kind: kind, start: 0, end: index + 1))
        } else {
          guard depth < 510 else { return false }
          if container != Self.none { entries[Int(container)].start = count }
          entries.append(Entry(kind: kind, start: 0, end: container))
          (container, depth) = (index, depth + 1)
          (closing, count) = (byte + 2, 0)
          continue
        }
      } else if !scalar(bytes, &place) {
        return false
      }
      // The value ends here, and perhaps the containers around it.
      while container != Self.none {
        count += 1
        guard skipSpaces(bytes, &place) else { return false }
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: ",") { break }
        guard byte == closing else { return false }
        let index = Int(container)
        container = entries[index].end
        depth -= 1
        entries[index].start = count
        entries[index].end = UInt32(entries.count)
        if container != Self.none {
          let outer = entries[Int(container)]
          closing = outer.kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
          count = outer.start
        }
      }
      if container == Self.none { return !skipSpaces(bytes, &place) }
    }
  }

  /// Whether anything follows the spaces.
  @inline(__always)
  private func skipSpaces(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Bool {
    while place < bytes.count {
      let byte = bytes[place]
      if byte > 0x20 { return true }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return true }
      place += 1
    }
    return false
  }

  @inline(__always)
  private mutating func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Bool {
    switch bytes[place] {
    case UInt8(ascii: "\""): string(bytes, &place)
    case UInt8(ascii: "n"): word("null", .null, bytes, &place)
    case UInt8(ascii: "t"): word("true", .true, bytes, &place)
    case UInt8(ascii: "f"): word("false", .false, bytes, &place)
    default: number(bytes, &place)
    }
  }

  private mutating func word(
    _ word: String, _ kind: Kind, _ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int
  ) -> Bool {
    let end = place + word.utf8.count
    guard end <= bytes.count, bytes[place..<end].elementsEqual(word.utf8) else { return false }
    entries.append(Entry(kind: kind, start: UInt32(place), end: UInt32(end)))
    place = end
    return true
  }

  private mutating func number(
    _ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int
  ) -> Bool {
    func skipDigits() -> Int {
      let start = place
      while place < bytes.count, bytes[place] &- 0x30 < 10 { place += 1 }
      return place - start
    }
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
    entries.append(Entry(kind: kind, start: UInt32(start), end: UInt32(place)))
    return true
  }

  private mutating func string(
    _ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int
  ) -> Bool {
    let start = place + 1
    var kind = Kind.ascii
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        entries.append(Entry(kind: kind, start: UInt32(start), end: UInt32(index)))
        place = index + 1
        return true
      }
      if byte == UInt8(ascii: "\\") {
        kind = .escaped
        guard let length = Self.escape(bytes, index) else { return false }
        index += length - 1
      } else if byte < 0x20 {
        return false
      } else if byte >= 0x80 {
        isASCII = false
        if kind == .ascii { kind = .string }
      }
      index += 1
    }
    return false
  }

  /// The length of an escape, or of two that are one scalar; nil if it isn't right.
  private static func escape(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
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
