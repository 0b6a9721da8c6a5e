/// A JSON reader. (Loading Foundation's would take the compiler longer than all expansions take.)
package struct JSONReader {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let bytes: SourceBytes
  private var position = 0
  private static var greatestDepth: Int { 100 }
  /// The names of members that no answer needs, in quotation marks. The build configuration alone is longer
  /// than the rest of a message.
  private static var ignored: StaticString {
    " \"column\" \"discriminator\" \"fileID\" \"kind\" \"line\" \"moduleName\" \"name\" \"staticBuildConfiguration\" "
  }

  /// Reads all bytes as one value.
  package static func value(_ bytes: [UInt8]) throws -> JSONValue {
    var reader = JSONReader(bytes: SourceBytes(bytes))
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.position == bytes.count else { throw reader.failure() }
    return value
  }

  private init(bytes: SourceBytes) { self.bytes = bytes }

  private func failure() -> Failure {
    Failure(description: "the message isn't JSON at byte \(position)")
  }

  private mutating func skipSpace() {
    while position < bytes.count, bytes[position] <= .space {
      let byte = bytes[position]
      guard byte == .space || byte == .tab || byte.endsLine else { return }
      position += 1
    }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard bytes[position] == byte, byte != 0 else { return false }
    position += 1
    return true
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    guard bytes.has(text, at: position) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.greatestDepth else {
      throw Failure(description: "the message is nested too deeply")
    }
    skipSpace()
    switch bytes[position] {
    case .quote: return .string(try string())
    case .openSquare:
      position += 1
      var all: [JSONValue] = []
      skipSpace()
      if skip(.closeSquare) { return .array([]) }
      repeat { all.append(try value(depth: depth + 1)) } while try goesOn(.closeSquare)
      return .array(all)
    case .openCurly:
      position += 1
      var members: JSONObject = [:]
      skipSpace()
      if skip(.closeCurly) { return .object([:]) }
      repeat { try member(of: &members, depth: depth) } while try goesOn(.closeCurly)
      return .object(members)
    default:
      if skip("null") { return .null }
      if skip("true") { return .bool(true) }
      if skip("false") { return .bool(false) }
      return try number()
    }
  }

  /// Whether a comma follows, rather than the end of an array or object.
  private mutating func goesOn(_ end: UInt8) throws -> Bool {
    skipSpace()
    if skip(.comma) { return true }
    guard skip(end) else { throw failure() }
    return false
  }

  private mutating func member(of members: inout JSONObject, depth: Int) throws {
    skipSpace()
    let start = position
    guard bytes[start] == .quote, let end = bytes.find(.quote, from: start + 1) else {
      throw failure()
    }
    let isIgnored = bytes.isWord(start, end + 1, of: Self.ignored)
    let key = isIgnored ? "" : try string()
    if isIgnored { position = end + 1 }
    skipSpace()
    guard skip(.colon) else { throw failure() }
    skipSpace()
    if !isIgnored {
      members.append(key, try value(depth: depth + 1))
    } else if bytes[position] == .quote {
      try skipString()
    } else {
      _ = try value(depth: depth + 1)
    }
  }

  private mutating func number() throws -> JSONValue {
    let start = position
    var value = 0
    while bytes[position].isDigit, position - start < 18 {
      value = value * 10 + Int(bytes[position] - .zero)
      position += 1
    }
    if position > start, !continuesNumber(bytes[position]) { return .integer(value) }
    while continuesNumber(bytes[position]) { position += 1 }
    let text = bytes.text(start, position)
    if let integer = Int(text) { return .integer(integer) }
    guard Double(text) != nil else {
      position = start
      throw failure()
    }
    return .number(text)
  }

  private func continuesNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case .plus, .minus, .dot, .smallE, .largeE: true
    default: byte.isDigit
    }
  }

  /// Reads a string; control characters in it are accepted.
  private mutating func string() throws -> String {
    guard skip(.quote) else { throw failure() }
    var text: [UInt8] = []
    while let quote = bytes.find(.quote, from: position) {
      if let place = bytes.find(.backslash, from: position, before: quote) {
        bytes.append(position, place, to: &text)
        position = place + 1
        try escape(&text)
        continue
      }
      // Most strings have no escapes.
      if !text.isEmpty { bytes.append(position, quote, to: &text) }
      let string =
        text.isEmpty
        ? bytes.validText(position, quote) : String(validating: text, as: UTF8.self)
      guard let string else { throw failure() }
      position = quote + 1
      return string
    }
    throw failure()
  }

  private mutating func skipString() throws {
    guard let end = bytes.findEndOfString(from: position + 1) else { throw failure() }
    position = end + 1
  }

  private mutating func escape(_ text: inout [UInt8]) throws {
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case .quote, .backslash, .slash: text.append(byte)
    case UInt8(ascii: "u"):
      var value = try hexadecimal()
      if (0xD800..<0xDC00).contains(value) {
        guard skip("\\u") else { throw failure() }
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw failure() }
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(value) else { throw failure() }
      text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default: throw failure()
    }
  }

  private mutating func hexadecimal() throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[position]
      guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure()
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
