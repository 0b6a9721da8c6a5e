import Larder
import LarderTerminal

/// A value on one line of a terminal, as ``DatabaseValue/plain`` is, made from SQLite's own bytes.
struct TableCell {
  private(set) var bytes: [UInt8] = []
  /// The number of terminal columns that it takes.
  private(set) var width = 0
  /// Whether it is the beginning of a longer value.
  private(set) var isCut = false

  private static let null = Array("NULL".utf8)
  private static let ellipsis = Array("…".utf8)
  private static let lineBreak = Array("⏎".utf8)
  private static let space = Array(" ".utf8)
  private static let replacement = Array("\u{FFFD}".utf8)

  init() {}

  init(_ text: String) {
    bytes = Array(text.utf8)
    width = text.displayWidth
  }

  /// Takes the value of a column, cut to a number of terminal columns.
  mutating func read(_ reader: ColumnReader, _ limit: Int?) throws {
    bytes.removeAll(keepingCapacity: true)
    isCut = false
    switch reader.storageClass {
    case .null: bytes += Self.null
    case .integer: bytes.append(integer: reader.integer)
    case .real: bytes.append(description: reader.real)
    case .text:
      return try reader.withUnsafeBytes { text in
        text.withMemoryRebound(to: UInt8.self) { read(text: $0, limit) }
      }
    case .blob: return try reader.withUnsafeBytes { read(blob: $0, limit) }
    }
    width = bytes.count
    cut(to: limit)
  }

  private mutating func read(blob: UnsafeRawBufferPointer, _ limit: Int?) {
    bytes += "x'".utf8
    bytes.append(hexadecimal: UnsafeRawBufferPointer(rebasing: blob.prefix(16)))
    bytes.append(UInt8(ascii: "'"))
    width = bytes.count
    if blob.count > 16 {
      let rest = "… (\(blob.count) bytes)"
      bytes += rest.utf8
      width += rest.displayWidth
    }
    cut(to: limit)
  }

  private mutating func read(text: UnsafeBufferPointer<UInt8>, _ limit: Int?) {
    // Whatever follows can't change how a beginning in ASCII is cut.
    let beginning = limit.map { UnsafeBufferPointer(rebasing: text.prefix($0 + 1)) } ?? text
    guard beginning.isPrintableASCII else { return readUnicode(text, limit) }
    if let limit, text.count > limit {
      bytes.append(contentsOf: text.prefix(limit - 1))
      bytes += Self.ellipsis
      width = limit
      isCut = true
    } else {
      bytes.append(contentsOf: text)
      width = text.count
    }
  }

  private mutating func readUnicode(_ text: UnsafeBufferPointer<UInt8>, _ limit: Int?) {
    guard text.isUTF8 else {
      var repaired = String(decoding: text, as: UTF8.self)
      return repaired.withUTF8 { readUnicode($0, limit) }
    }
    width = 0
    var index = 0
    // Where the characters begin that are taken as they are.
    var start = 0
    while index < text.count, width <= limit ?? .max {
      let (scalar, length) = text.scalar(at: index)
      if scalar.changesTerminal {
        bytes.append(contentsOf: text[start..<index])
        start = index + length
        if scalar != "\r" || start == text.count || text[start] != UInt8(ascii: "\n") {
          bytes += Self.replacement(of: scalar)
          width += 1
        }
      } else {
        width += scalar.displayWidth
      }
      index += length
    }
    bytes.append(contentsOf: text[start..<index])
    cut(to: limit)
  }

  /// What is shown for a character that would change the terminal; it takes one column.
  private static func replacement(of scalar: Unicode.Scalar) -> [UInt8] {
    switch scalar {
    case "\n": lineBreak
    case "\t": space
    default: replacement
    }
  }

  /// Cuts the bytes, which hold at least the beginning that fits.
  private mutating func cut(to limit: Int?) {
    guard let limit, width > limit else { return }
    self = TableCell(String(decoding: bytes, as: UTF8.self).cut(to: limit))
    isCut = true
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether each byte is a character of its own that takes one column. Without branches, vectors of bytes
  /// are compared.
  fileprivate var isPrintableASCII: Bool {
    var others: UInt8 = 0
    for byte in self { others |= byte &- 0x20 > 0x5E ? 1 : 0 }
    return others == 0
  }

  /// The character at a place of valid UTF-8, and its number of bytes.
  @inline(__always)
  fileprivate func scalar(at index: Int) -> (Unicode.Scalar, length: Int) {
    func rest(_ distance: Int) -> UInt32 { UInt32(self[index + distance] & 0x3F) }
    let first = UInt32(self[index])
    let value: UInt32
    let length: Int
    switch first {
    case 0..<0x80: (value, length) = (first, 1)
    case 0..<0xE0: (value, length) = ((first & 0x1F) << 6 | rest(1), 2)
    case 0..<0xF0: (value, length) = ((first & 0xF) << 12 | rest(1) << 6 | rest(2), 3)
    default:
      (value, length) = ((first & 7) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4)
    }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
  }
}

extension String {
  /// The text, cut to a width in terminal columns, with “…” at its end if it is longer.
  func cut(to width: Int) -> String {
    guard displayWidth > width else { return self }
    var shown = ""
    var taken = 0
    for character in self {
      let wide = String(character).displayWidth
      guard taken + wide < width else { break }
      taken += wide
      shown.append(character)
    }
    return shown + "…"
  }
}
