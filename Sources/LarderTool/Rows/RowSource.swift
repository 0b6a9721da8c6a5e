import Larder
import LarderTerminal

/// A file whose records are imported.
enum RowSource {
  case csv(CSVReader, null: [UInt8])
  case jsonLines(LineReader)

  /// The length limit of a record: SQLite's largest blob has twice its size in hexadecimal digits.
  private static let mostBytes = 2 << 30

  init(path: String, _ format: RowFormat) throws {
    switch format {
    case .csv(let delimiter, let null):
      self = .csv(
        try CSVReader(path: path, delimiter: delimiter, mostBytes: Self.mostBytes), null: null)
    case .jsonLines:
      self = .jsonLines(try LineReader(path: path, mostBytes: Self.mostBytes))
    }
  }

  private var reader: any RecordReader {
    switch self {
    case .csv(let reader, _): reader
    case .jsonLines(let reader): reader
    }
  }

  /// The number of the line on which the current record begins.
  var line: Int { reader.line }
  /// The fraction of the file that was read, from 0 to 1; 0 if its size isn't known.
  var partRead: Double { reader.partRead }
  func setMark() { reader.setMark() }
  func rewind() { reader.rewind() }

  /// Goes to the next record; returns false at the end. Throws ``BadLine``.
  func next() throws -> Bool {
    switch self {
    case .csv(let reader, _): return try reader.next()
    case .jsonLines(let reader):
      while try reader.next() {
        // Blank lines are skipped.
        if reader.withBytes({ !$0.allSatisfy { " \t".utf8.contains($0) } }) { return true }
      }
      return false
    }
  }

  /// The names of the columns, and the number of their line. They are CSV's header, or the member names of
  /// the first JSON line, which is then read again. Nil if there are none.
  func names(hasHeader: Bool) throws -> (names: [String], line: Int)? {
    switch self {
    case .csv(let reader, _):
      guard hasHeader, try reader.next() else { return nil }
      return (try (0..<reader.fieldCount).map { try reader.text($0) }, line)
    case .jsonLines(let reader):
      setMark()
      defer { rewind() }
      guard try next() else { return nil }
      return (try reader.withBytes { try JSONLine($0, line: line).names() }, line)
    }
  }
}

/// A line that is a JSON object.
struct JSONLine {
  private let scanner: JSONScanner
  private let bytes: UnsafeBufferPointer<UInt8>
  let members: [JSONScanner.Member]
  let line: Int

  /// Parses a line. Throws ``BadLine`` if it isn't a JSON object.
  init(_ bytes: UnsafeBufferPointer<UInt8>, line: Int) throws {
    self.bytes = bytes
    self.line = line
    scanner = JSONScanner(bytes)
    do {
      let range = try JSONScanner.value(of: bytes)
      guard !range.isEmpty, bytes[range.lowerBound] == UInt8(ascii: "{") else {
        throw BadLine(line: line, problem: "the line isn't a JSON object")
      }
      members = try scanner.members(at: range.lowerBound)
    } catch is JSONScanner.Malformed {
      throw BadLine(line: line, problem: "the line isn't JSON")
    }
  }

  func names() throws -> [String] { try members.map { try name(of: $0) } }

  private func name(of member: JSONScanner.Member) throws -> String {
    guard let range = member.name, let text = scanner.text(in: range) else {
      throw BadLine(line: line, problem: "a name has half a surrogate pair")
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a member has this name. Names without escapes are compared without a copy.
  func isNamed(_ member: JSONScanner.Member, _ name: [UInt8]) -> Bool {
    guard let range = member.name else { return false }
    let inside = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
    if inside.elementsEqual(name) { return !inside.contains(UInt8(ascii: "\\")) }
    return inside.contains(UInt8(ascii: "\\")) && scanner.text(in: range) == name
  }

  /// Calls a closure with a member's value. Arrays, and objects other than blobs, are passed as JSON text.
  func withField<T>(_ member: JSONScanner.Member, _ body: (FileField) throws -> T) throws -> T {
    let value = UnsafeBufferPointer(rebasing: bytes[member.value])
    switch value[0] {
    case UInt8(ascii: "n"): return try body(.null)
    case UInt8(ascii: "t"): return try body(.bool(true))
    case UInt8(ascii: "f"): return try body(.bool(false))
    case UInt8(ascii: "\""): return try withText(member.value) { try body(.text($0)) }
    case UInt8(ascii: "["): return try body(.text(value))
    case UInt8(ascii: "{"):
      guard let inner = try? scanner.members(at: member.value.lowerBound), inner.count == 1,
        isNamed(inner[0], Self.base64), bytes[inner[0].value.lowerBound] == UInt8(ascii: "\"")
      else { return try body(.text(value)) }
      return try withText(inner[0].value) { try body(.base64($0)) }
    default: return try body(.bare(value))
    }
  }

  private static let base64 = Array("base64".utf8)

  private func withText<T>(
    _ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws -> T
  ) throws -> T {
    let inside = UnsafeBufferPointer(
      rebasing: bytes[(range.lowerBound + 1)..<(range.upperBound - 1)])
    guard inside.contains(UInt8(ascii: "\\")) else { return try body(inside) }
    guard let text = scanner.text(in: range) else {
      throw FieldProblem("the text has half a surrogate pair")
    }
    return try text.withUnsafeBufferPointer(body)
  }
}
