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
enum JSONFunctions {
  /// A file can only call `larder_json_if`.
  static var functions: [FunctionEntry] {
    [
      FunctionEntry("larder_json", 3) {
        JSONCall(FunctionCall($0, $1, $2)).answer { try $0.value(isStrict: true) }
      },
      FunctionEntry("larder_json_if", 3, flags: FunctionEntry.harmlessFlags) {
        JSONCall(FunctionCall($0, $1, $2)).answer { try $0.value(isStrict: false) }
      },
      FunctionEntry("larder_json_set", -1) {
        JSONCall(FunctionCall($0, $1, $2)).answer(ofNull: true) { try $0.changed() }
      },
      FunctionEntry("larder_json_rows", 2) {
        JSONCall(FunctionCall($0, $1, $2)).answer { try $0.rows() }
      },
    ]
  }
}

/// The reason why a function for JSON has no result.
struct JSONRefusal: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

struct JSONCall {
  private let call: FunctionCall
  private let scanner: JSONScanner

  @inline(__always)
  init(_ call: FunctionCall) {
    self.call = call
    scanner = JSONScanner(of: call[0])
  }

  /// Calls a closure that gives SQLite the result, or reports its error. Skips NULL, unless that is asked
  /// for.
  @inline(__always)
  func answer(ofNull: Bool = false, _ result: (JSONCall) throws -> Void) {
    let type = call[0].type
    guard type != SQLITE_NULL || ofNull else { return }
    do {
      guard type == SQLITE_TEXT || type == SQLITE_NULL else { throw JSONScanner.Malformed() }
      try result(self)
    } catch {
      call.fail((error as? JSONRefusal)?.message ?? "malformed JSON")
    }
  }

  // MARK: Values

  func value(isStrict: Bool) throws {
    try JSONPlan.with(call, hasKind: true) { try value($0, isStrict) }
  }

  private func value(_ plan: JSONPlan, _ isStrict: Bool) throws {
    guard let kind = plan.kind else { throw JSONRefusal("this isn't a kind of JSON value") }
    if kind == .valid {
      return call.setResult((try? scanner.checkWhole()) != nil)
    }
    guard let found = try plan.find(in: scanner) else { return }
    let type = JSONType(scanner.bytes[found.lowerBound])
    if kind == .type { return call.setResult("\(type)") }
    if type == .null || give(found, type, kind, plan) { return }
    guard isStrict else { return }
    let text = scanner.source(found)
    throw JSONRefusal(
      "\(text.count > 60 ? text.prefix(59) + "…" : text[...]) in JSON isn't of the type \(kind)")
  }

  /// Gives SQLite the value as one of a kind; false if it isn't of that kind.
  private func give(
    _ range: Range<Int>, _ type: JSONType, _ kind: JSONKind, _ plan: JSONPlan
  ) -> Bool {
    switch (kind, type) {
    case (.json, _): call.setResult(text: scanner.part(range))
    case (.decimal, .number):
      guard DecimalNumber(scanner.part(range))?.isDecimal == true else { return false }
      call.setResult(text: scanner.part(range))
    case (.integer, .number):
      guard let number = integer(range) else { return false }
      call.setResult(number)
    case (.number, .number):
      guard let number = integer(range) else { return give(real: range) }
      call.setResult(number)
    case (.real, .number): return give(real: range)
    case (.bool, .boolean): call.setResult(scanner.bytes[range.lowerBound] == UInt8(ascii: "t"))
    case (.text, .string):
      let inside = scanner.part(range.lowerBound + 1..<range.upperBound - 1)
      if !inside.contains(UInt8(ascii: "\\")) {
        call.setResult(text: inside)
      } else {
        guard let text = scanner.text(in: range) else { return false }
        call.setResult(text: text)
      }
    case (.date, .string):
      guard let seconds = text(range).flatMap({ try? CivilTime.secondsSince1970($0) }),
        let date = try? DateFormat.iso8601.databaseValue(of: Date(timeIntervalSince1970: seconds))
      else { return false }
      call.setResult(date)
    case (.uuid, .string):
      guard let uuid = text(range).flatMap({ try? UUID(databaseValue: .text($0)).databaseValue })
      else { return false }
      call.setResult(uuid)
    case (.count, .array):
      if plan.count == nil {
        plan.count = (try? scanner.members(at: range.lowerBound)).map { Int64($0.count) }
      }
      call.setResult(plan.count ?? 0)
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
    guard let number = Double(scanner.source(range)), number.isFinite else { return false }
    call.setResult(number)
    return true
  }

  private func text(_ range: Range<Int>) -> String? {
    scanner.text(in: range).map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: Changes

  func changed() throws {
    var text: [UInt8]?
    if !call[0].isNull {
      try scanner.checkWhole()
      text = Array(scanner.bytes)
    }
    for argument in stride(from: 1, to: call.count - 1, by: 2) {
      let isRemoval = call[argument + 1].isNull
      let value = isRemoval ? nil : JSONScanner(of: call[argument + 1])
      try value?.checkWhole()
      let isInsertion = text != nil && call[argument].text?.first == JSONChange.insertion
      let old = text ?? Array("null".utf8)
      let new = try JSONPlan.with(call, hasKind: false, argument: argument) { plan in
        try JSONScanner.scanning(old) { try JSONChange($0, plan.steps, value).text(isInsertion) }
      }
      // Removing something from NULL leaves NULL.
      if let new { text = new } else if !isRemoval { text = old }
    }
    if let text { call.setResult(text: text) }
  }

  // MARK: Rows

  func rows() throws {
    let found = try JSONPlan.with(call, hasKind: false) { try scanner.find($0.steps) }
    guard let found else { return }
    var rows: [UInt8] = [UInt8(ascii: "[")]
    rows.reserveCapacity(found.count * 5 / 4 + 32)
    for member in try scanner.members(at: found.lowerBound) {
      rows += rows.count > 1 ? ",[".utf8 : "[".utf8
      if let name = member.name {
        // `json_each`, which reads the rows, ends a text at a NUL.
        let isEscaped = scanner.part(name).contains(UInt8(ascii: "\\"))
        if isEscaped, scanner.text(in: name)?.contains(0) == true {
          throw JSONRefusal("a name in JSON holds a NUL")
        }
        rows += scanner.part(name)
      } else {
        rows += "null".utf8
      }
      rows.append(UInt8(ascii: ","))
      rows.append(quotedJSON: scanner.part(member.value))
      rows.append(UInt8(ascii: "]"))
    }
    rows.append(UInt8(ascii: "]"))
    call.setResult(text: rows)
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
      case 0..<0x20: self += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: append(byte)
      }
    }
    append(UInt8(ascii: "\""))
  }
}
