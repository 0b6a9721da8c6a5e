import LarderSQLite

/// The values of a row's ordering terms as URL-safe base 64: a version, checksums of the query's order and
/// of the values, and the values.
struct PageCursor {
  let values: [DatabaseValue]

  init(_ values: [DatabaseValue]) { self.values = values }

  private static let version: UInt8 = 1

  private static func order(_ keys: [PageKey]) -> UInt32 {
    sum(
      keys.flatMap {
        Array("\($0.text)|\($0.isDescending)|\($0.nullsFirst);".utf8)
      })
  }

  /// The FNV-1a checksum, which detects accidental changes, not deliberate ones.
  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
  }

  func text(_ keys: [PageKey]) -> String {
    var body: [UInt8] = []
    func append(_ tag: UInt8, _ bytes: some Collection<UInt8>) {
      body.append(tag)
      if tag >= 3 { body += Self.bytes(UInt64(bytes.count)) }
      body += bytes
    }
    for value in values {
      switch value {
      case .null: append(0, [])
      case .integer(let number): append(1, Self.bytes(UInt64(bitPattern: number)))
      case .real(let number): append(2, Self.bytes(number.bitPattern))
      case .text(let text): append(3, Array(text.utf8))
      case .blob(let bytes): append(4, bytes)
      }
    }
    let bytes = [Self.version] + Self.bytes(Self.order(keys)) + Self.bytes(Self.sum(body)) + body
    return URLBase64.text(of: bytes)
  }

  init(_ text: String, _ keys: [PageKey]) throws {
    guard let bytes = URLBase64.bytes(of: text) else { throw PageError.malformedCursor }
    var rest = bytes[...]
    func take(_ count: UInt64) throws -> ArraySlice<UInt8> {
      guard count <= UInt64(rest.count) else { throw PageError.malformedCursor }
      defer { rest = rest.dropFirst(Int(count)) }
      return rest.prefix(Int(count))
    }
    func integer(_ count: UInt64) throws -> UInt64 {
      try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard try integer(1) == UInt64(Self.version) else { throw PageError.malformedCursor }
    let order = try integer(4)
    guard try integer(4) == UInt64(Self.sum(rest)) else { throw PageError.malformedCursor }
    guard order == UInt64(Self.order(keys)) else { throw PageError.otherQuery }
    var values: [DatabaseValue] = []
    while !rest.isEmpty {
      // However many values a text holds, no more are decoded than the query has terms.
      guard values.count < keys.count else { throw PageError.malformedCursor }
      switch try integer(1) {
      case 0: values.append(.null)
      case 1: values.append(.integer(Int64(bitPattern: try integer(8))))
      case 2:
        let number = Double(bitPattern: try integer(8))
        guard !number.isNaN else { throw PageError.malformedCursor }
        values.append(.real(number))
      case 3: values.append(.text(String(decoding: try take(integer(8)), as: UTF8.self)))
      case 4: values.append(.blob(Array(try take(integer(8)))))
      default: throw PageError.malformedCursor
      }
    }
    guard values.isEmpty || values.count == keys.count else { throw PageError.malformedCursor }
    self.values = values
  }

  private static func bytes<I: FixedWidthInteger>(_ number: I) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
