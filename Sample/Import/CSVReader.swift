import Glibc

/// Reads a file of comma-separated values record by record, in pieces, as
/// [RFC 4180](https://www.rfc-editor.org/rfc/rfc4180) says, and is strict about it: what isn't in that
/// form is an error, and not guessed. Lines may end with LF alone.
final class CSVReader {
  /// The number of the line that the record begins on, from 1.
  private(set) var line = 0
  /// How many bytes of the file belong to records that were read.
  private(set) var bytesRead = 0
  /// The size of the file in bytes; 0 where it isn't known.
  let size: Int

  private let file: InputFile
  private var buffer: [UInt8] = []
  /// Where the next record begins in the buffer.
  private var start = 0
  private var nextLine = 1
  private var isAtEnd = false
  private var fields: [Field] = []

  /// No record is longer than this: a quote that is never closed would swallow the whole file.
  private static let mostBytes = 1 << 20

  private struct Field {
    var range: Range<Int>
    /// Whether there are quotes in it, which are doubled.
    var hasQuotes = false
  }

  init(path: String) throws {
    file = try InputFile(path: path)
    size = file.size
    try fill()
    if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
  }

  var fieldCount: Int { fields.count }

  /// Reads the next record. Returns false at the end of the file; throws ``BadLine`` for a record that
  /// is malformed, after which the next call goes on with the line behind the one it began on.
  func next() throws -> Bool {
    line = nextLine
    while true {
      switch scan() {
      case .record(let end, let lines):
        advance(to: end, lines: lines)
        return true
      case .problem(let problem):
        let end = buffer[start...].firstIndex(of: newline).map { $0 + 1 } ?? buffer.endIndex
        advance(to: end, lines: 1)
        throw BadLine(line: line, problem: problem)
      case .incomplete:
        if isAtEnd { return false }
        try fill()
      }
    }
  }

  /// The bytes of a field of the record; quotes inside of it are doubled.
  func bytes(_ index: Int) -> ArraySlice<UInt8> { buffer[fields[index].range] }

  /// A field of the record as text. Throws ``BadLine`` where it isn't UTF-8.
  func text(_ index: Int) throws -> String {
    let field = fields[index]
    let bytes = buffer[field.range]
    let text =
      field.hasQuotes
      ? String(validating: Self.withoutDoubling(bytes), as: UTF8.self)
      : String(validating: bytes, as: UTF8.self)
    guard let text else { throw BadLine(line: line, problem: "the text is not valid UTF-8") }
    return text
  }

  private static func withoutDoubling(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var isSecond = false
    for byte in bytes {
      isSecond = byte == quote && !isSecond
      if !isSecond { result.append(byte) }
    }
    return result
  }

  private func advance(to end: Int, lines: Int) {
    bytesRead += end - start
    start = end
    nextLine += lines
  }

  /// Reads more of the file, behind what isn't used up.
  private func fill() throws {
    // The fields of the last record are gone with it.
    fields.removeAll(keepingCapacity: true)
    buffer.removeSubrange(..<start)
    start = 0
    isAtEnd = try !file.read(appendingTo: &buffer)
  }
}

// MARK: The form of a record

private let quote = UInt8(ascii: "\"")
private let comma = UInt8(ascii: ",")
private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")

extension CSVReader {
  private enum Found {
    case record(end: Int, lines: Int)
    case problem(String)
    /// The end of the buffer came first.
    case incomplete
  }

  private enum FoundField {
    case field(Field, end: Int, lines: Int)
    case problem(String)
    case incomplete
  }

  /// Finds the fields of the record that begins at `start`.
  private func scan() -> Found {
    fields.removeAll(keepingCapacity: true)
    if start == buffer.count { return .incomplete }
    var position = start
    var lines = 1
    while true {
      let found =
        position < buffer.count && buffer[position] == quote
        ? quotedField(from: position) : plainField(from: position)
      switch found {
      case .problem(let problem): return .problem(problem)
      case .incomplete:
        if isAtEnd { return .problem("a quote is never closed") }
        return position - start > Self.mostBytes || buffer.count - start > Self.mostBytes
          ? .problem("a record is longer than 1 MiB; is a quote never closed?") : .incomplete
      case .field(let field, let end, let newlines):
        fields.append(field)
        lines += newlines
        // At the end of the file, the last line needs no end.
        guard end < buffer.count else { return .record(end: end, lines: lines) }
        if buffer[end] == newline { return .record(end: end + 1, lines: lines) }
        if buffer[end] == carriageReturn { return .record(end: end + 2, lines: lines) }
        position = end + 1
      }
    }
  }

  /// A field without quotes: all up to a comma or the line's end.
  private func plainField(from first: Int) -> FoundField {
    var end = first
    while end < buffer.count {
      switch buffer[end] {
      case comma, newline:
        return .field(Field(range: first..<end), end: end, lines: 0)
      case carriageReturn:
        return ended(Field(range: first..<end), at: end, lines: 0)
      case quote:
        return .problem("a quote stands in a field that doesn't begin with one")
      default:
        end += 1
      }
    }
    return isAtEnd ? .field(Field(range: first..<end), end: end, lines: 0) : .incomplete
  }

  /// A field in quotes.
  private func quotedField(from first: Int) -> FoundField {
    var field = Field(range: first + 1..<first + 1)
    var lines = 0
    var end = first + 1
    while end < buffer.count {
      if buffer[end] == newline { lines += 1 }
      guard buffer[end] == quote else {
        end += 1
        continue
      }
      // Whether it is the last quote, or a doubled one, shows in what follows.
      guard end + 1 < buffer.count else { break }
      if buffer[end + 1] == quote {
        field.hasQuotes = true
        end += 2
        continue
      }
      field.range = first + 1..<end
      return ended(field, at: end + 1, lines: lines)
    }
    guard isAtEnd, end + 1 == buffer.count, buffer[end] == quote else { return .incomplete }
    field.range = first + 1..<end
    return .field(field, end: end + 1, lines: lines)
  }

  /// A field behind which there has to be a comma or the end of a line.
  private func ended(_ field: Field, at end: Int, lines: Int) -> FoundField {
    switch buffer[end] {
    case comma, newline: return .field(field, end: end, lines: lines)
    case carriageReturn:
      guard end + 1 < buffer.count else {
        return isAtEnd ? .problem("a carriage return without a line feed") : .incomplete
      }
      return buffer[end + 1] == newline
        ? .field(field, end: end, lines: lines)
        : .problem("a carriage return without a line feed")
    default: return .problem("something other than a comma follows a closing quote")
    }
  }
}
