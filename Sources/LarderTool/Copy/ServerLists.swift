import LarderSQLite

/// Arrays and ranges of a server, which Larder's records store in a file as JSON.
///
/// See [Array Input](https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT) and
/// [Range Input](https://www.postgresql.org/docs/current/rangetypes.html#RANGETYPES-IO).
struct ServerLists: Equatable {
  private let isRange: Bool
  /// The form of the elements, or of the bounds.
  private let form: ElementForm
  private let isOfJSON: Bool

  private enum ElementForm: Equatable { case number, day, timestamp, instant, uuid, json, text }

  /// Nil for a type of another kind.
  init?(ofServerType type: String) {
    let ranges: [String: ElementForm] = [
      "int4range": .number, "int8range": .number, "numrange": .number, "daterange": .day,
      "tsrange": .timestamp, "tstzrange": .instant,
    ]
    isRange = ranges[type] != nil
    if let form = ranges[type] {
      self.form = form
      isOfJSON = false
      return
    }
    // Bytes have no literal in JSON that all programs write.
    guard type.hasSuffix("[]"), type != "bytea[]" else { return nil }
    let element = String(type.dropLast(2))
    isOfJSON = element == "json" || element == "jsonb"
    switch element {
    case "smallint", "integer", "bigint", "real", "double precision": form = .number
    default:
      form =
        switch ServerForm(ofServerType: element) {
        case .decimal: .number
        case .day: .day
        case .timestamp: .timestamp
        case .instant: .instant
        case .uuid: .uuid
        case .json: .json
        default: .text
        }
    }
  }

  private var elementForm: ServerForm {
    switch form {
    case .number: .decimal
    case .day: .day
    case .timestamp: .timestamp
    case .instant: .instant
    case .uuid: .uuid
    case .json: .json
    case .text: .asWritten
    }
  }

  // MARK: From JSON

  /// The server's literal for JSON, `{"a",NULL}` for `["a",null]`; nil for a text that may be a literal already.
  func literal(ofJSON text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.first == UInt8(ascii: isRange ? "{" : "[") else { return nil }
    return text.withMemoryRebound(to: UInt8.self) { bytes in
      guard let range = try? JSONScanner.value(of: bytes) else { return nil }
      var literal: [UInt8] = []
      let isWhole =
        isRange ? appendRange(range, bytes, &literal) : appendArray(range, bytes, &literal)
      return isWhole ? literal : nil
    }
  }

  private func appendRange(
    _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ literal: inout [UInt8]
  ) -> Bool {
    let scanner = JSONScanner(bytes)
    guard let bounds = try? scanner.members(at: range.lowerBound),
      bounds.map({ $0.name.flatMap(scanner.text) ?? [] }) == [
        Array("lower".utf8), Array("upper".utf8),
      ]
    else { return false }
    literal.append(UInt8(ascii: "["))
    appendElement(bounds[0].value, bytes, &literal)
    literal.append(UInt8(ascii: ","))
    appendElement(bounds[1].value, bytes, &literal)
    literal.append(UInt8(ascii: ")"))
    return true
  }

  private func appendArray(
    _ range: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ literal: inout [UInt8]
  ) -> Bool {
    guard let members = try? JSONScanner(bytes).members(at: range.lowerBound) else { return false }
    literal.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { literal.append(UInt8(ascii: ",")) }
      // An array in an array is another dimension, unless the elements are JSON themselves.
      if bytes[member.value.lowerBound] == UInt8(ascii: "["), !isOfJSON {
        guard appendArray(member.value, bytes, &literal) else { return false }
      } else {
        appendElement(member.value, bytes, &literal)
      }
    }
    literal.append(UInt8(ascii: "}"))
    return true
  }

  private func appendElement(
    _ value: Range<Int>, _ bytes: UnsafeBufferPointer<UInt8>, _ literal: inout [UInt8]
  ) {
    let first = bytes[value.lowerBound]
    if first == UInt8(ascii: "n") { return literal += "NULL".utf8 }
    var text = Array(bytes[value])
    if !isOfJSON {
      if first == UInt8(ascii: "\"") { text = JSONScanner(bytes).text(in: value) ?? text }
      // The server writes booleans with one letter.
      if first == UInt8(ascii: "t") || first == UInt8(ascii: "f") { text = [first] }
    }
    literal.append(UInt8(ascii: "\""))
    for byte in text {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        literal.append(UInt8(ascii: "\\"))
      }
      literal.append(byte)
    }
    literal.append(UInt8(ascii: "\""))
  }

  // MARK: Comparison

  /// Hashes the elements of a literal by their form. The server leaves out quotes that aren't needed.
  func hash(_ text: UnsafeRawBufferPointer, into hasher: inout Hasher) {
    let isList = isRange ? "[(".utf8.contains(text.first ?? 0) : text.first == UInt8(ascii: "{")
    guard isList else { return hasher.combine(bytes: text) }
    var index = 0
    var element: [UInt8] = []
    var (isQuoted, hasElement) = (false, false)
    func end(_ hasher: inout Hasher) {
      if hasElement {
        let isNull = !isQuoted && element.elementsEqual("NULL".utf8)
        hasher.combine(isNull)
        if !isNull { element.withUnsafeBytes { elementForm.hash($0, into: &hasher) } }
      }
      element.removeAll(keepingCapacity: true)
      (isQuoted, hasElement) = (false, false)
    }
    while index < text.count {
      let byte = text[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        (isQuoted, hasElement) = (true, true)
        while index < text.count, text[index] != UInt8(ascii: "\"") {
          if text[index] == UInt8(ascii: "\\") { index += 1 }
          if index < text.count { element.append(text[index]) }
          index += 1
        }
        index += 1
      case _ where (isRange ? "[](),".utf8 : "{},".utf8).contains(byte):
        end(&hasher)
        hasher.combine(byte)
      default:
        hasElement = true
        element.append(byte)
      }
    }
    end(&hasher)
  }
}
