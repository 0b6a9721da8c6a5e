import Glibc

/// Reads JSON. (Foundation's reader would take the compiler longer to load than all expansions take.)
package struct JSONReader {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let bytes: [UInt8]
  private var position = 0
  private static let greatestDepth = 100
  /// Members whose texts are left out: this one is longer than all else in a message.
  private static let ignored: Set = ["staticBuildConfiguration"]

  /// The value that the bytes are.
  package static func value(_ bytes: [UInt8]) throws -> JSONValue {
    var reader = JSONReader(bytes: bytes)
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.position == bytes.count else { throw reader.failure() }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private func failure() -> Failure {
    Failure(description: "the message isn't JSON at byte \(position)")
  }

  private var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

  private mutating func skipSpace() {
    while byte == 32 || byte == 9 || byte == 10 || byte == 13 { position += 1 }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    guard text.withUTF8Buffer({ bytes[position...].starts(with: $0) }) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  private mutating func value(depth: Int) throws -> JSONValue {
    guard depth < Self.greatestDepth else {
      throw Failure(description: "the message is nested too deep")
    }
    skipSpace()
    switch byte {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "["):
      var all: [JSONValue] = []
      try list(until: "]") { all.append(try $0.value(depth: depth + 1)) }
      return .array(all)
    case UInt8(ascii: "{"):
      var members: [String: JSONValue] = [:]
      try list(until: "}") { reader in
        reader.skipSpace()
        let key = try reader.string()
        reader.skipSpace()
        guard reader.skip(":") else { throw reader.failure() }
        reader.skipSpace()
        if reader.byte == UInt8(ascii: "\""), Self.ignored.contains(key) {
          try reader.skipString()
        } else {
          members[key] = try reader.value(depth: depth + 1)
        }
      }
      return .object(members)
    default:
      if skip("null") { return .null }
      if skip("true") { return .bool(true) }
      if skip("false") { return .bool(false) }
      return try number()
    }
  }

  private mutating func list(
    until end: StaticString, _ element: (inout JSONReader) throws -> Void
  ) throws {
    position += 1
    skipSpace()
    if skip(end) { return }
    while true {
      try element(&self)
      skipSpace()
      if skip(end) { return }
      guard skip(",") else { throw failure() }
    }
  }

  private mutating func number() throws -> JSONValue {
    let start = position
    while "+-.0123456789eE".utf8.contains(byte) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let integer = Int(text) { return .integer(integer) }
    guard Double(text) != nil else {
      position = start
      throw failure()
    }
    return .number(text)
  }

  /// A string; control characters in it pass.
  private mutating func string() throws -> String {
    guard byte == UInt8(ascii: "\"") else { throw failure() }
    position += 1
    var text: [UInt8] = []
    while let quote = find(UInt8(ascii: "\""), before: bytes.count) {
      let end = find(UInt8(ascii: "\\"), before: quote) ?? quote
      text += bytes[position..<end]
      position = end + 1
      if end < quote {
        try escape(&text)
      } else {
        guard let text = String(validating: text, as: UTF8.self) else { throw failure() }
        return text
      }
    }
    throw failure()
  }

  private mutating func skipString() throws {
    position += 1
    while let quote = find(UInt8(ascii: "\""), before: bytes.count) {
      var escapes = 0
      while bytes[quote - 1 - escapes] == UInt8(ascii: "\\") { escapes += 1 }
      position = quote + 1
      if escapes.isMultiple(of: 2) { return }
    }
    throw failure()
  }

  /// Where a byte is next. By C: a plugin is mostly built without optimization, where a loop over the bytes of
  /// the messages took half of its time.
  private func find(_ byte: UInt8, before end: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      guard position < end, let start = bytes.baseAddress,
        let found = memchr(start + position, Int32(byte), end - position)
      else { return nil }
      return UnsafeRawPointer(found) - start
    }
  }

  private mutating func escape(_ text: inout [UInt8]) throws {
    let byte = byte
    position += 1
    switch byte {
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
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
      guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure()
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }
}
