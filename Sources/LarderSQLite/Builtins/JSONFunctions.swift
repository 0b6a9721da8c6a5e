import CSQLite
import FoundationEssentials

/// SQL functions for JSON, exact where SQLite's own aren't (see ``JSONScanner``). A path is an array of names
/// and of element numbers, negative ones counted from the last: `["lines", -1]`.
///
/// - `larder_json(x, path, kind)`: the value there, which has to be of the kind; NULL if it is missing or
///   null
/// - `larder_json_if(x, path, kind)`: the same, but NULL for a value of another kind. Indexes on paths use
///   it, so its results have to stay the same in all versions
/// - `larder_json_set(x, path, y, …)`: the text with `y` as the value there, or without a value if `y` is
///   NULL; with `?` before the path, only if there is none yet. Takes any number of paths with values, one
///   after the other. NULL is changed as `null` is
/// - `larder_json_rows(x, path)`: the members of the array or object there, as an array of pairs of name and
///   text
///
/// The unsafe pointers are sound: SQLite makes them for one call, and no copy outlives it.
enum JSONFunctions {
  /// Adds the functions to a connection, before it reads its schema. A file can only call `larder_json_if`.
  static func install(on handle: OpaquePointer) throws {
    try FunctionEntry("larder_json", 3) { context, _, values in
      JSONCall(context, values).answer { try $0.value(isStrict: true) }
    }.install(on: handle)
    try FunctionEntry("larder_json_if", 3, isInSchema: true) { context, _, values in
      JSONCall(context, values).answer { try $0.value(isStrict: false) }
    }.install(on: handle)
    try FunctionEntry("larder_json_set", -1) { context, count, values in
      JSONCall(context, values).answer(ofNull: true) { try $0.changed(Int(count)) }
    }.install(on: handle)
    try FunctionEntry("larder_json_rows", 2) { context, _, values in
      JSONCall(context, values).answer { try $0.rows() }
    }.install(on: handle)
  }
}

/// One call of a function for JSON.
struct JSONCall {
  /// Thrown for a call that has no result.
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

  @inline(__always)
  static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
  }

  private func bytes(of argument: Int) -> UnsafeBufferPointer<UInt8> {
    Self.bytes(values?[argument])
  }

  /// Calls a closure that gives SQLite the result, or reports its error. Skips NULL, unless that is asked
  /// for.
  @inline(__always)
  func answer(ofNull: Bool = false, _ result: (JSONCall) throws -> Void) {
    guard let json = values?[0], case let type = sqlite3_value_type(json),
      type != SQLITE_NULL || ofNull
    else { return }
    do {
      guard type == SQLITE_TEXT || type == SQLITE_NULL else { throw JSONScanner.Malformed() }
      try result(self)
    } catch {
      let message =
        (error as? Refusal)?.message ?? (error as? JSONChange.Refusal)?.message ?? "malformed JSON"
      sqlite3_result_error(context, message, -1)
      sqlite3_result_error_code(context, ResultCode.constraintDatatype.rawValue)
    }
  }

  /// Gives SQLite JSON, which is UTF-8, as a text.
  private func give(_ bytes: UnsafeBufferPointer<UInt8>) {
    larder_result_text(context, bytes.baseAddress, UInt64(bytes.count))
  }

  private func give(_ text: String) {
    var text = text
    text.withUTF8 { larder_result_text(context, $0.baseAddress, UInt64($0.count)) }
  }

  private func give(_ value: DatabaseValue) {
    switch value {
    case .null: return
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(let text): give(text)
    case .blob(let bytes):
      bytes.withUnsafeBytes { larder_result_blob(context, $0.baseAddress, UInt64($0.count)) }
    }
  }

  private func string(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: scanner.bytes[range])
  }

  // MARK: Values

  func value(isStrict: Bool) throws {
    try JSONPlan.with(context, values, hasKind: true) { try value($0, isStrict) }
  }

  private func value(_ plan: JSONPlan, _ isStrict: Bool) throws {
    guard let kind = plan.kind else { throw Refusal(message: "this isn't a kind of JSON value") }
    if kind == .valid {
      let isValid = (try? JSONScanner.value(of: scanner.bytes)) != nil
      return sqlite3_result_int(context, isValid ? 1 : 0)
    }
    guard let found = try plan.find(in: scanner.bytes) else { return }
    let type = JSONType(scanner.bytes[found.lowerBound])
    if kind == .type { return give("\(type)") }
    if type == .null || give(found, type, kind, plan) { return }
    guard isStrict else { return }
    let text = string(scanner.bytes, found)
    throw Refusal(
      message:
        "\(text.count > 60 ? text.prefix(59) + "…" : text[...]) in JSON isn't of the type \(kind)")
  }

  /// Gives SQLite the value as one of a kind; false if it isn't of that kind.
  private func give(
    _ range: Range<Int>, _ type: JSONType, _ kind: JSONKind, _ plan: JSONPlan
  ) -> Bool {
    switch (kind, type) {
    case (.json, _): give(part(range))
    case (.decimal, .number):
      guard DecimalNumber(part(range))?.isDecimal == true else { return false }
      give(part(range))
    case (.integer, .number):
      guard let number = integer(range) else { return false }
      sqlite3_result_int64(context, number)
    case (.number, .number):
      guard let number = integer(range) else { return give(real: range) }
      sqlite3_result_int64(context, number)
    case (.real, .number): return give(real: range)
    case (.bool, .boolean):
      sqlite3_result_int(context, scanner.bytes[range.lowerBound] == UInt8(ascii: "t") ? 1 : 0)
    case (.text, .string):
      let inside = part(range.lowerBound + 1..<range.upperBound - 1)
      if !inside.contains(UInt8(ascii: "\\")) {
        give(inside)
      } else {
        guard let text = text(range) else { return false }
        give(text)
      }
    case (.date, .string):
      guard let seconds = text(range).flatMap({ try? CivilTime.secondsSince1970($0) }),
        let date = try? DateFormat.iso8601.databaseValue(of: Date(timeIntervalSince1970: seconds))
      else { return false }
      give(date)
    case (.uuid, .string):
      guard let uuid = text(range).flatMap({ try? UUID(databaseValue: .text($0)).databaseValue })
      else { return false }
      give(uuid)
    case (.count, .array):
      if plan.count == nil {
        plan.count = (try? scanner.members(at: range.lowerBound)).map { Int64($0.count) }
      }
      sqlite3_result_int64(context, plan.count ?? 0)
    default: return false
    }
    return true
  }

  /// A number as a 64-bit integer; nil if it has a fraction or an exponent, or doesn't fit.
  private func integer(_ range: Range<Int>) -> Int64? {
    let isNegative = scanner.bytes[range.lowerBound] == UInt8(ascii: "-")
    var number: Int64 = 0
    for byte in scanner.bytes[range].dropFirst(isNegative ? 1 : 0) {
      guard case let digit = byte &- UInt8(ascii: "0"), digit < 10 else { return nil }
      let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isBeyond) =
        isNegative
        ? tenfold.subtractingReportingOverflow(Int64(digit))
        : tenfold.addingReportingOverflow(Int64(digit))
      guard !isTooLarge, !isBeyond else { return nil }
      number = sum
    }
    return number
  }

  private func give(real range: Range<Int>) -> Bool {
    guard let number = Double(string(scanner.bytes, range)), number.isFinite else { return false }
    sqlite3_result_double(context, number)
    return true
  }

  private func text(_ range: Range<Int>) -> String? {
    scanner.text(in: range).map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: Changes

  /// - Parameter count: the number of arguments.
  func changed(_ count: Int) throws {
    var text: [UInt8]?
    if sqlite3_value_type(values?[0]) != SQLITE_NULL {
      _ = try JSONScanner.value(of: scanner.bytes)
      text = Array(scanner.bytes)
    }
    for argument in stride(from: 1, to: count - 1, by: 2) {
      let isRemoval = sqlite3_value_type(values?[argument + 1]) == SQLITE_NULL
      let value = isRemoval ? nil : bytes(of: argument + 1)
      if let value { _ = try JSONScanner.value(of: value) }
      let isInsertion = text != nil && bytes(of: argument).first == JSONChange.insertion
      let old = text ?? Array("null".utf8)
      let new = try JSONPlan.with(context, values, hasKind: false, argument: argument) { plan in
        try old.withUnsafeBufferPointer { old in
          try JSONChange(JSONScanner(old), plan.steps, value).text(isInsertion)
        }
      }
      // Removing something from NULL leaves NULL.
      if let new { text = new } else if !isRemoval { text = old }
    }
    text?.withUnsafeBufferPointer { give($0) }
  }

  // MARK: Rows

  func rows() throws {
    let found = try JSONPlan.with(context, values, hasKind: false) {
      try JSONScanner.find($0.steps, in: scanner.bytes)
    }
    guard let found else { return }
    var rows: [UInt8] = [UInt8(ascii: "[")]
    rows.reserveCapacity(found.count * 5 / 4 + 32)
    for member in try scanner.members(at: found.lowerBound) {
      rows += rows.count > 1 ? ",[".utf8 : "[".utf8
      if let name = member.name {
        // `json_each`, which reads the rows, ends a text at a NUL.
        if part(name).contains(UInt8(ascii: "\\")), scanner.text(in: name)?.contains(0) == true {
          throw Refusal(message: "a name in JSON holds a NUL")
        }
        rows += part(name)
      } else {
        rows += "null".utf8
      }
      rows.append(UInt8(ascii: ","))
      rows.append(quotedJSON: part(member.value))
      rows.append(UInt8(ascii: "]"))
    }
    rows.append(UInt8(ascii: "]"))
    rows.withUnsafeBufferPointer { give($0) }
  }
}

extension String {
  /// The string as a text in JSON, with quotes.
  package var quotedJSON: String {
    var bytes: [UInt8] = []
    bytes.append(quotedJSON: utf8)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  fileprivate mutating func append(quotedJSON text: some Sequence<UInt8>) {
    append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case 0..<0x20:
        self += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: append(byte)
      }
    }
    append(UInt8(ascii: "\""))
  }
}
