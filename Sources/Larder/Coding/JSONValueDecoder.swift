import FoundationEssentials

/// The decoder at a value, and the container of that single value.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
  let reader: JSONValueReader
  let index: Int

  var codingPath: [any CodingKey] { reader.path(to: index) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard reader.kind(index) == .object else { throw reader.mismatch([String: Any].self, index) }
    return KeyedDecodingContainer(try JSONMembers(reader, index))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard reader.kind(index) == .array else { throw reader.mismatch([Any].self, index) }
    return JSONElements(reader, index)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { reader.isNull(index) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try reader.value(type, at: index)
  }
}

/// An array.
private struct JSONElements: UnkeyedDecodingContainer {
  private let reader: JSONValueReader
  private let array: Int
  /// The entry of the next element.
  private var place: Int
  private(set) var currentIndex = 0

  init(_ reader: JSONValueReader, _ array: Int) {
    self.reader = reader
    self.array = array
    place = array + 1
  }

  var codingPath: [any CodingKey] { reader.path(to: array) }
  var count: Int? { Int(reader.tape.entries[array].start) }
  var isAtEnd: Bool { place >= Int(reader.tape.entries[array].end) }

  /// Reads the next element, which is passed only if that succeeds.
  private mutating func next<Value>(_ read: (Int) throws -> Value) throws -> Value {
    if isAtEnd { throw reader.uncertain() }
    do {
      let value = try read(place)
      place = reader.tape.next(place)
      currentIndex += 1
      return value
    } catch {
      // A type whose own code ignores errors would otherwise read the element again and again, where Foundation
      // goes on.
      if reader.isUncertain {
        place = Int(reader.tape.entries[array].end)
        currentIndex = count ?? 0
      }
      throw error
    }
  }

  mutating func decodeNil() throws -> Bool {
    if isAtEnd { throw reader.uncertain() }
    guard reader.isNull(place) else { return false }
    place += 1
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let reader = reader
    return try next { try reader.value(type, at: $0) }
  }

  mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    let reader = reader
    // The end and null are nil.
    if isAtEnd { return nil }
    return try next { reader.isNull($0) ? nil : try reader.value(type, at: $0) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let reader = reader
    return try next {
      try JSONValueDecoder(reader: reader, index: $0).container(keyedBy: type)
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let reader = reader
    return try next { try JSONValueDecoder(reader: reader, index: $0).unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder {
    let reader = reader
    return try next { JSONValueDecoder(reader: reader, index: $0) }
  }
}
