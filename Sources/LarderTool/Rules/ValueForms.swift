import Larder
import LarderTerminal

/// A form of a value. One value may have several forms.
enum ValueForm: Hashable {
  case null, integer, real, text, blob
  /// Text that isn't UTF-8, has a NUL, or begins or ends with white space.
  case invalidUTF8, nul, padded
  /// Text that is a whole number, spelled as an INTEGER prints.
  case wholeNumber
  /// Text that is a date, with its format, such as `YYYY-MM-DD`.
  case date(String)
  /// A date or time that doesn't exist.
  case impossibleDate
  case uuid(UUIDForm)
  case json, notJSON
  /// A number that may be seconds, or milliseconds, since 1970, for a date from 1973 to 2286.
  case seconds, milliseconds
  /// A value other than 0 and 1.
  case notBoolean
  /// Text that differs from another value only in case.
  case otherCase
  /// Text that is longer than the declared type says.
  case tooLong
  /// 0 or 1, also as text, and a word such as `true` or `no`.
  case zeroOrOne, booleanWord
  /// A date whose order of day and month is clear, or isn't.
  case dayFirst, monthFirst, eitherOrder

  static func forms(of value: Int64) -> [ValueForm] {
    switch value {
    case 0, 1: [.zeroOrOne]
    case 100_000_000..<10_000_000_000: [.notBoolean, .seconds]
    case 100_000_000_000..<10_000_000_000_000: [.notBoolean, .milliseconds]
    default: [.notBoolean]
    }
  }
}

/// The spelling of a UUID.
enum UUIDForm: String {
  case lowercase = "small letters"
  case uppercase = "capitals"
  case withoutHyphens = "no hyphens"
  case inBraces = "braces"
  case blob = "16 bytes"
}

/// The forms of a text.
struct TextForms {
  let text: String
  private(set) var forms: [ValueForm] = [.notBoolean]
  /// Whether the text begins and ends like a JSON object or array.
  let looksLikeJSON: Bool

  /// The length in bytes up to which texts are checked for JSON.
  static let mostJSON = 1 << 20

  init(_ bytes: UnsafeRawBufferPointer) {
    let valid = String(validating: bytes, as: UTF8.self)
    text = valid ?? String(decoding: bytes, as: UTF8.self)
    let isSpace: (UInt8?) -> Bool = { $0 == 0x20 || $0.map { (9...13).contains($0) } ?? false }
    let trimmed = bytes.drop(while: isSpace)
    let last = trimmed.last { !isSpace($0) }
    looksLikeJSON =
      trimmed.first == UInt8(ascii: "{") && last == UInt8(ascii: "}")
      || trimmed.first == UInt8(ascii: "[") && last == UInt8(ascii: "]")
    if valid == nil { forms.append(.invalidUTF8) }
    if bytes.contains(0) { forms.append(.nul) }
    if isSpace(bytes.first) || isSpace(bytes.last) { forms.append(.padded) }
    guard !bytes.isEmpty, bytes.count <= 64 else { return }
    let bytes = Array(bytes)
    if Self.isWholeNumber(bytes) { forms.append(.wholeNumber) }
    if ["0", "1"].contains(text) { forms.append(.zeroOrOne) }
    if bytes.count <= 5, Self.booleanWords.contains(text.lowercased()) {
      forms.append(.booleanWord)
    }
    if let date = DateText(bytes) {
      forms.append(.date(date.form))
      if let order = date.order { forms.append(order) }
      if !date.isPossible { forms.append(.impossibleDate) }
    }
    if let uuid = Self.uuid(bytes) { forms.append(.uuid(uuid)) }
  }

  private static let booleanWords: Set<String> = [
    "true", "false", "yes", "no", "on", "off", "t", "f", "y", "n",
  ]

  /// Whether the text is a whole number without leading zeros, which a number wouldn't keep.
  private static func isWholeNumber(_ bytes: [UInt8]) -> Bool {
    let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
    guard let first = digits.first, digits.count <= 18,
      digits.allSatisfy({ $0.decimalDigit != nil })
    else { return false }
    return first != UInt8(ascii: "0") || bytes.count == 1
  }

  /// The spelling of a UUID; nil for another text, and for a UUID of digits only, whose case is unknown.
  private static func uuid(_ bytes: [UInt8]) -> UUIDForm? {
    let hasBraces =
      bytes.count == 38 && bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}")
    let inner = hasBraces ? Array(bytes[1..<37]) : bytes
    let digits = inner.filter { $0.hexadecimalDigit != nil }
    let hasHyphens =
      inner.count == 36 && [8, 13, 18, 23].allSatisfy { inner[$0] == UInt8(ascii: "-") }
    guard digits.count == 32, hasHyphens || inner.count == 32 else { return nil }
    if hasBraces { return .inBraces }
    if !hasHyphens { return .withoutHyphens }
    if digits.contains(where: { $0 >= UInt8(ascii: "a") }) { return .lowercase }
    return digits.contains { $0 >= UInt8(ascii: "A") } ? .uppercase : nil
  }
}
