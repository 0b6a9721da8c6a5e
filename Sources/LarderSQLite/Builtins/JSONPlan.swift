import CSQLite
import FoundationEssentials

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

  init(_ path: UnsafeBufferPointer<UInt8>, _ kind: UnsafeBufferPointer<UInt8>) throws {
    let scanner = JSONScanner(path)
    _ = try JSONScanner.value(of: path)
    steps = try scanner.members(at: 0).map { member in
      if path[member.value.lowerBound] == UInt8(ascii: "\"") {
        return .name(scanner.text(in: member.value) ?? [])
      }
      guard let index = Int(String(decoding: path[member.value], as: UTF8.self)) else {
        throw JSONScanner.Malformed()
      }
      return .element(index)
    }
    self.kind = JSONKind(rawValue: String(decoding: kind, as: UTF8.self))
  }

  /// Calls a closure with the plan of a call. The plan is made for the call's first row.
  ///
  /// - Parameter argument: the position of the path among the call's arguments.
  @inline(__always)
  static func with<Result>(
    _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, hasKind: Bool,
    argument: Int = 1, _ body: (JSONPlan) throws -> Result
  ) throws -> Result {
    if let known = sqlite3_get_auxdata(context, Int32(argument)) {
      return try Unmanaged<JSONPlan>.fromOpaque(known)._withUnsafeGuaranteedRef { try body($0) }
    }
    let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    var path = JSONCall.bytes(values?[argument])
    if path.first == JSONChange.insertion { path = UnsafeBufferPointer(rebasing: path.dropFirst()) }
    let plan = try JSONPlan(path, hasKind ? JSONCall.bytes(values?[2]) : none)
    // SQLite releases the plan with the statement, or at once.
    sqlite3_set_auxdata(context, Int32(argument), Unmanaged.passRetained(plan).toOpaque()) { plan in
      plan.map { Unmanaged<JSONPlan>.fromOpaque($0).release() }
    }
    return try body(plan)
  }

  // MARK: The last text

  /// The size from which a text is kept, so that a row that is joined with its own elements reads it once.
  private static let keptSize = 1_024

  /// The range of the value that the path leads to; nil if there is none.
  @inline(__always)
  func find(in text: UnsafeBufferPointer<UInt8>) throws -> Range<Int>? {
    guard text.count >= Self.keptSize else {
      count = nil
      return try JSONScanner.find(steps, in: text)
    }
    return try findInLast(text)
  }

  private func findInLast(_ text: UnsafeBufferPointer<UInt8>) throws -> Range<Int>? {
    if let last, last.text.count == text.count, let start = text.baseAddress {
      let isSame = last.text.withUnsafeBytes { known in
        known.baseAddress.map { memcmp($0, start, text.count) == 0 } ?? false
      }
      if isSame { return last.found }
    }
    count = nil
    let found = try JSONScanner.find(steps, in: text)
    last = (Array(text), found)
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
