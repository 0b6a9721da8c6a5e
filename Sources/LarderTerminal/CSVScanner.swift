/// Finds the fields of a CSV record in memory.
struct CSVScanner {
  let bytes: UnsafeBufferPointer<UInt8>
  let delimiter: UInt8
  /// Whether the file ends with these bytes.
  let isAtEnd: Bool
  let mostBytes: Int

  enum Found {
    case record(end: Int, lines: Int)
    case problem(String)
    /// The bytes ended before the record did.
    case incomplete
  }

  private enum FoundField {
    case field(CSVField, end: Int, lines: Int)
    case problem(String)
    case incomplete
  }

  /// Finds the fields of the record that begins at a position.
  func scan(from start: Int, into fields: inout [CSVField]) -> Found {
    fields.removeAll(keepingCapacity: true)
    if start == bytes.count { return .incomplete }
    var position = start
    var lines = 1
    while true {
      let found =
        position < bytes.count && bytes[position] == quote
        ? quotedField(from: position) : plainField(from: position)
      switch found {
      case .problem(let problem): return .problem(problem)
      case .incomplete:
        if isAtEnd { return .problem("a quote is never closed") }
        return bytes.count - start > mostBytes
          ? .problem("a record is longer than \(mostBytes >> 20) MiB; is a quote never closed?")
          : .incomplete
      case .field(let field, let end, let newlines):
        fields.append(field)
        lines += newlines
        // The last line of the file needs no line end.
        guard end < bytes.count else { return .record(end: end, lines: lines) }
        if bytes[end] == newline { return .record(end: end + 1, lines: lines) }
        if bytes[end] == carriageReturn { return .record(end: end + 2, lines: lines) }
        position = end + 1
      }
    }
  }

  /// A field without quotes: everything up to a delimiter or the line's end.
  @inline(__always)
  private func plainField(from first: Int) -> FoundField {
    var end = first
    while end < bytes.count {
      let byte = bytes[end]
      if byte == delimiter || byte == newline {
        return .field(CSVField(range: first..<end), end: end, lines: 0)
      }
      if byte == carriageReturn { return ended(CSVField(range: first..<end), at: end, lines: 0) }
      if byte == quote { return .problem("a field contains a quote, but doesn't begin with one") }
      end += 1
    }
    return isAtEnd ? .field(CSVField(range: first..<end), end: end, lines: 0) : .incomplete
  }

  private func quotedField(from first: Int) -> FoundField {
    var field = CSVField(range: first + 1..<first + 1, isQuoted: true)
    var lines = 0
    var end = first + 1
    while end < bytes.count {
      if bytes[end] == newline { lines += 1 }
      guard bytes[end] == quote else {
        end += 1
        continue
      }
      // The next byte tells a closing quote from a doubled one.
      guard end + 1 < bytes.count else { break }
      if bytes[end + 1] == quote {
        field.hasQuotes = true
        end += 2
        continue
      }
      field.range = first + 1..<end
      return ended(field, at: end + 1, lines: lines)
    }
    guard isAtEnd, end + 1 == bytes.count, bytes[end] == quote else { return .incomplete }
    field.range = first + 1..<end
    return .field(field, end: end + 1, lines: lines)
  }

  /// Checks that a delimiter or the end of a line follows the field.
  private func ended(_ field: CSVField, at end: Int, lines: Int) -> FoundField {
    if bytes[end] == delimiter || bytes[end] == newline {
      return .field(field, end: end, lines: lines)
    }
    guard bytes[end] == carriageReturn else {
      let name = delimiter == comma ? "a comma" : "the delimiter"
      return .problem("something other than \(name) follows a closing quote")
    }
    guard end + 1 < bytes.count else {
      return isAtEnd ? .problem("a carriage return without a line feed") : .incomplete
    }
    return bytes[end + 1] == newline
      ? .field(field, end: end, lines: lines)
      : .problem("a carriage return without a line feed")
  }
}

private let carriageReturn = UInt8(ascii: "\r")
