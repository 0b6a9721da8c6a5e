import FoundationEssentials
import Larder
import LarderTerminal

// The forms of rows that programs read. Values are written from SQLite's own bytes: a String of each takes
// longer than everything else.

/// A text that isn't valid in its encoding: a program would take replacement characters for the text.
struct UnreadableText: Error {
  let column: Int
}

/// An array of JSON objects, one in a line.
struct JSONRows: RowForm {
  /// `"name": ` for each column, with everything between it and the value before.
  private let keys: [[UInt8]]
  private var isFirst = true

  init(_ names: [String]) {
    keys = names.enumerated().map { index, name in
      Array(((index == 0 ? "{" : ", ") + JSONText.quoted(name) + ": ").utf8)
    }
  }

  mutating func begin(_ output: inout [UInt8]) {}

  mutating func write(_ rows: ResultSet, to output: inout [UInt8]) throws {
    output += isFirst ? Self.beforeFirst : Self.beforeOther
    isFirst = false
    for index in keys.indices {
      output += keys[index]
      let reader = try rows.reader(at: index)
      switch reader.storageClass {
      case .null: output += Self.null
      case .integer: output.append(integer: reader.integer)
      // JSON has no infinity, but parsers read a number beyond Double's range as one.
      case .real: output.append(real: reader.real)
      case .text: try reader.withText(of: index) { $0.writeJSONForTerminal(to: &output) }
      case .blob:
        try reader.withUnsafeBytes { output += "\"\(Data($0).base64EncodedString())\"".utf8 }
      }
    }
    output.append(UInt8(ascii: "}"))
  }

  mutating func end(_ output: inout [UInt8]) { output += (isFirst ? "[]\n" : "\n]\n").utf8 }

  private static let beforeFirst = Array("[\n  ".utf8)
  private static let beforeOther = Array(",\n  ".utf8)
  private static let null = Array("null".utf8)
}

/// Comma-separated values: nothing for NULL, quotes for an empty text, hexadecimal digits for a blob.
struct CSVRows: RowForm {
  private let names: [String]

  init(_ names: [String]) { self.names = names }

  mutating func begin(_ output: inout [UInt8]) {
    for (index, name) in names.enumerated() {
      if index > 0 { output.append(comma) }
      var name = name
      name.withUTF8 { $0.writeField(to: &output) }
    }
    output.append(UInt8(ascii: "\n"))
  }

  mutating func write(_ rows: ResultSet, to output: inout [UInt8]) throws {
    for index in names.indices {
      if index > 0 { output.append(comma) }
      let reader = try rows.reader(at: index)
      switch reader.storageClass {
      case .null: break
      case .integer: output.append(integer: reader.integer)
      case .real: output.append(description: reader.real)
      case .text: try reader.withText(of: index) { $0.writeField(to: &output) }
      case .blob: try reader.withUnsafeBytes { output.append(hexadecimal: $0) }
      }
    }
    output.append(UInt8(ascii: "\n"))
  }

  mutating func end(_ output: inout [UInt8]) {}
}

extension ColumnReader {
  /// Calls a closure with the bytes of a text. Throws ``UnreadableText`` if it isn't UTF-8.
  fileprivate func withText(
    of column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) throws {
    do {
      try withUnsafeBytes { bytes in
        try bytes.withMemoryRebound(to: UInt8.self) { bytes in
          guard bytes.isUTF8 else { throw UnreadableText(column: column) }
          body(bytes)
        }
      }
    } catch is ConversionError {
      throw UnreadableText(column: column)
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Writes the text as a CSV field.
  fileprivate func writeField(to output: inout [UInt8]) {
    // Branches would keep the compiler from comparing vectors of bytes.
    var quotes: UInt8 = 0
    var others: UInt8 = isEmpty ? 1 : 0
    for byte in self {
      quotes |= byte == UInt8(ascii: "\"") ? 1 : 0
      others |= byte == UInt8(ascii: ",") ? 1 : 0
      others |= byte == UInt8(ascii: " ") ? 1 : 0
      others |= byte == UInt8(ascii: "\n") ? 1 : 0
      others |= byte == UInt8(ascii: "\r") ? 1 : 0
    }
    guard quotes | others != 0 else { return output.append(contentsOf: self) }
    output.append(UInt8(ascii: "\""))
    if quotes == 0 {
      output.append(contentsOf: self)
    } else {
      for byte in self {
        if byte == UInt8(ascii: "\"") { output.append(byte) }
        output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Writes the text, which is valid UTF-8, as a JSON string with escapes for the characters that would
  /// change a terminal, like ``JSONText/quoted(_:)``.
  fileprivate func writeJSONForTerminal(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var special: UInt8 = 0
    for byte in self {
      // Below a space, or above “~”.
      special |= byte &- 0x20 > 0x5E ? 1 : 0
      special |= byte == UInt8(ascii: "\"") ? 1 : 0
      special |= byte == UInt8(ascii: "\\") ? 1 : 0
    }
    if special == 0 { output.append(contentsOf: self) } else { writeEscaped(to: &output) }
    output.append(UInt8(ascii: "\""))
  }

  private func writeEscaped(to output: inout [UInt8]) {
    var start = 0
    var index = 0
    while index < count {
      guard let (scalar, length) = escaped(at: index) else {
        index += 1
        continue
      }
      output.append(contentsOf: self[start..<index])
      output += JSONText.escape(scalar).utf8
      index += length
      start = index
    }
    output.append(contentsOf: self[start...])
  }

  /// The character at a place, and its number of bytes, if JSON for a terminal escapes it. Apart from ASCII
  /// these characters begin with two bytes only.
  @inline(__always)
  private func escaped(at index: Int) -> (Unicode.Scalar, length: Int)? {
    let byte = self[index]
    let value: UInt32
    let length: Int
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7F:
      (value, length) = (UInt32(byte), 1)
    case 0xC2 where self[index + 1] < 0xA0: (value, length) = (UInt32(self[index + 1]), 2)
    case 0xE2 where self[index + 1] <= 0x81:
      value = 0x2000 | UInt32(self[index + 1] & 0x3F) << 6 | UInt32(self[index + 2] & 0x3F)
      length = 3
    default: return nil
    }
    guard let scalar = Unicode.Scalar(value), length < 3 || scalar.changesTerminal else {
      return nil
    }
    return (scalar, length)
  }
}
