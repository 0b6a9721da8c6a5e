import CSQLite
import FoundationEssentials

/// SQL functions for JSON, exact where SQLite's own aren't (see ``JSONScanner``). A path is an array of names
/// and of numbers of elements, of which the negative ones count from the last: `["lines", -1]`.
///
/// - `larder_json(x, path, kind)`: the value there, which has to be of a kind; NULL where there is none or null
/// - `larder_json_if(x, path, kind)`: the same, and NULL for a value of another kind. Indexes on paths have it, so
///   that what it returns stays the same in all versions
/// - `larder_json_set(x, path, y)`: the text with another value there; without it, where that is NULL
/// - `larder_json_rows(x, path)`: what is in the array or object there: an array of pairs of name and text
///
/// What makes the unsafe pointers sound: SQLite makes them for one call, and no copy outlives it.
enum JSONFunctions {
  /// Adds the functions to a connection. Before it has read its schema: a file can't call them.
  static func install(on handle: OpaquePointer) throws {
    try FunctionEntry("larder_json", 3) { context, _, values in
      JSONCall(context, values).answer { try $0.value(isStrict: true) }
    }.install(on: handle)
    try FunctionEntry("larder_json_if", 3, isInSchema: true) { context, _, values in
      JSONCall(context, values).answer { try $0.value(isStrict: false) }
    }.install(on: handle)
    try FunctionEntry("larder_json_set", 3) { context, _, values in
      JSONCall(context, values).answer { try $0.changed() }
    }.install(on: handle)
    try FunctionEntry("larder_json_rows", 2) { context, _, values in
      JSONCall(context, values).answer { try $0.rows() }
    }.install(on: handle)
  }
}

/// What a value in JSON is asked for as: the words of `larder_json`.
package enum JSONKind: String, Sendable {
  case integer, number, real, bool, text, date, uuid, decimal
  /// Anything but null, as its text.
  case json
  /// The name of its type, of null too.
  case type
  /// The number of elements of an array.
  case count
  /// Whether the text is JSON.
  case valid

  /// The name of the only type that has values of the kind; nil where any has.
  package var typeName: String? {
    switch self {
    case .integer, .number, .real, .decimal: "number"
    case .bool: "boolean"
    case .text, .date, .uuid: "string"
    case .json, .type, .count, .valid: nil
    }
  }
}

/// A path and a kind, which SQLite keeps beside a call for all rows.
private final class JSONPlan {
  enum Step {
    case name([UInt8])
    case element(Int)
  }

  let steps: [Step]
  let kind: JSONKind?

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

  /// The plan of a call, which is made for its first row.
  static func of(
    _ context: OpaquePointer?, _ path: UnsafeBufferPointer<UInt8>,
    _ kind: UnsafeBufferPointer<UInt8>
  ) throws -> JSONPlan {
    if let known = sqlite3_get_auxdata(context, 1) {
      return Unmanaged<JSONPlan>.fromOpaque(known).takeUnretainedValue()
    }
    let plan = try JSONPlan(path, kind)
    // SQLite lets it go with the statement, or at once.
    sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(plan).toOpaque()) { plan in
      plan.map { Unmanaged<JSONPlan>.fromOpaque($0).release() }
    }
    return plan
  }
}

/// One call of the functions.
private struct JSONCall {
  /// What can't be answered.
  private struct Refusal: Error {
    let message: String
  }

  private let context: OpaquePointer?
  private let values: UnsafeMutablePointer<OpaquePointer?>?
  private let scanner: JSONScanner

  init(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    self.context = context
    self.values = values
    scanner = JSONScanner(Self.bytes(values?[0]))
  }

  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
  }

  private func bytes(of argument: Int) -> UnsafeBufferPointer<UInt8> {
    Self.bytes(values?[argument])
  }

  /// Gives the result to SQLite, or the error; nothing for NULL.
  func answer(_ result: (JSONCall) throws -> DatabaseValue) {
    guard let json = values?[0], sqlite3_value_type(json) != SQLITE_NULL else { return }
    do {
      guard sqlite3_value_type(json) == SQLITE_TEXT else { throw JSONScanner.Malformed() }
      switch try result(self) {
      case .null: return
      case .integer(let number): sqlite3_result_int64(context, number)
      case .real(let number): sqlite3_result_double(context, number)
      case .text(var text):
        text.withUTF8 { larder_result_text(context, $0.baseAddress, UInt64($0.count)) }
      case .blob(let bytes):
        bytes.withUnsafeBytes { larder_result_blob(context, $0.baseAddress, UInt64($0.count)) }
      }
    } catch {
      let message = (error as? Refusal)?.message ?? "malformed JSON"
      sqlite3_result_error(context, message, -1)
      sqlite3_result_error_code(context, ResultCode.constraintDatatype.rawValue)
    }
  }

  // MARK: Paths

  private typealias Step = JSONPlan.Step

  private func plan(hasKind: Bool) throws -> JSONPlan {
    try .of(
      context, bytes(of: 1), hasKind ? bytes(of: 2) : UnsafeBufferPointer(start: nil, count: 0))
  }

  private func string(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  /// The number of the member that a step leads to; nil where there is none.
  private func index(of step: Step, in members: [JSONScanner.Member]) -> Int? {
    switch step {
    case .name(let name):
      return members.firstIndex { member in
        member.name.map { scanner.isText(name, in: $0) } ?? false
      }
    case .element(let index):
      let index = index < 0 ? members.count + index : index
      return members.indices.contains(index) && members[index].name == nil ? index : nil
    }
  }

  /// Where the path leads to, in text that is JSON as a whole.
  private func found(_ steps: [Step]) throws -> Range<Int>? {
    var found = try JSONScanner.value(of: scanner.bytes)
    for step in steps {
      let members = try scanner.members(at: found.lowerBound)
      guard let index = index(of: step, in: members) else { return nil }
      found = members[index].value
    }
    return found
  }

  // MARK: Values

  func value(isStrict: Bool) throws -> DatabaseValue {
    let plan = try plan(hasKind: true)
    guard let kind = plan.kind else { throw Refusal(message: "no kind of JSON") }
    if kind == .valid {
      return .integer((try? JSONScanner.value(of: scanner.bytes)) == nil ? 0 : 1)
    }
    guard let found = try found(plan.steps) else { return .null }
    let first = scanner.bytes[found.lowerBound]
    if kind == .type { return .text(typeName(first)) }
    if first == UInt8(ascii: "n") { return .null }
    if let value = value(found, first, kind) { return value }
    guard isStrict else { return .null }
    let text = string(scanner.bytes, found)
    throw Refusal(
      message: "\(text.count > 60 ? text.prefix(59) + "…" : text[...]) in JSON is no \(kind)")
  }

  private func typeName(_ first: UInt8) -> String {
    switch first {
    case UInt8(ascii: "{"): "object"
    case UInt8(ascii: "["): "array"
    case UInt8(ascii: "\""): "string"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "boolean"
    case UInt8(ascii: "n"): "null"
    default: "number"
    }
  }

  /// The value as one of a kind; nil where it is none.
  private func value(_ range: Range<Int>, _ first: UInt8, _ kind: JSONKind) -> DatabaseValue? {
    switch (kind, typeName(first)) {
    case (.json, _): .text(string(scanner.bytes, range))
    case (.integer, "number"): Int64(string(scanner.bytes, range)).map { .integer($0) }
    case (.number, "number"):
      Int64(string(scanner.bytes, range)).map { .integer($0) } ?? real(range)
    case (.real, "number"): real(range)
    case (.decimal, "number"): .text(string(scanner.bytes, range))
    case (.bool, "boolean"): .integer(first == UInt8(ascii: "t") ? 1 : 0)
    case (.text, "string"): text(range).map { .text($0) }
    case (.date, "string"):
      text(range).flatMap { try? CivilTime.secondsSince1970($0) }.flatMap {
        try? DateFormat.iso8601.databaseValue(of: Date(timeIntervalSince1970: $0))
      }
    case (.uuid, "string"):
      text(range).flatMap { try? UUID(databaseValue: .text($0)).databaseValue }
    case (.count, "array"):
      (try? scanner.members(at: range.lowerBound)).map { .integer(Int64($0.count)) }
    default: nil
    }
  }

  private func real(_ range: Range<Int>) -> DatabaseValue? {
    guard let number = Double(string(scanner.bytes, range)), number.isFinite else { return nil }
    return .real(number)
  }

  private func text(_ range: Range<Int>) -> String? {
    scanner.text(in: range).map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: Changes

  func changed() throws -> DatabaseValue {
    let steps = try plan(hasKind: false).steps
    var found = try JSONScanner.value(of: scanner.bytes)
    let isRemoval = sqlite3_value_type(values?[2]) == SQLITE_NULL
    if !isRemoval { _ = try JSONScanner.value(of: bytes(of: 2)) }
    for (depth, step) in steps.enumerated() {
      let members = try scanner.members(at: found.lowerBound)
      guard let index = index(of: step, in: members) else {
        if isRemoval { return .text(string(scanner.bytes, scanner.bytes.indices)) }
        return try added(steps[depth...], members, to: found)
      }
      if isRemoval, depth == steps.count - 1 {
        return replaced(extent(of: index, in: members), by: [])
      }
      found = members[index].value
    }
    return replaced(found, by: bytes(of: 2))
  }

  private func replaced(_ range: Range<Int>, by bytes: some Sequence<UInt8>) -> DatabaseValue {
    let text = scanner.bytes[..<range.lowerBound] + Array(bytes)
    return .text(String(decoding: text + scanner.bytes[range.upperBound...], as: UTF8.self))
  }

  /// A member with one of the commas beside it.
  private func extent(of index: Int, in members: [JSONScanner.Member]) -> Range<Int> {
    let member = members[index]
    if index > 0 { return members[index - 1].value.upperBound..<member.value.upperBound }
    return member.start..<(members.count > 1 ? members[1].start : member.value.upperBound)
  }

  /// The text with a value where there was none: objects on the way to it are made, and an element can be added
  /// behind the last one.
  private func added(
    _ steps: ArraySlice<Step>, _ members: [JSONScanner.Member], to container: Range<Int>
  ) throws -> DatabaseValue {
    guard let step = steps.first else { return .null }
    var new = Array(bytes(of: 2))
    for step in steps.dropFirst().reversed() {
      guard case .name(let name) = step else { throw blocked(container) }
      new = Array("{".utf8) + quoted(name) + Array(":".utf8) + new + Array("}".utf8)
    }
    let first = scanner.bytes[container.lowerBound]
    switch step {
    case .name(let name):
      new = quoted(name) + Array(":".utf8) + new
      if first == UInt8(ascii: "n") {
        return replaced(container, by: Array("{".utf8) + new + Array("}".utf8))
      }
      guard first == UInt8(ascii: "{") else { throw blocked(container) }
    case .element(let index):
      guard first == UInt8(ascii: "["), index == members.count else { throw blocked(container) }
    }
    let end = container.upperBound - 1
    return replaced(end..<end, by: (members.isEmpty ? [] : Array(",".utf8)) + new)
  }

  private func blocked(_ container: Range<Int>) -> Refusal {
    let type = typeName(scanner.bytes[container.lowerBound])
    return Refusal(message: "the path leads to nothing that could be set in JSON: into the \(type)")
  }

  private func quoted(_ name: [UInt8]) -> [UInt8] {
    Array(String(decoding: name, as: UTF8.self).quotedJSON.utf8)
  }

  // MARK: Rows

  func rows() throws -> DatabaseValue {
    guard let found = try found(plan(hasKind: false).steps) else { return .null }
    let pairs = try scanner.members(at: found.lowerBound).map { member in
      // The function that takes the array apart ends a text at a NUL.
      let name = member.name.map { string(scanner.bytes, $0) } ?? "null"
      guard member.name.flatMap(text)?.utf8.contains(0) != true else {
        throw Refusal(message: "a name in JSON holds a NUL")
      }
      return "[\(name),\(string(scanner.bytes, member.value).quotedJSON)]"
    }
    return .text("[\(pairs.joined(separator: ","))]")
  }
}

extension String {
  /// As a text in JSON.
  package var quotedJSON: String {
    var bytes = Array("\"".utf8)
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        bytes += Array("\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes + Array("\"".utf8), as: UTF8.self)
  }
}
