/// Finds values in JSON text, as [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) defines it, and leaves
/// them as they are written: numbers with all their digits, texts with NUL.
///
/// SQLite's own functions (3.40) read one real number of 300 with another last bit, end a text at its first NUL,
/// and don't find a name that is written with an escape.
///
/// What makes its pointer sound: whoever makes one keeps the bytes as long as it is in use.
struct JSONScanner {
  /// What isn't JSON.
  struct Malformed: Error {}

  /// A member of an object, or an element of an array.
  struct Member {
    /// The name with its quotes; nil in an array.
    let name: Range<Int>?
    let value: Range<Int>
    /// Where it begins, with its name.
    var start: Int { name?.lowerBound ?? value.lowerBound }
  }

  let bytes: UnsafeBufferPointer<UInt8>
  private var position: Int

  init(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
  }

  /// The only value of the whole text.
  static func value(of bytes: UnsafeBufferPointer<UInt8>) throws(Malformed) -> Range<Int> {
    var scanner = JSONScanner(bytes)
    let value = try scanner.value()
    scanner.skipSpace()
    guard scanner.position == bytes.count else { throw Malformed() }
    return value
  }

  /// What follows the space behind a position; 0 at the end.
  func byte(behind position: Int) -> (at: Int, byte: UInt8) {
    var scanner = JSONScanner(bytes, at: position)
    scanner.skipSpace()
    return (scanner.position, scanner.byte)
  }

  /// The members of the object or array that begins at a position; none where another value does.
  func members(at start: Int) throws(Malformed) -> [Member] {
    var scanner = JSONScanner(bytes, at: start)
    let isObject = scanner.byte == UInt8(ascii: "{")
    guard isObject || scanner.byte == UInt8(ascii: "[") else { return [] }
    var members: [Member] = []
    while true {
      scanner.position += 1
      scanner.skipSpace()
      if members.isEmpty, scanner.isAtEnd(of: isObject) { return members }
      let name = isObject ? try scanner.name() : nil
      members.append(Member(name: name, value: try scanner.value()))
      scanner.skipSpace()
      if scanner.isAtEnd(of: isObject) { return members }
      guard scanner.byte == UInt8(ascii: ",") else { throw Malformed() }
    }
  }

  /// The bytes of a text that stands, with its quotes, in a range; nil for half a surrogate pair.
  func text(in range: Range<Int>) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(range.count)
    var index = range.lowerBound + 1
    while index < range.upperBound - 1 {
      guard bytes[index] == UInt8(ascii: "\\") else {
        text.append(bytes[index])
        index += 1
        continue
      }
      index += 2
      switch bytes[index - 1] {
      case UInt8(ascii: "b"): text.append(8)
      case UInt8(ascii: "f"): text.append(12)
      case UInt8(ascii: "n"): text.append(10)
      case UInt8(ascii: "r"): text.append(13)
      case UInt8(ascii: "t"): text.append(9)
      case UInt8(ascii: "u"):
        var code = hexadecimal(at: index)
        index += 4
        if 0xDC00..<0xE000 ~= code { return nil }
        if 0xD800..<0xDC00 ~= code {
          guard index + 6 < range.upperBound, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
          else { return nil }
          let low = hexadecimal(at: index + 2)
          guard 0xDC00..<0xE000 ~= low else { return nil }
          code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
          index += 6
        }
        guard let scalar = Unicode.Scalar(code) else { return nil }
        text += String(scalar).utf8
      case let character: text.append(character)
      }
    }
    return text
  }

  /// Whether the text in a range, with its quotes, is this one.
  func isText(_ text: [UInt8], in range: Range<Int>) -> Bool {
    let inside = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
    if !inside.contains(UInt8(ascii: "\\")) { return inside.elementsEqual(text) }
    return self.text(in: range) == text
  }

  private func hexadecimal(at index: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 << 4 | UInt32(bytes[index + $1].hexadecimalDigit ?? 0) }
  }

  // MARK: Grammar

  private var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

  private func isAtEnd(of isObject: Bool) -> Bool {
    byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
  }

  private mutating func skipSpace() {
    while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Skips a value, however deep. Not by calls inside of each other: the text may come from outside.
  private mutating func value() throws(Malformed) -> Range<Int> {
    skipSpace()
    let start = position
    /// Whether each thing that is open is an object.
    var open: [Bool] = []
    while true {
      skipSpace()
      let isObject = byte == UInt8(ascii: "{")
      if isObject || byte == UInt8(ascii: "[") {
        position += 1
        skipSpace()
        if isAtEnd(of: isObject) {
          position += 1
        } else {
          open.append(isObject)
          if isObject { _ = try name() }
          continue
        }
      } else {
        try scalar()
      }
      // Behind a value: what ends with it, or the next one.
      while let isObject = open.last {
        skipSpace()
        let isEnd = isAtEnd(of: isObject)
        guard isEnd || byte == UInt8(ascii: ",") else { throw Malformed() }
        position += 1
        if isEnd {
          open.removeLast()
        } else {
          if isObject { _ = try name() }
          break
        }
      }
      if open.isEmpty { return start..<position }
    }
  }

  /// Skips a name with the colon behind it.
  private mutating func name() throws(Malformed) -> Range<Int> {
    skipSpace()
    let start = position
    try string()
    let end = position
    skipSpace()
    guard byte == UInt8(ascii: ":") else { throw Malformed() }
    position += 1
    return start..<end
  }

  private mutating func scalar() throws(Malformed) {
    switch byte {
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func word(_ word: StaticString) throws(Malformed) {
    for index in 0..<word.utf8CodeUnitCount {
      guard byte == word.utf8Start[index] else { throw Malformed() }
      position += 1
    }
  }

  private mutating func string() throws(Malformed) {
    guard byte == UInt8(ascii: "\"") else { throw Malformed() }
    position += 1
    while byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw Malformed() }
      position += 1
      guard bytes[position - 1] == UInt8(ascii: "\\") else { continue }
      switch byte {
      case UInt8(ascii: "u"):
        for _ in 0..<4 {
          position += 1
          guard byte.hexadecimalDigit != nil else { throw Malformed() }
        }
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        break
      default: throw Malformed()
      }
      position += 1
    }
    position += 1
  }

  private mutating func number() throws(Malformed) {
    if byte == UInt8(ascii: "-") { position += 1 }
    if byte == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if byte == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    guard byte | 0x20 == UInt8(ascii: "e") else { return }
    position += 1
    if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
    try digits()
  }

  private mutating func digits() throws(Malformed) {
    let start = position
    while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    if position == start { throw Malformed() }
  }
}

extension UInt8 {
  fileprivate var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
