/// Reads a file of comma-separated values record by record, in pieces, as
/// [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180) says, and is strict about it: what isn't in that
/// form is an error, and not guessed. Lines may end with LF alone.
package final class CSVReader: RecordReader {
  package private(set) var line = 0
  // Asked for each field, and of one user at a time: to check that each time took a twentieth of an import.
  @exclusivity(unchecked) private var input: InputBuffer
  private let delimiter: UInt8
  /// No record is longer than this: a quote that is never closed would swallow the whole file.
  private let mostBytes: Int
  @exclusivity(unchecked) private var fields: [CSVField] = []

  /// - Parameters:
  ///   - path: the file's; `-` for the standard input.
  ///   - delimiter: what stands between two fields.
  ///   - mostBytes: the length of the longest record.
  package init(path: String, delimiter: UInt8 = comma, mostBytes: Int = 1 << 20) throws {
    input = try InputBuffer(path: path)
    self.delimiter = delimiter
    self.mostBytes = mostBytes
  }

  package var partRead: Double { input.partRead }

  package var fieldCount: Int { fields.count }

  /// Reads the next record. After one that is malformed the next call goes on with the line behind the one it
  /// began on.
  package func next() throws -> Bool {
    line = input.nextLine
    while true {
      let found = input.bytes.withUnsafeBufferPointer { bytes in
        CSVScanner(
          bytes: bytes, delimiter: delimiter, isAtEnd: input.isAtEnd, mostBytes: mostBytes
        ).scan(from: input.start, into: &fields)
      }
      switch found {
      case .record(let end, let lines):
        input.advance(to: end, lines: lines)
        return true
      case .problem(let problem):
        let bytes = input.bytes
        let end = bytes[input.start...].firstIndex(of: newline).map { $0 + 1 } ?? bytes.endIndex
        input.advance(to: end, lines: 1)
        throw BadLine(line: line, problem: problem)
      case .incomplete:
        if input.isAtEnd { return false }
        // The fields of the last record go with it.
        fields.removeAll(keepingCapacity: true)
        try input.fill()
      }
    }
  }

  package func setMark() { input.setMark() }
  package func rewind() { input.rewind() }

  /// The bytes of a field of the record; quotes inside of it are doubled.
  package func bytes(_ index: Int) -> ArraySlice<UInt8> { input.bytes[fields[index].range] }

  /// Whether a field of the record stands in quotes.
  package func isQuoted(_ index: Int) -> Bool { fields[index].isQuoted }

  /// Calls a closure with the bytes of a field of the record, which are good inside of it only.
  package func withBytes<T>(
    _ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> T
  ) rethrows -> T {
    let field = fields[index]
    if field.hasQuotes {
      return try Self.withoutDoubling(input.bytes[field.range]).withUnsafeBufferPointer(body)
    }
    return try input.bytes.withUnsafeBufferPointer {
      try body(UnsafeBufferPointer(rebasing: $0[field.range]))
    }
  }

  /// A field of the record as text. Throws ``BadLine`` where it isn't UTF-8.
  package func text(_ index: Int) throws -> String {
    guard let text = withBytes(index, { String(validating: $0, as: UTF8.self) }) else {
      throw BadLine(line: line, problem: "the text is not valid UTF-8")
    }
    return text
  }

  private static func withoutDoubling(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var isSecond = false
    for byte in bytes {
      isSecond = byte == quote && !isSecond
      if !isSecond { result.append(byte) }
    }
    return result
  }
}

/// A field of a record.
struct CSVField {
  /// Without its quotes.
  var range: Range<Int>
  var isQuoted = false
  /// Whether there are quotes in it, which are doubled.
  var hasQuotes = false
}

package let comma = UInt8(ascii: ",")
let quote = UInt8(ascii: "\"")
let newline = UInt8(ascii: "\n")
