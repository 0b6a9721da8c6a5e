// The arguments of the functions for JSON: a path and a kind; and the types of JSON's values.

/// The kinds of values that `larder_json` returns, in the words of its third argument.
package enum JSONKind: String, Sendable {
  case integer, number, real, bool, text, date, uuid, decimal
  /// Anything but null, as its text.
  case json
  /// The name of the value's type, also of null.
  case type
  /// The number of elements of an array.
  case count
  /// Whether the text is JSON.
  case valid

  /// The name of the only type that has values of the kind; nil if any has.
  package var typeName: String? {
    switch self {
    case .integer, .number, .real, .decimal: "number"
    case .bool: "boolean"
    case .text, .date, .uuid: "string"
    case .json, .type, .count, .valid: nil
    }
  }
}

/// A path and a kind, which SQLite keeps with a call for all rows, and the last text with its result.
final class JSONPlan {
  let steps: [JSONScanner.Step]
  let kind: JSONKind?
  private var last: (text: [UInt8], found: Range<Int>?)?
  /// The number of elements in the last result, once they were counted.
  var count: Int64?

  private init(_ path: JSONScanner, _ kind: String) throws {
    try path.checkWhole()
    steps = try path.members(at: 0).map { member in
      if path.bytes[member.value.lowerBound] == UInt8(ascii: "\"") {
        return .name(path.text(in: member.value) ?? [])
      }
      guard let index = Int(path.source(member.value)) else { throw JSONScanner.Malformed() }
      return .element(index)
    }
    self.kind = JSONKind(rawValue: kind)
  }

  /// Calls a closure with the plan of a call. The plan is made for the call's first row.
  ///
  /// - Parameter argument: the position of the path among the call's arguments.
  @inline(__always)
  static func with<Result>(
    _ call: FunctionCall, hasKind: Bool, argument: Int = 1, _ body: (JSONPlan) throws -> Result
  ) throws -> Result {
    try call.withKept(
      argument,
      {
        var path = JSONScanner(of: call[argument])
        if path.bytes.first == JSONChange.insertion {
          path = JSONScanner(path.part(1..<path.bytes.count))
        }
        return try JSONPlan(path, hasKind ? call[2].string : "")
      }, body)
  }

  // MARK: The last text

  /// The size from which a text is kept, so that a row that is joined with its own elements reads it once.
  private static let keptSize = 1_024

  @inline(__always)
  func find(in text: JSONScanner) throws -> Range<Int>? {
    guard text.bytes.count >= Self.keptSize else {
      count = nil
      return try text.find(steps)
    }
    return try findInLast(text)
  }

  private func findInLast(_ text: JSONScanner) throws -> Range<Int>? {
    if let last, text.isSame(as: last.text) { return last.found }
    count = nil
    let found = try text.find(steps)
    last = (Array(text.bytes), found)
    return found
  }
}

/// The type of a JSON value, told by its first byte.
enum JSONType {
  case object, array, string, boolean, null, number

  init(_ first: UInt8) {
    self =
      switch first {
      case UInt8(ascii: "{"): .object
      case UInt8(ascii: "["): .array
      case UInt8(ascii: "\""): .string
      case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
      case UInt8(ascii: "n"): .null
      default: .number
      }
  }
}
