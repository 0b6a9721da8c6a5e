import FoundationEssentials
import LarderSQLite

/// Reads Codable values from JSON, for columns: small texts, for which Foundation's decoder takes most of its time to
/// get ready.
///
/// What it returns is what Foundation's decoder returns. Wherever that isn't certain (a text that may not be JSON, a
/// number in an unusual form, two members of the same name), it says so, and Foundation is asked, which also describes
/// errors.
///
/// It owns the text's bytes and their entries, in one allocation, and decoders hold it as long as they read there.
package final class JSONValueReader {
  let bytes: UnsafeBufferPointer<UInt8>
  let tape: JSONTape
  /// Whether something was met whose meaning is left to Foundation; an error that the type's own code caught counts.
  var isUncertain = false
  /// Where the last path led, by depth: mostly the next one leads to the element behind.
  var trail: [JSONStep] = []
  /// How many entries paths may still pass.
  var stepsLeft: Int
  private let memory: UnsafeMutableRawPointer

  private init(
    _ bytes: UnsafeBufferPointer<UInt8>, _ tape: JSONTape, in memory: UnsafeMutableRawPointer
  ) {
    self.bytes = bytes
    self.tape = tape
    self.memory = memory
    stepsLeft = 64 * tape.entries.count + 1024
  }

  deinit { memory.deallocate() }

  /// The decoder of Foundation's that is asked.
  package static var foundation: JSONDecoder { JSONText.decoder }

  /// The value of a text. Throws if Foundation has to be asked.
  package static func value<Value: Decodable>(_ type: Value.Type, of text: String) throws -> Value {
    var text = text
    return try text.withUTF8 { try value(type, of: UnsafeRawBufferPointer($0)) }
  }

  /// The value of a text's bytes. Throws if Foundation has to be asked.
  static func value<Value: Decodable>(
    _ type: Value.Type, of text: UnsafeRawBufferPointer
  ) throws -> Value {
    guard let reader = reader(of: text) else { throw JSONMismatch() }
    let value = try reader.value(type, at: 0)
    if reader.isUncertain { throw JSONMismatch() }
    return value
  }

  /// A reader of a copy of a text; nil if it isn't certainly JSON in UTF-8.
  private static func reader(of text: UnsafeRawBufferPointer) -> JSONValueReader? {
    guard !text.isEmpty, text.count <= JSONTape.longest else { return nil }
    let entries = text.count * MemoryLayout<JSONTape.Entry>.stride
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: entries + text.count, alignment: MemoryLayout<JSONTape.Entry>.alignment)
    let copy = UnsafeMutableRawBufferPointer(start: memory + entries, count: text.count)
    copy.copyMemory(from: text)
    let bytes = UnsafeBufferPointer(copy.bindMemory(to: UInt8.self))
    let tape = JSONTape(
      bytes,
      in: UnsafeMutableBufferPointer(
        start: memory.bindMemory(to: JSONTape.Entry.self, capacity: text.count), count: text.count))
    guard let tape, tape.isASCII || String(validating: bytes, as: UTF8.self) != nil else {
      memory.deallocate()
      return nil
    }
    return JSONValueReader(bytes, tape, in: memory)
  }

  // MARK: Values

  /// The value at an entry; -1 is that of a missing one, which is null.
  func value<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
    if type == String.self { return try Self.same(string(index)) }
    if type == Int.self { return try Self.same(integer(Int.self, index)) }
    if type == Double.self { return try Self.same(real(index)) }
    if type == Bool.self { return try Self.same(bool(index)) }
    if type == Int64.self { return try Self.same(integer(Int64.self, index)) }
    if type == Int32.self { return try Self.same(integer(Int32.self, index)) }
    if type == Int16.self { return try Self.same(integer(Int16.self, index)) }
    if type == Int8.self { return try Self.same(integer(Int8.self, index)) }
    if type == UInt.self { return try Self.same(integer(UInt.self, index)) }
    if type == UInt64.self { return try Self.same(integer(UInt64.self, index)) }
    if type == UInt32.self { return try Self.same(integer(UInt32.self, index)) }
    if type == UInt16.self { return try Self.same(integer(UInt16.self, index)) }
    if type == UInt8.self { return try Self.same(integer(UInt8.self, index)) }
    if type == Float.self { return try Self.same(float(index)) }
    if type == Int128.self { return try Self.same(integer(Int128.self, index)) }
    if type == UInt128.self { return try Self.same(integer(UInt128.self, index)) }
    if type == Date.self { return try Self.same(date(index)) }
    if type == Data.self { return try Self.same(data(index)) }
    if type == Decimal.self { return try Self.same(decimal(index)) }
    if type == URL.self { return try Self.same(url(index)) }
    if type == [String].self { return try Self.same(array(index) { try string($0) }) }
    if type == [Int].self { return try Self.same(array(index) { try integer(Int.self, $0) }) }
    if type == [Int64].self { return try Self.same(array(index) { try integer(Int64.self, $0) }) }
    if type == [Double].self { return try Self.same(array(index) { try real($0) }) }
    if type == [String: String].self { return try Self.same(dictionary(index) { try string($0) }) }
    if type == [String: Int].self {
      return try Self.same(dictionary(index) { try integer(Int.self, $0) })
    }
    if type == [String: Double].self { return try Self.same(dictionary(index) { try real($0) }) }
    if type == [String: Bool].self { return try Self.same(dictionary(index) { try bool($0) }) }
    return try Value(from: JSONValueDecoder(reader: self, index: index))
  }

  /// The value as the type that it has: the caller has found that the two types are the same. A cast that may fail would
  /// look up the type of the Optional each time, in some 400 instructions.
  @inline(__always)
  private static func same<A, Value>(_ value: A) -> Value { unsafeBitCast(value, to: Value.self) }

  @inline(__always)
  func kind(_ index: Int) -> JSONTape.Kind { index < 0 ? .null : tape.entries[index].kind }

  func isNull(_ index: Int) -> Bool { kind(index) == .null }

  func string(_ index: Int) throws -> String {
    switch kind(index) {
    case .ascii, .string:
      let entry = tape.entries[index]
      return text(entry)
    case .escaped:
      let entry = tape.entries[index]
      guard let text = Self.unescaped(bytes[Int(entry.start)..<Int(entry.end)]) else {
        throw uncertain()
      }
      return text
    default: throw mismatch(String.self, index)
    }
  }

  private func text(_ entry: JSONTape.Entry) -> String {
    String(
      decoding: UnsafeBufferPointer(rebasing: bytes[Int(entry.start)..<Int(entry.end)]),
      as: UTF8.self)
  }

  func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ index: Int) throws -> Integer {
    guard kind(index) == .integer else {
      // 5.0 is an integer to Foundation.
      let number = try number(type, index)
      guard let whole = JSONNumber(number)?.integer, let integer = Integer(exactly: whole) else {
        throw uncertain()
      }
      return integer
    }
    let entry = tape.entries[index]
    let end = Int(entry.end)
    let isNegative = bytes[Int(entry.start)] == UInt8(ascii: "-")
    var place = Int(entry.start) + (isNegative ? 1 : 0)
    if end - place < 19 {
      var magnitude: Int64 = 0
      while place < end {
        magnitude = magnitude &* 10 &+ Int64(bytes[place] &- 0x30)
        place += 1
      }
      if let integer = Integer(exactly: isNegative ? -magnitude : magnitude) { return integer }
    } else if let integer = Integer(
      text(entry))
    {
      return integer
    }
    throw uncertain()
  }

  func real(_ index: Int) throws -> Double {
    let text = try number(Double.self, index)
    if let number = JSONNumber(text) { return number.double }
    // A number that is too large or too small is an error, or isn't.
    guard let value = Double(String(decoding: text, as: UTF8.self)), value.isNormal else {
      throw uncertain()
    }
    return value
  }

  private func float(_ index: Int) throws -> Float {
    let text = try number(Float.self, index)
    if let float = JSONNumber(text)?.float { return float }
    guard let value = Float(String(decoding: text, as: UTF8.self)), value.isNormal else {
      throw uncertain()
    }
    return value
  }

  private func decimal(_ index: Int) throws -> Decimal {
    guard let number = JSONNumber(try number(Decimal.self, index)) else { throw uncertain() }
    return number.decimal
  }

  private func number(
    _ type: any Any.Type, _ index: Int
  ) throws -> Slice<UnsafeBufferPointer<UInt8>> {
    let kind = kind(index)
    guard kind == .integer || kind == .number else { throw mismatch(type, index) }
    let entry = tape.entries[index]
    return bytes[Int(entry.start)..<Int(entry.end)]
  }

  func bool(_ index: Int) throws -> Bool {
    switch kind(index) {
    case .true: return true
    case .false: return false
    default: throw mismatch(Bool.self, index)
    }
  }

  private func date(_ index: Int) throws -> Date {
    let text = try string(index)
    // A text that isn't a date is an error of the decoder's strategy.
    guard let seconds = try? CivilTime.secondsSince1970(text) else { throw uncertain() }
    return Date(timeIntervalSince1970: seconds)
  }

  private func data(_ index: Int) throws -> Data {
    guard let data = Data(base64Encoded: try string(index)) else { throw uncertain() }
    return data
  }

  private func url(_ index: Int) throws -> URL {
    guard let url = URL(string: try string(index)) else { throw uncertain() }
    return url
  }

  private func array<Element>(
    _ index: Int, _ element: (Int) throws -> Element
  ) throws -> [Element] {
    guard kind(index) == .array else { throw mismatch([Element].self, index) }
    var elements: [Element] = []
    elements.reserveCapacity(Int(tape.entries[index].start))
    var place = index + 1
    let end = Int(tape.entries[index].end)
    while place < end {
      elements.append(try element(place))
      place = tape.next(place)
    }
    return elements
  }

  /// The text with its escapes resolved; nil if one of them isn't certainly right.
  private static func unescaped(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String? {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      guard index < bytes.endIndex else { return nil }
      let escape = bytes[index]
      index += 1
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(escape)
      case UInt8(ascii: "n"): result.append(0x0A)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "r"): result.append(0x0D)
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0C)
      case UInt8(ascii: "u"):
        guard var value = JSONTape.unit(bytes, index - 2) else { return nil }
        index += 4
        if value & 0xFC00 == 0xD800 {
          guard let low = JSONTape.unit(bytes, index), low & 0xFC00 == 0xDC00 else { return nil }
          index += 6
          value = 0x10000 + (value & 0x3FF) << 10 + (low & 0x3FF)
        }
        guard let scalar = Unicode.Scalar(value) else { return nil }
        result.append(contentsOf: String(scalar).utf8)
      default: return nil
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func dictionary<Element>(
    _ index: Int, _ element: (Int) throws -> Element
  ) throws -> [String: Element] {
    guard kind(index) == .object else { throw mismatch([String: Element].self, index) }
    let count = Int(tape.entries[index].start)
    var members: [String: Element] = [:]
    members.reserveCapacity(count)
    var key = index + 1
    let end = Int(tape.entries[index].end)
    while key < end {
      members[try string(key)] = try element(key + 1)
      key = tape.next(key + 1)
    }
    if members.count < count { throw uncertain() }
    return members
  }
}
