import FoundationEssentials
import Larder
import LarderTerminal

/// The conversion of an imported file's values by a column's declared type.
///
/// SQLite would convert text by itself. But its Double isn't always the one nearest to the decimal digits,
/// and an integer that is too large becomes a real number.
enum ColumnForm: Equatable {
  /// Integers. SQLite stores other values unchanged, unless the table is STRICT.
  case integer
  case real
  /// Numbers, and text that isn't a number, such as dates.
  case numeric
  case text
  /// Any value, unchanged.
  case any

  init(type: String, isStrict: Bool) {
    switch ColumnAffinity(type: type, isStrict: isStrict) {
    case .none: self = .any
    case .text: self = .text
    case .real: self = .real
    case .numeric: self = type.uppercased().contains("INT") ? .integer : .numeric
    }
  }
}

/// A column of the table that rows are imported into.
struct ImportedColumn {
  let name: String
  let form: ColumnForm
  /// Whether the column takes only text, so that `x'00'` is text and not a blob.
  let isStrictText: Bool
  /// Whether the type was guessed from the file. Then it mustn't change any value.
  let isGuessed: Bool

  init(_ column: ColumnSchema, isStrict: Bool, isGuessed: Bool = false) {
    name = column.name
    self.isGuessed = isGuessed
    form = ColumnForm(type: column.type, isStrict: isStrict)
    isStrictText = isStrict && form == .text
  }
}

/// A value in the form in which a file contains it.
enum FileField {
  case null
  /// A value without quotes: a number, a CSV file's blob, or text that can't be mistaken for either.
  case bare(LentBytes)
  /// A value that is marked as text, by quotes.
  case text(LentBytes)
  case base64(LentBytes)
  case bool(Bool)
}

/// The reason why a field can't be stored in its column.
struct FieldProblem: Error {
  let problem: String
  init(_ problem: String) { self.problem = problem }
}

extension ImportedColumn {
  /// Binds a file's value. Throws ``FieldProblem``.
  func bind(_ field: FileField, to parameter: ParameterBinder) throws {
    switch field {
    case .null: try parameter.bindNull()
    case .bool(let value): try parameter.bind(value ? 1 : 0 as Int64)
    case .base64(let text):
      guard let blob = Data(base64Encoded: String(decoding: text, as: UTF8.self)) else {
        throw FieldProblem("the value of base64 isn't valid Base64")
      }
      try parameter.bind([UInt8](blob))
    case .text(let bytes):
      if isGuessed, form == .integer || form == .real, bytes.isTakenForNumber {
        throw FieldProblem(
          "the text “\(bytes.shown)” would become a number: create the table first, with “\(name)” as TEXT"
        )
      }
      if form != .text, form != .any, try bindNumber(bytes, isMarked: true, to: parameter) {
        return
      }
      try bind(text: bytes, to: parameter)
    case .bare(let bytes):
      if form != .text, try bindNumber(bytes, isMarked: false, to: parameter) { return }
      if !isStrictText, let blob = BlobLiteral.bytes(bytes) { return try parameter.bind(blob) }
      guard form != .integer, form != .real else {
        let kind = form == .integer ? "an integer" : "a number"
        throw FieldProblem("“\(bytes.shown)” isn't \(kind); in quotes it would be stored as text")
      }
      try bind(text: bytes, to: parameter)
    }
  }

  private func bind(text bytes: LentBytes, to parameter: ParameterBinder) throws {
    guard bytes.isUTF8 else { throw FieldProblem("the text is not valid UTF-8") }
    try parameter.bind(text: bytes)
  }

  /// Binds the value if it is a number, and returns whether it was. A file may mark a number as text.
  private func bindNumber(
    _ bytes: LentBytes, isMarked: Bool, to parameter: ParameterBinder
  ) throws -> Bool {
    guard let first = bytes.first, first < 0x3A else { return false }
    if form == .any, !bytes.isPlainNumber { return false }
    if isGuessed, form != .any, !bytes.isKept(asReal: form == .real) {
      if Double(decimal: bytes) == nil { return false }
      throw FieldProblem(
        "“\(bytes.shown)” would become another number: create the table first, with “\(name)” as TEXT"
      )
    }
    if form != .real, let integer = Int64(decimal: bytes) {
      try parameter.bind(integer)
      return true
    }
    guard let real = Double(decimal: bytes) else { return false }
    if form != .real, bytes.isInteger {
      // Too long for an integer; as a real number it would lose digits.
      if form == .any || isMarked { return false }
      throw FieldProblem("“\(bytes.shown)” doesn't fit into a 64-bit integer")
    }
    if form == .real, bytes.isInteger, DecimalNumber(bytes) != DecimalNumber("\(real)".utf8) {
      throw FieldProblem("“\(bytes.shown)” can't be a real number without a loss")
    }
    try parameter.bind(real)
    return true
  }
}

extension LentBytes {
  /// The first 40 bytes as text, for a message.
  var shown: String {
    let text = String(decoding: prefix(40), as: UTF8.self)
    return count > 40 ? text + "…" : text
  }

  /// Whether the bytes are only digits and a sign.
  var isInteger: Bool { allSatisfy { $0.decimalDigit != nil || $0 == UInt8(ascii: "-") } }

  /// Whether this is a number that a numeric column stores and returns without changing its value.
  func isKept(asReal: Bool) -> Bool {
    guard isPlainNumber, let number = DecimalNumber(self) else { return false }
    if !asReal, let integer = Int64(decimal: self) {
      // An integer can't be -0.
      return integer != 0 || first != UInt8(ascii: "-")
    }
    guard let real = Double(decimal: self), real.isFinite else { return elementsEqualInfinity }
    return DecimalNumber("\(real)".utf8) == number
  }

  /// Whether a numeric column of SQLite would convert this text to a number.
  var isTakenForNumber: Bool {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 9...13 ~= byte }
    guard let start = firstIndex(where: { !isSpace($0) }),
      let end = lastIndex(where: { !isSpace($0) })
    else { return false }
    return DecimalNumber(self[start...end]) != nil
  }

  /// Whether this is an infinity, as `export` writes it.
  private var elementsEqualInfinity: Bool {
    elementsEqual("9e999".utf8) || elementsEqual("-9e999".utf8)
  }

  /// Whether this is a number in JSON's form: with leading zeros or a plus it may be something else.
  var isPlainNumber: Bool {
    let digits = first == UInt8(ascii: "-") ? dropFirst() : self[...]
    guard let first = digits.first, let last = last, first.decimalDigit != nil,
      last.decimalDigit != nil
    else { return false }
    guard first == UInt8(ascii: "0"), digits.count > 1 else { return true }
    return digits.dropFirst().first?.decimalDigit == nil
  }
}
