import CLibPQ
import FoundationEssentials
import Glibc
import LarderSQLite

/// Writes values of the server's binary formats as text: as the server writes them, or as JSON.
///
/// All bytes came from outside, so each length is checked: `Malformed` is thrown for any that don't fit.
struct ServerValueText {
  struct Malformed: Error {}

  private(set) var text: [UInt8] = []

  /// The text of a value of a type that isn't plain; nil for bytes that are no such value.
  static func text(of bytes: UnsafeRawBufferPointer, _ type: ServerType) -> [UInt8]? {
    var writer = ServerValueText()
    do { try writer.write(bytes, type) } catch { return nil }
    return writer.text
  }

  // MARK: The server's own text

  private mutating func write(_ bytes: UnsafeRawBufferPointer, _ type: ServerType) throws {
    var reader = WireReader(bytes)
    switch type {
    case .plain(let type): try writePlain(bytes, type)
    case .text: text += bytes
    case .time: text += Self.time(try reader.take(Int64.self)).utf8
    case .timeWithZone:
      text += Self.time(try reader.take(Int64.self)).utf8
      text += Self.offset(west: Int(try reader.take(Int32.self))).utf8
    case .interval:
      let (time, days, months) = (
        try reader.take(Int64.self), try reader.take(Int32.self), try reader.take(Int32.self)
      )
      text += IntervalText.text(microseconds: time, days: days, months: months).utf8
    case .network: text += try Self.network(&reader).utf8
    case .hardwareAddress:
      text += bytes.map { [$0].hexadecimal }.joined(separator: ":").utf8
    case .money: text += Self.money(try reader.take(Int64.self)).utf8
    case .bits:
      let count = Int(try reader.take(Int32.self))
      guard count >= 0, bytes.count == 4 + (count + 7) / 8 else { throw Malformed() }
      for index in 0..<count {
        let isSet = bytes[4 + index / 8] & (0x80 >> (index % 8)) != 0
        text.append(UInt8(ascii: isSet ? "1" : "0"))
      }
    case .logPosition:
      let position = try reader.take(UInt64.self)
      text +=
        [position >> 32, position & 0xFFFF_FFFF]
        .map { String($0, radix: 16, uppercase: true) }.joined(separator: "/").utf8
    case .range(let bound): try writeRange(bytes, bound)
    case .multirange(let bound):
      text.append(UInt8(ascii: "{"))
      for index in 0..<Int(max(0, try reader.take(Int32.self))) {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        guard let range = try reader.takeValue() else { throw Malformed() }
        try writeRange(range, bound)
      }
      text.append(UInt8(ascii: "}"))
    case .array, .composite, .pairs: try writeJSON(bytes, type)
    }
  }

  private mutating func writePlain(_ bytes: UnsafeRawBufferPointer, _ type: Oid) throws {
    switch type {
    case TypeOID.numeric:
      guard let number = NumericFormat.text(of: bytes) else { throw Malformed() }
      text += number.utf8
      return
    case TypeOID.timestamp, TypeOID.timestamptz:
      guard bytes.count == 8 else { throw Malformed() }
      return writeMoment(
        bytes.bigEndian(Int64.self), separator: " ", zone: type == TypeOID.timestamptz ? "+00" : "")
    case TypeOID.date:
      guard bytes.count == 4 else { throw Malformed() }
      text += Self.day(bytes.bigEndian(Int32.self)).utf8
      return
    case TypeOID.uuid:
      guard bytes.count == 16 else { throw Malformed() }
      text += UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString.lowercased().utf8
      return
    case TypeOID.bytea:
      text += "\\x".utf8
      text += [UInt8](bytes).hexadecimal.utf8
      return
    case TypeOID.float4 where bytes.count == 4:
      text += "\(Float(bitPattern: bytes.bigEndian(UInt32.self)))".utf8
      return
    default: break
    }
    let value = EngineValue(bytes, of: type)
    switch value.storageClass {
    case .integer where type == TypeOID.bool:
      text.append(UInt8(ascii: value.integer == 1 ? "t" : "f"))
    case .integer: text += "\(value.integer)".utf8
    case .real: text += "\(value.real)".utf8
    case .text: text += value.bytes
    case .blob, .null: throw Malformed()
    }
  }

  /// A range such as `[1,10)`. The first byte has a bit for each property: empty, bounds included, no bounds.
  ///
  /// See [Range Types](https://www.postgresql.org/docs/current/rangetypes.html).
  private mutating func writeRange(_ bytes: UnsafeRawBufferPointer, _ bound: ServerType) throws {
    var reader = WireReader(bytes)
    let flags = try reader.take(UInt8.self)
    if flags & 1 != 0 {
      text += "empty".utf8
      return
    }
    text.append(UInt8(ascii: flags & 2 != 0 ? "[" : "("))
    if flags & 8 == 0 { try writeBound(try reader.takeValue(), bound) }
    text.append(UInt8(ascii: ","))
    if flags & 16 == 0 { try writeBound(try reader.takeValue(), bound) }
    text.append(UInt8(ascii: flags & 4 != 0 ? "]" : ")"))
  }

  private mutating func writeBound(_ bytes: UnsafeRawBufferPointer?, _ type: ServerType) throws {
    guard let bytes else { throw Malformed() }
    var bound = ServerValueText()
    try bound.write(bytes, type)
    let special = Array("\"\\()[], \t\n\r".utf8)
    guard bound.text.isEmpty || bound.text.contains(where: special.contains) else {
      text += bound.text
      return
    }
    text.append(UInt8(ascii: "\""))
    for byte in bound.text {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(byte) }
      text.append(byte)
    }
    text.append(UInt8(ascii: "\""))
  }

  // MARK: JSON

  private mutating func writeJSON(_ bytes: UnsafeRawBufferPointer, _ type: ServerType) throws {
    switch type {
    case .array(let element): try writeArray(bytes, element)
    case .composite(let members): try writeComposite(bytes, members)
    case .pairs: try writePairs(bytes)
    case .plain(let plain): try writeJSON(bytes, plain: plain)
    case .money: try write(bytes, type)
    default: try writeQuoted(bytes, type)
    }
  }

  private mutating func writeJSON(_ bytes: UnsafeRawBufferPointer, plain type: Oid) throws {
    switch type {
    case TypeOID.json: text += bytes
    case TypeOID.jsonb: try write(bytes, .plain(type))
    case TypeOID.bool:
      guard bytes.count == 1 else { throw Malformed() }
      text += (bytes[0] == 0 ? "false" : "true").utf8
    case TypeOID.bytea: text += "\"\(Data(bytes).base64EncodedString())\"".utf8
    case TypeOID.timestamp, TypeOID.timestamptz:
      guard bytes.count == 8 else { throw Malformed() }
      text.append(UInt8(ascii: "\""))
      writeMoment(
        bytes.bigEndian(Int64.self), separator: "T", zone: type == TypeOID.timestamptz ? "Z" : "")
      text.append(UInt8(ascii: "\""))
    case TypeOID.uuid:
      guard bytes.count == 16 else { throw Malformed() }
      text += "\"\(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString)\"".utf8
    case TypeOID.int8, TypeOID.int4, TypeOID.int2, TypeOID.oid, TypeOID.numeric, TypeOID.float8,
      TypeOID.float4:
      var number = ServerValueText()
      try number.write(bytes, .plain(type))
      // NaN and the infinities aren't JSON's numbers.
      let isNumber = number.text.last.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
      text += isNumber ? number.text : Array("\"".utf8) + Self.plain(number.text) + Array("\"".utf8)
    default: try writeQuoted(bytes, .plain(type))
    }
  }

  /// The server's names of NaN and the infinities, which Swift writes otherwise.
  private static func plain(_ number: [UInt8]) -> [UInt8] {
    switch String(decoding: number, as: UTF8.self) {
    case "inf": Array("Infinity".utf8)
    case "-inf": Array("-Infinity".utf8)
    case "nan": Array("NaN".utf8)
    default: number
    }
  }

  private mutating func writeQuoted(_ bytes: UnsafeRawBufferPointer, _ type: ServerType) throws {
    var value = ServerValueText()
    try value.write(bytes, type)
    text += String(decoding: value.text, as: UTF8.self).quotedJSON.utf8
  }

  private mutating func writeValue(
    _ bytes: UnsafeRawBufferPointer?, _ type: ServerType
  ) throws {
    if let bytes { try writeJSON(bytes, type) } else { text += "null".utf8 }
  }

  /// An array: the number of dimensions, whether there are NULLs, the elements' type, each dimension's length
  /// and first index, and the elements in order.
  private mutating func writeArray(_ bytes: UnsafeRawBufferPointer, _ element: ServerType) throws {
    var reader = WireReader(bytes)
    let dimensions = Int(try reader.take(Int32.self))
    _ = try reader.take(Int32.self)
    _ = try reader.take(Int32.self)
    guard 0...6 ~= dimensions else { throw Malformed() }
    var lengths: [Int] = []
    for _ in 0..<dimensions {
      let length = Int(try reader.take(Int32.self))
      _ = try reader.take(Int32.self)
      guard length >= 0 else { throw Malformed() }
      lengths.append(length)
    }
    if lengths.isEmpty {
      text += "[]".utf8
    } else {
      try writeElements(&reader, lengths[...], element)
    }
  }

  private mutating func writeElements(
    _ reader: inout WireReader, _ lengths: ArraySlice<Int>, _ element: ServerType
  ) throws {
    guard let length = lengths.first else { return try writeValue(reader.takeValue(), element) }
    text.append(UInt8(ascii: "["))
    for index in 0..<length {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      try writeElements(&reader, lengths.dropFirst(), element)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// A composite value as an object: the number of members, and each member's type and value.
  private mutating func writeComposite(
    _ bytes: UnsafeRawBufferPointer, _ members: [(name: String, type: ServerType)]
  ) throws {
    var reader = WireReader(bytes)
    guard Int(try reader.take(Int32.self)) == members.count else { throw Malformed() }
    text.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += member.name.quotedJSON.utf8
      text.append(UInt8(ascii: ":"))
      _ = try reader.take(Int32.self)
      try writeValue(reader.takeValue(), member.type)
    }
    text.append(UInt8(ascii: "}"))
  }

  private mutating func writePairs(_ bytes: UnsafeRawBufferPointer) throws {
    var reader = WireReader(bytes)
    text.append(UInt8(ascii: "{"))
    for index in 0..<Int(max(0, try reader.take(Int32.self))) {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      guard let key = try reader.takeValue() else { throw Malformed() }
      try writeQuoted(key, .text)
      text.append(UInt8(ascii: ":"))
      try writeValue(reader.takeValue(), .text)
    }
    text.append(UInt8(ascii: "}"))
  }

  // MARK: Times

  private mutating func writeMoment(_ microseconds: Int64, separator: String, zone: String) {
    if microseconds == .max || microseconds == .min {
      text += (microseconds < 0 ? "-infinity" : "infinity").utf8
      return
    }
    let perDay = ServerTime.microsecondsPerDay
    let day = microseconds / perDay - (microseconds % perDay < 0 ? 1 : 0)
    let (date, era) = Self.civilDay(day)
    text += "\(date)\(separator)\(Self.time(microseconds - day * perDay))\(zone)\(era)".utf8
  }

  private static func day(_ day: Int32) -> String {
    if day == .max { return "infinity" }
    if day == .min { return "-infinity" }
    let (date, era) = civilDay(Int64(day))
    return date + era
  }

  private static func civilDay(_ day: Int64) -> (date: String, era: String) {
    let (year, month, day) = CivilTime.calendarDay(daysSince1970: Int(day + ServerTime.dayOf2000))
    let shown = year > 0 ? year : 1 - year
    return ("\(padded(shown, 4))-\(padded(month, 2))-\(padded(day, 2))", year > 0 ? "" : " BC")
  }

  /// The time of day, without zeros at the end of its fraction.
  static func time(_ microseconds: Int64) -> String {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let time = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded(Int($0), 2) }
    return time.joined(separator: ":") + fraction(Int(rest))
  }

  static func fraction(_ microseconds: Int) -> String {
    if microseconds == 0 { return "" }
    var digits = padded(microseconds, 6)[...]
    while digits.last == "0" { digits.removeLast() }
    return ".\(digits)"
  }

  static func padded(_ number: Int, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// The offset of a zone that lies this many seconds west.
  private static func offset(west seconds: Int) -> String {
    let size = abs(seconds)
    var parts = [size / 3600, size / 60 % 60, size % 60]
    while parts.count > 1, parts.last == 0 { parts.removeLast() }
    return (seconds > 0 ? "-" : "+") + parts.map { padded($0, 2) }.joined(separator: ":")
  }

  // MARK: Other types

  /// Money has two digits after the point here, as in nearly all of the server's settings of `lc_monetary`.
  private static func money(_ cents: Int64) -> String {
    let size = cents.magnitude
    return "\(cents < 0 ? "-" : "")\(size / 100).\(padded(Int(size % 100), 2))"
  }

  /// An address of a host or network: the family, the bits of the mask, whether it is a network, the number of
  /// bytes, and the bytes.
  private static func network(_ reader: inout WireReader) throws -> String {
    let family = try reader.take(UInt8.self)
    let mask = Int(try reader.take(UInt8.self))
    let isNetwork = try reader.take(UInt8.self) != 0
    let count = Int(try reader.take(UInt8.self))
    let bytes = try reader.take(count: count)
    let isIPv4 = family == 2
    guard count == (isIPv4 ? 4 : 16) else { throw Malformed() }
    let address = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes.baseAddress, text.baseAddress, 64)
        .map { String(cString: $0) }
    }
    guard let address else { throw Malformed() }
    return isNetwork || mask != 8 * count ? "\(address)/\(mask)" : address
  }
}

/// Reads integers and values of a known length one after the other.
struct WireReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func take<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    guard bytes.count - offset >= MemoryLayout<Number>.size else {
      throw ServerValueText.Malformed()
    }
    defer { offset += MemoryLayout<Number>.size }
    return bytes.bigEndian(Number.self, at: offset)
  }

  mutating func take(count: Int) throws -> UnsafeRawBufferPointer {
    guard count >= 0, bytes.count - offset >= count else { throw ServerValueText.Malformed() }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Whether all bytes were taken.
  var isAtEnd: Bool { offset == bytes.count }

  mutating func takeRest() throws -> UnsafeRawBufferPointer {
    try take(count: bytes.count - offset)
  }

  /// The text before the next NUL.
  mutating func takeString() throws -> String {
    guard let end = bytes[offset...].firstIndex(of: 0) else { throw ServerValueText.Malformed() }
    defer { offset = end + 1 }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }

  /// The next value, which follows its length; nil for NULL, whose length is -1.
  mutating func takeValue() throws -> UnsafeRawBufferPointer? {
    let length = Int(try take(Int32.self))
    return length == -1 ? nil : try take(count: length)
  }
}
