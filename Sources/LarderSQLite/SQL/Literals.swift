// Values as SQL text, for what takes no parameters: CREATE TABLE and its like. Anything that can bind
// its values should.

import FoundationEssentials

extension DatabaseValue {
  /// The value as an SQL literal or, where none would be read back exactly, as an expression in
  /// parentheses. Throws for NaN, which SQL can't express.
  ///
  /// See [literal values](https://www.sqlite.org/lang_expr.html#litvalue).
  package var literal: String {
    get throws {
      switch self {
      case .null: return "NULL"
      case .integer(let value): return String(value)
      case .real(let value):
        guard !value.isNaN else { throw ConversionError(.notANumber, Double.self) }
        return value.literal
      case .text(let value): return value.literal
      case .blob(let value): return "x'\(value.hexadecimal)'"
      }
    }
  }
}

extension String {
  /// In single quotes, for an engine in which a text can't hold NUL.
  package var quotedText: String { quoted(by: UInt8(ascii: "'")) }

  /// In single quotes. A text in SQL ends at a NUL, which is why it takes an expression; one that
  /// casts a blob would depend on the encoding of the database.
  fileprivate var literal: String {
    let quote = UInt8(ascii: "'")
    guard utf8.contains(0) else { return quoted(by: quote) }
    let parts = unicodeScalars.split(separator: "\0", omittingEmptySubsequences: false)
    let quoted = parts.map { String($0).quoted(by: quote) }
    return "(" + quoted.joined(separator: " || char(0) || ") + ")"
  }
}

extension [UInt8] {
  /// Two digits for each byte.
  package var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension UInt8 {
  fileprivate var endsOrBeginsWord: Bool { isSQLWord || self == UInt8(ascii: "'") }
}

extension Double {
  /// The shortest decimal number, if SQLite is sure to read it as this one, or else a fraction.
  ///
  /// SQLite reads one in 150 of all doubles as a neighbour: it computes digits times or through a
  /// power of ten, which is rounded more than once.
  fileprivate var literal: String {
    guard isFinite else { return self < 0 ? "-9e999" : "9e999" }
    return isReadExactly ? description : fraction
  }

  /// Whether the nearest double is this one by far, so that rounding twice gives it too.
  private var isReadExactly: Bool {
    guard self != 0 else { return true }
    let parts = magnitude.description.split(separator: "e")
    let mantissa = (parts.first ?? "").split(separator: ".")
    let decimals = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    guard let digits = Int64((mantissa.first ?? "") + decimals), digits < 1 << 53,
      let exponent = parts.count > 1 ? Int(parts[1]) : 0
    else { return false }
    let power = exponent - decimals.utf8.count
    // Up to here powers of ten are exact, and with them the remainder below.
    guard abs(power) <= 22 else { return false }
    let scale = (0..<abs(power)).reduce(1.0) { scale, _ in scale * 10 }
    let spacing = magnitude.nextDown.ulp
    if power < 0 {
      let remainder = Double(digits).addingProduct(-magnitude, scale)
      return abs(remainder) < 0.49 * spacing * scale
    }
    return abs((-magnitude).addingProduct(Double(digits), scale)) < 0.49 * spacing
  }

  /// An integer times or through powers of two, all of which SQLite reads and computes exactly.
  private var fraction: String {
    var integer = Int64(significand * 0x1p52)
    let zeros = integer.trailingZeroBitCount
    integer >>= Int64(zeros)
    var power = exponent - 52 + Self.Exponent(zeros)
    var text = "(" + (self < 0 ? "-" : "") + String(integer)
    let sign = power < 0 ? " / " : " * "
    while power != 0 {
      let step = min(52, abs(power))
      text += sign + String(describing: Double(Int64(1) << Int64(step)))
      power -= power.signum() * step
    }
    return text + ")"
  }
}

extension SQL {
  /// The text with its values written into it in the place of their placeholders.
  ///
  /// Throws where there are more or fewer of them, and for values that can't be stored.
  ///
  /// - Parameters:
  ///   - dateFormat: the connection's, which says how dates are stored.
  ///   - literal: writes a value of a type; as SQLite's literals if nil.
  package func literalText(
    dateFormat: DateFormat = .secondsSince1970,
    _ literal: ((DatabaseValue, ColumnType) throws -> String)? = nil
  ) throws -> String {
    let literals = try values.map { value in
      let stored = try Self.stored(value, dateFormat)
      return try literal?(stored, value.map { type(of: $0).columnType } ?? .any) ?? stored.literal
    }
    var text: [UInt8] = []
    var largest = 0
    var isAfterLiteral = false
    for piece in pieces {
      var next = Array(piece.text.utf8)
      if piece.kind == .placeholder {
        // As SQLite numbers them: one without a number comes after the largest so far.
        let number = piece.text == "?" ? largest + 1 : Int(piece.text.dropFirst()) ?? 0
        largest = max(largest, number)
        guard literals.indices.contains(number - 1) else {
          throw DatabaseError(
            .range, "there is no value for “\(piece.text)”: there are \(literals.count)",
            sql: self.text)
        }
        next = Array(literals[number - 1].utf8)
        // Two minus signs would begin a comment.
        if text.last == UInt8(ascii: "-"), next.first == UInt8(ascii: "-") { next = [0x20] + next }
      }
      // What SQLite reads as two words has to stay two.
      if piece.kind == .placeholder || isAfterLiteral, let end = text.last, end.endsOrBeginsWord,
        let start = next.first, start.endsOrBeginsWord
      {
        text.append(UInt8(ascii: " "))
      }
      isAfterLiteral = piece.kind == .placeholder
      text += next
    }
    guard largest == literals.count else {
      throw DatabaseError(
        .range, "there are \(literals.count) values for \(largest) placeholders", sql: self.text)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func stored(
    _ value: (any DatabaseValueConvertible)?, _ format: DateFormat
  ) throws -> DatabaseValue {
    if let value = value as? any DateFormatted { return try value.databaseValue(in: format) }
    return try value?.databaseValue ?? .null
  }
}

/// A value that is stored in the format of its connection's dates.
package protocol DateFormatted: DatabaseValueConvertible {
  /// The value as a connection with this format stores it.
  func databaseValue(in format: DateFormat) throws -> DatabaseValue
}

extension Date: DateFormatted {
  package func databaseValue(in format: DateFormat) throws -> DatabaseValue {
    try format.databaseValue(of: self)
  }
}
