/// An object.
final class JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let reader: JSONValueReader
  private let object: Int
  /// The member behind the one that was asked for last.
  private var hint: Int
  /// Where the values of many members are, by name.
  private let places: [String: Int]?

  init(_ reader: JSONValueReader, _ object: Int) throws {
    self.reader = reader
    self.object = object
    places = try reader.checkedNames(of: object)
    hint = object + 1
  }

  var codingPath: [any CodingKey] { reader.path(to: object) }
  var allKeys: [Key] {
    ((try? reader.names(of: object)) ?? []).compactMap { Key(stringValue: $0) }
  }

  private func index(_ key: Key) -> Int? { index(named: key.stringValue) }

  private func index(named name: String) -> Int? {
    // Passing the property itself would be an access that the runtime notes, in some 150 instructions.
    var next = hint
    defer { hint = next }
    return reader.member(name, of: object, hint: &next, places)
  }

  private func place(_ key: Key) throws -> Int {
    if let index = index(key) { return index }
    throw DecodingError.keyNotFound(
      key, DecodingError.Context(codingPath: codingPath, debugDescription: ""))
  }

  func contains(_ key: Key) -> Bool { index(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { reader.isNull(try place(key)) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try reader.value(type, at: place(key))
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let index = index(key), !reader.isNull(index) else { return nil }
    return try reader.value(type, at: index)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try JSONValueDecoder(reader: reader, index: place(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try JSONValueDecoder(reader: reader, index: place(key)).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    JSONValueDecoder(reader: reader, index: index(named: "super") ?? -1)
  }

  func superDecoder(forKey key: Key) -> any Decoder {
    JSONValueDecoder(reader: reader, index: index(key) ?? -1)
  }
}

extension JSONValueReader {
  /// The entry of the value of an object's member; nil if there is none. From `hint` on, since members are often asked
  /// for in their order.
  func member(
    _ name: String, of object: Int, hint: inout Int, _ places: [String: Int]?
  ) -> Int? {
    let end = Int(tape.entries[object].end)
    if let places {
      let value = hint < end && isKey(hint, name) ? hint + 1 : places[name]
      if let value { hint = tape.next(value) }
      return value
    }
    var (key, isWrapped) = (hint, hint == object + 1)
    while true {
      if key >= end {
        if isWrapped { return nil }
        (key, isWrapped) = (object + 1, true)
        continue
      }
      if isWrapped, key >= hint, hint != object + 1 { return nil }
      let isFound = isKey(key, name)
      let value = key + 1
      key = tape.next(value)
      if isFound {
        hint = key
        return value
      }
    }
  }

  private func isKey(_ index: Int, _ name: String) -> Bool {
    let entry = tape.entries[index]
    let (start, end) = (Int(entry.start), Int(entry.end))
    if entry.kind != .ascii {
      // Equal texts may have different bytes. An escape that isn't right has been left to Foundation.
      return (try? string(index)) == name
    }
    guard name.utf8.count == end - start else { return false }
    var name = name
    return name.withUTF8 { name in
      for offset in 0..<name.count where name[offset] != bytes[start + offset] { return false }
      return true
    }
  }

  /// The names of an object's members.
  func names(of object: Int) throws -> [String] {
    var names: [String] = []
    names.reserveCapacity(Int(tape.entries[object].start))
    var key = object + 1
    let end = Int(tape.entries[object].end)
    while key < end {
      names.append(try string(key))
      key = tape.next(key + 1)
    }
    return names
  }

  /// Leaves an object with two members of the same name to Foundation. Returns where the values of many members are.
  func checkedNames(of object: Int) throws -> [String: Int]? {
    let count = Int(tape.entries[object].start)
    if count < 2 { return nil }
    guard count <= 16, hasPlainNames(object) else { return try places(of: object) }
    let end = Int(tape.entries[object].end)
    var key = object + 1
    while key < end {
      let text = tape.entries[key]
      var other = object + 1
      while other < key {
        let known = tape.entries[other]
        if text.end - text.start == known.end - known.start,
          bytes[Int(text.start)..<Int(text.end)].elementsEqual(
            bytes[Int(known.start)..<Int(known.end)])
        {
          throw uncertain()
        }
        other = tape.next(other + 1)
      }
      key = tape.next(key + 1)
    }
    return nil
  }

  private func places(of object: Int) throws -> [String: Int] {
    let count = Int(tape.entries[object].start)
    var places: [String: Int] = [:]
    places.reserveCapacity(count)
    var key = object + 1
    let end = Int(tape.entries[object].end)
    while key < end {
      places[try string(key)] = key + 1
      key = tape.next(key + 1)
    }
    if places.count < count { throw uncertain() }
    return places
  }

  /// Whether all names of an object's members are ASCII without escapes: then texts are equal if their bytes are.
  private func hasPlainNames(_ object: Int) -> Bool {
    let end = Int(tape.entries[object].end)
    var key = object + 1
    while key < end {
      guard tape.entries[key].kind == .ascii else { return false }
      key = tape.next(key + 1)
    }
    return true
  }
}
