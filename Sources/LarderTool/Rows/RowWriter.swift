import FoundationEssentials
import Larder
import LarderTerminal

/// Writes rows as CSV or JSON Lines, directly from the bytes of their values.
struct RowWriter: ~Copyable {
  private let format: RowFormat
  private let names: [String]
  private let forms: [ColumnForm]
  /// `"name": ` for each column, with the separator before it.
  private let keys: [[UInt8]]
  private var output: ByteOutput
  private(set) var count = 0

  init(
    _ format: RowFormat, names: [String], forms: [ColumnForm], header: Bool,
    _ output: consuming ByteOutput
  ) {
    self.format = format
    self.names = names
    self.forms = forms
    keys = names.enumerated().map { index, name in
      Array(((index == 0 ? "{" : ", ") + JSONText.quoted(name) + ": ").utf8)
    }
    self.output = output
    if header { writeHeader() }
  }

  private mutating func writeHeader() {
    guard case .csv(let delimiter, let null) = format else { return }
    for (index, name) in names.enumerated() {
      if index > 0 { output.bytes.append(delimiter) }
      var name = name
      name.withUTF8 { $0.writeCSV(delimiter, null, .text, to: &output.bytes) }
    }
    output.bytes.append(UInt8(ascii: "\n"))
  }

  mutating func finish() throws { try output.finish() }

  mutating func write(_ rows: ResultSet) throws {
    count += 1
    for index in forms.indices {
      let reader = try rows.reader(at: index)
      switch format {
      case .csv(let delimiter, let null):
        if index > 0 { output.bytes.append(delimiter) }
        if reader.storageClass == .null { output.bytes += null }
      case .jsonLines:
        output.bytes += keys[index]
        if reader.storageClass == .null { output.bytes += "null".utf8 }
      }
      switch reader.storageClass {
      case .null: break
      case .integer: output.bytes.append(integer: reader.integer)
      case .real: output.bytes.append(real: reader.real)
      case .text: try writeText(reader, index)
      case .blob: try reader.withUnsafeBytes { writeBlob($0) }
      }
    }
    if case .jsonLines = format { output.bytes.append(UInt8(ascii: "}")) }
    output.bytes.append(UInt8(ascii: "\n"))
    try output.writeIfFull()
  }

  private mutating func writeBlob(_ blob: UnsafeRawBufferPointer) {
    if case .jsonLines = format {
      output.bytes += "{\"base64\": \"\(Data(blob).base64EncodedString())\"}".utf8
    } else {
      output.bytes += "x'".utf8
      output.bytes.append(hexadecimal: blob)
      output.bytes.append(UInt8(ascii: "'"))
    }
  }

  /// Writes a text. Throws ``Failure`` if it isn't UTF-8.
  private mutating func writeText(_ reader: ColumnReader, _ index: Int) throws {
    do {
      try reader.withUnsafeBytes { bytes in
        try bytes.withMemoryRebound(to: UInt8.self) { bytes in
          guard bytes.isUTF8 else { throw ConversionError(.malformed, String.self) }
          switch format {
          case .csv(let delimiter, let null):
            bytes.writeCSV(delimiter, null, forms[index], to: &output.bytes)
          case .jsonLines: bytes.writeJSON(to: &output.bytes)
          }
        }
      }
    } catch is ConversionError {
      throw Failure(
        """
        row \(count), column “\(names[index])”: the text isn't valid in its encoding; \
        export it as a blob, by --query with CAST(… AS BLOB)
        """)
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether this is valid UTF-8. ASCII is recognized by vectors of bytes.
  var isUTF8: Bool {
    if reduce(0, |) < 0x80 { return true }
    do {
      _ = try UTF8Span(validating: span)
      return true
    } catch {
      return false
    }
  }

  /// Writes the text as a CSV field, in quotes if the column would otherwise read it as another value.
  fileprivate func writeCSV(
    _ delimiter: UInt8, _ null: [UInt8], _ form: ColumnForm, to output: inout [UInt8]
  ) {
    var isSpecial = false
    var hasQuote = false
    for byte in self {
      // Bytes above the quote (0x22), apart from the delimiter, need no quotes.
      if byte > 0x22 && byte != delimiter { continue }
      if byte == UInt8(ascii: "\"") { hasQuote = true }
      if byte != UInt8(ascii: " ") || delimiter == UInt8(ascii: " ") { isSpecial = true }
    }
    guard
      hasQuote || isSpecial || isEmpty || mayBeTakenForAnother(in: form) || elementsEqual(null)
    else { return output.append(contentsOf: self) }
    output.append(UInt8(ascii: "\""))
    if hasQuote {
      for byte in self {
        if byte == UInt8(ascii: "\"") { output.append(byte) }
        output.append(byte)
      }
    } else {
      output.append(contentsOf: self)
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Whether the column would read the text without quotes as a number or a blob. A text that begins with a
  /// space is quoted too, since few other programs keep the space otherwise.
  private func mayBeTakenForAnother(in form: ColumnForm) -> Bool {
    let first = self[0]
    if first == UInt8(ascii: " ") || BlobLiteral.mayBegin(self) { return true }
    switch form {
    case .text: return false
    case .integer, .real: return true
    case .numeric, .any: return first.decimalDigit != nil || "+-.".utf8.contains(first)
    }
  }

  fileprivate func writeJSON(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var start = 0
    for (index, byte) in enumerated() {
      if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte != 0x7F {
        continue
      }
      output.append(contentsOf: self[start..<index])
      start = index + 1
      switch byte {
      case UInt8(ascii: "\""): output += "\\\"".utf8
      case UInt8(ascii: "\\"): output += "\\\\".utf8
      case UInt8(ascii: "\n"): output += "\\n".utf8
      case UInt8(ascii: "\t"): output += "\\t".utf8
      case UInt8(ascii: "\r"): output += "\\r".utf8
      default:
        output += "\\u00".utf8
        output.append(hexadecimalDigits: byte)
      }
    }
    output.append(contentsOf: self[start...])
    output.append(UInt8(ascii: "\""))
  }
}
