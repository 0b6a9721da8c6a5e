import FoundationEssentials
import Larder
import LarderSQLite
import LarderTerminal

/// What a column makes of what a file has for it, by its declaration.
///
/// SQLite would convert text by itself, but its conversion of decimal digits to a Double isn't always the
/// nearest, and of an integer that is too large it makes a real number.
enum ColumnForm: Equatable {
  /// Integers; SQLite stores what else it gets as it is, unless the table is STRICT.
  case integer
  case real
  /// Numbers, and text that is none, such as dates.
  case numeric
  case text
  /// Each value as it is.
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
  /// Whether it takes nothing but text, so that `x'00'` is one.
  let isStrictText: Bool
  /// Whether its type was guessed, and so changes nothing.
  let isGuessed: Bool

  init(_ column: ColumnSchema, isStrict: Bool, isGuessed: Bool = false) {
    name = column.name
    self.isGuessed = isGuessed
    form = ColumnForm(type: column.type, isStrict: isStrict)
    isStrictText = isStrict && form == .text
  }
}

/// A value in a file, as it stands there.
enum FileField {
  case null
  /// Without quotes: a number, a blob of CSV, or text that could be nothing else.
  case bare(UnsafeBufferPointer<UInt8>)
  /// Text that is marked as one.
  case text(UnsafeBufferPointer<UInt8>)
  case base64(UnsafeBufferPointer<UInt8>)
  case bool(Bool)
}

/// Why a field has no place in its column.
struct FieldProblem: Error {
  let problem: String
  init(_ problem: String) { self.problem = problem }
}

extension ImportedColumn {
  /// Binds what a file has. Throws ``FieldProblem``.
  func bind(_ field: FileField, to parameter: ParameterBinder) throws {
    switch field {
    case .null: try parameter.bindNull()
    case .bool(let value): try parameter.bind(value ? 1 : 0 as Int64)
    case .base64(let text):
      guard let blob = Data(base64Encoded: String(decoding: text, as: UTF8.self)) else {
        throw FieldProblem("the base64 is none")
      }
      try parameter.bind([UInt8](blob))
    case .text(let bytes):
      if isGuessed, form == .integer || form == .real, bytes.isTakenForNumber {
        throw FieldProblem(
          "the text “\(bytes.shown)” would become a number: make the table first, with “\(name)” as TEXT"
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

  private func bind(text bytes: UnsafeBufferPointer<UInt8>, to parameter: ParameterBinder) throws {
    guard bytes.isUTF8 else { throw FieldProblem("the text is not valid UTF-8") }
    try parameter.bind(text: bytes)
  }

  /// Binds a number, and tells whether it was one.
  ///
  /// - Parameter isMarked: whether it is marked as a text.
  private func bindNumber(
    _ bytes: UnsafeBufferPointer<UInt8>, isMarked: Bool, to parameter: ParameterBinder
  ) throws -> Bool {
    guard let first = bytes.first, first < 0x3A else { return false }
    if form == .any, !bytes.isPlainNumber { return false }
    if isGuessed, form != .any, !bytes.isKept(asReal: form == .real) {
      if Double(decimal: bytes) == nil { return false }
      throw FieldProblem(
        "“\(bytes.shown)” would become another number: make the table first, with “\(name)” as TEXT"
      )
    }
    if form != .real, let integer = Int64(decimal: bytes) {
      try parameter.bind(integer)
      return true
    }
    guard let real = Double(decimal: bytes) else { return false }
    if form != .real, bytes.isInteger {
      // Longer than an integer can be: as a real number it would lose digits.
      if form == .any || isMarked { return false }
      throw FieldProblem("“\(bytes.shown)” is beyond the integers of 64 bits")
    }
    if form == .real, bytes.isInteger, DecimalNumber(bytes) != DecimalNumber("\(real)".utf8) {
      throw FieldProblem("“\(bytes.shown)” can't be a real number without a loss")
    }
    try parameter.bind(real)
    return true
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// The beginning, for a message.
  var shown: String {
    let text = String(decoding: prefix(40), as: UTF8.self)
    return count > 40 ? text + "…" : text
  }

  /// Whether it is nothing but digits, and a sign.
  var isInteger: Bool { allSatisfy { $0.decimalDigit != nil || $0 == UInt8(ascii: "-") } }

  /// Whether it is a number that a column of numbers stores, and gives back, with the value it has here.
  func isKept(asReal: Bool) -> Bool {
    guard isPlainNumber, let number = DecimalNumber(self) else { return false }
    if !asReal, let integer = Int64(decimal: self) {
      // There is no -0 among integers.
      return integer != 0 || first != UInt8(ascii: "-")
    }
    guard let real = Double(decimal: self), real.isFinite else { return elementsEqualInfinity }
    return DecimalNumber("\(real)".utf8) == number
  }

  /// Whether SQLite makes a number of this text, in a column of numbers.
  var isTakenForNumber: Bool {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 9...13 ~= byte }
    guard let start = firstIndex(where: { !isSpace($0) }),
      let end = lastIndex(where: { !isSpace($0) })
    else { return false }
    return DecimalNumber(self[start...end]) != nil
  }

  /// Whether `export` writes an infinity so.
  private var elementsEqualInfinity: Bool {
    elementsEqual("9e999".utf8) || elementsEqual("-9e999".utf8)
  }

  /// Whether it is a number as JSON has it: with leading zeros, or a plus, it may be something else.
  var isPlainNumber: Bool {
    let digits = first == UInt8(ascii: "-") ? dropFirst() : self[...]
    guard let first = digits.first, let last = last, first.decimalDigit != nil,
      last.decimalDigit != nil
    else { return false }
    guard first == UInt8(ascii: "0"), digits.count > 1 else { return true }
    return digits.dropFirst().first?.decimalDigit == nil
  }
}
