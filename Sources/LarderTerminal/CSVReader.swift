/// Reads a CSV file in pieces, one record at a time.
///
/// It follows [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180) strictly: a malformed record is an error,
/// and nothing is guessed. Lines may end with LF alone.
package final class CSVReader: RecordReader {
  package private(set) var line = 0
  // Accessed for each field, by one user at a time: the dynamic exclusivity checks took 5 % of an import.
  @exclusivity(unchecked) private var input: InputBuffer
  private let delimiter: UInt8
  /// The length limit of a record: without one, a quote that is never closed would swallow the whole file.
  private let mostBytes: Int
  @exclusivity(unchecked) private var fields: [CSVField] = []

  /// - Parameters:
  ///   - path: the file's path; `-` for the standard input.
  ///   - delimiter: the byte between two fields.
  ///   - mostBytes: the length limit of a record.
  package init(path: String, delimiter: UInt8 = comma, mostBytes: Int = 1 << 20) throws {
    input = try InputBuffer(path: path)
    self.delimiter = delimiter
    self.mostBytes = mostBytes
  }

  package var partRead: Double { input.partRead }

  package var fieldCount: Int { fields.count }

  /// Reads the next record. After a malformed record, the next call continues on the line after the one on
  /// which that record began.
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
        // The fields are ranges of the buffer, which `fill` changes.
        fields.removeAll(keepingCapacity: true)
        try input.fill()
      }
    }
  }

  package func setMark() { input.setMark() }
  package func rewind() { input.rewind() }

  /// The raw bytes of a field of the record: quotes inside it are still doubled.
  package func bytes(_ index: Int) -> ArraySlice<UInt8> { input.bytes[fields[index].range] }

  package func isQuoted(_ index: Int) -> Bool { fields[index].isQuoted }

  /// Calls a closure with the bytes of a field of the record, which are valid only during the call.
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

  /// A field of the record as text. Throws ``BadLine`` if it isn't UTF-8.
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

struct CSVField {
  /// The field's bytes, without the enclosing quotes.
  var range: Range<Int>
  var isQuoted = false
  /// Whether the field contains quotes, which are doubled.
  var hasQuotes = false
}

package let comma = UInt8(ascii: ",")
let quote = UInt8(ascii: "\"")
let newline = UInt8(ascii: "\n")
