import FoundationEssentials
import LarderSQLite

/// JSON as a literal of an array, a composite type or hstore, in the server's own syntax: `["a",null]` becomes
/// `{"a",NULL}`. Text that isn't such JSON stays as it is: it may be a literal already.
///
/// See [Array Input](https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT) and
/// [Composite Values](https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-IO-SYNTAX).
struct ServerLiteral {
  private let json: JSONScanner
  private let bytes: LentBytes
  private var literal: [UInt8] = []

  /// The literal of JSON; nil if the text isn't the JSON of an array or object. Throws `ConversionError` for
  /// JSON that doesn't fit the type.
  static func literal(of text: UnsafeRawBufferPointer, _ type: ServerType) throws -> [UInt8]? {
    try text.withMemoryRebound(to: UInt8.self) { bytes -> [UInt8]? in
      guard let whole = try? JSONScanner.value(of: bytes), let first = bytes[whole].first,
        first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
      else { return nil }
      // `{}` is an empty array's literal too, and `[1,5]` that of a range with its upper bound.
      switch type {
      case .array where first == UInt8(ascii: "{"): return nil
      case .range where first == UInt8(ascii: "["): return nil
      default: break
      }
      var writer = ServerLiteral(json: JSONScanner(bytes), bytes: bytes)
      try writer.write(whole, type)
      return writer.literal
    }
  }

  /// The literal of JSON, or the text itself.
  static func text(of json: String, _ type: ServerType) throws -> String {
    var json = json
    return try json.withUTF8 { try literal(of: UnsafeRawBufferPointer($0), type) }
      .map { String(decoding: $0, as: UTF8.self) } ?? json
  }

  private static var malformed: ConversionError { ConversionError(.malformed, String.self) }

  private func first(_ range: Range<Int>) -> UInt8 { bytes[range.lowerBound] }

  private func members(_ range: Range<Int>) throws -> [JSONScanner.Member] {
    do { return try json.members(at: range.lowerBound) } catch { throw Self.malformed }
  }

  private func string(_ range: Range<Int>) throws -> [UInt8] {
    guard let text = json.text(in: range), !text.contains(0) else { throw Self.malformed }
    return text
  }

  /// Writes a value of a type without the quotes that it needs inside of another literal.
  private mutating func write(_ value: Range<Int>, _ type: ServerType) throws {
    switch type {
    case .array(let element):
      guard first(value) == UInt8(ascii: "[") else { throw Self.malformed }
      literal.append(UInt8(ascii: "{"))
      for (index, member) in try members(value).enumerated() {
        if index > 0 { literal.append(UInt8(ascii: ",")) }
        try writeElement(member.value, element, of: type)
      }
      literal.append(UInt8(ascii: "}"))
    case .composite(let names): try writeComposite(value, names)
    case .range(let bound) where first(value) == UInt8(ascii: "{"): try writeRange(value, bound)
    case .pairs: try writePairs(value)
    default: try writeScalar(value, type.plainType)
    }
  }

  private mutating func writeElement(
    _ value: Range<Int>, _ type: ServerType, of array: ServerType
  ) throws {
    switch first(value) {
    case UInt8(ascii: "n"): literal += "NULL".utf8
    // An array in an array is another dimension, unless elements are arrays in JSON themselves.
    case UInt8(ascii: "[") where !Self.holdsArrays(type): try write(value, array)
    default: try writeQuoted(value, type, quote: "\\")
    }
  }

  private static func holdsArrays(_ type: ServerType) -> Bool {
    switch type {
    case .composite: true
    case .plain(let type): [TypeOID.json, TypeOID.jsonb, TypeOID.bytea].contains(type)
    default: false
    }
  }

  /// Writes a value in quotes.
  ///
  /// - Parameter quote: what stands before a quote in quotes; a backslash is always doubled.
  private mutating func writeQuoted(
    _ value: Range<Int>, _ type: ServerType, quote: Unicode.Scalar
  ) throws {
    var inside = ServerLiteral(json: json, bytes: bytes)
    try inside.write(value, type)
    appendQuoted(inside.literal, quote: quote)
  }

  private mutating func appendQuoted(_ text: [UInt8], quote: Unicode.Scalar) {
    literal.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") { literal.append(UInt8(ascii: quote)) }
      if byte == UInt8(ascii: "\\") { literal.append(byte) }
      literal.append(byte)
    }
    literal.append(UInt8(ascii: "\""))
  }

  /// Writes a composite value: by its members' names from an object, by their order from an array.
  private mutating func writeComposite(
    _ value: Range<Int>, _ types: [(name: String, type: ServerType)]
  ) throws {
    let found = try members(value)
    let isObject = first(value) == UInt8(ascii: "{")
    guard isObject || first(value) == UInt8(ascii: "["), isObject || found.count <= types.count
    else { throw Self.malformed }
    var values: [Range<Int>?] = Array(repeating: nil, count: types.count)
    for (index, member) in found.enumerated() {
      let name = try member.name.map { String(decoding: try string($0), as: UTF8.self) }
      let place = name.map { name in types.firstIndex { $0.name == name } } ?? index
      // A member that the type doesn't have would be lost.
      guard let place else { throw Self.malformed }
      values[place] = member.value
    }
    literal.append(UInt8(ascii: "("))
    for (index, value) in values.enumerated() {
      if index > 0 { literal.append(UInt8(ascii: ",")) }
      guard let value, first(value) != UInt8(ascii: "n") else { continue }
      try writeQuoted(value, types[index].type, quote: "\"")
    }
    literal.append(UInt8(ascii: ")"))
  }

  /// Writes a range, whose upper bound doesn't belong to it, from an object with the bounds.
  private mutating func writeRange(_ value: Range<Int>, _ type: ServerType) throws {
    let bounds = try members(value)
    let names = try bounds.map {
      try $0.name.map { String(decoding: try string($0), as: UTF8.self) }
    }
    guard names == ["lower", "upper"] else { throw Self.malformed }
    literal.append(UInt8(ascii: "["))
    try writeQuoted(bounds[0].value, type, quote: "\\")
    literal.append(UInt8(ascii: ","))
    try writeQuoted(bounds[1].value, type, quote: "\\")
    literal.append(UInt8(ascii: ")"))
  }

  private mutating func writePairs(_ value: Range<Int>) throws {
    guard first(value) == UInt8(ascii: "{") else { throw Self.malformed }
    for (index, member) in try members(value).enumerated() {
      if index > 0 { literal.append(UInt8(ascii: ",")) }
      appendQuoted(try member.name.map(string) ?? [], quote: "\\")
      literal += "=>".utf8
      if first(member.value) == UInt8(ascii: "n") {
        literal += "NULL".utf8
      } else {
        try writeQuoted(member.value, .text, quote: "\\")
      }
    }
  }

  private mutating func writeScalar(_ value: Range<Int>, _ type: UInt32?) throws {
    let isJSON = type == TypeOID.json || type == TypeOID.jsonb
    if type == TypeOID.bytea {
      literal += "\\x".utf8
      literal += try blob(value).hexadecimal.utf8
    } else if !isJSON, first(value) == UInt8(ascii: "\"") {
      literal += try string(value)
    } else {
      literal += bytes[value]
    }
  }

  /// Bytes, which JSON has as a text in base 64 or as an array of numbers.
  private func blob(_ value: Range<Int>) throws -> [UInt8] {
    if first(value) == UInt8(ascii: "[") {
      return try members(value).map { member in
        guard let byte = UInt8(String(decoding: bytes[member.value], as: UTF8.self)) else {
          throw Self.malformed
        }
        return byte
      }
    }
    guard first(value) == UInt8(ascii: "\""),
      let data = Data(base64Encoded: Data(try string(value)))
    else { throw Self.malformed }
    return [UInt8](data)
  }
}
