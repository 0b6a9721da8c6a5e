// Values as SQL text, for statements that take no parameters, such as CREATE TABLE. Bind values wherever that
// is possible.

import FoundationEssentials

extension DatabaseValue {
  /// The value as an SQL literal or, if no literal would be read back exactly, as an expression in
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
  /// The text in single quotes, for an engine whose texts can't contain NUL.
  package var quotedText: String { quoted(by: UInt8(ascii: "'")) }

  /// The text in single quotes. SQL text ends at a NUL, so a text that contains one becomes an expression
  /// with char(0). Casting a blob instead would depend on the database's encoding.
  fileprivate var literal: String {
    let quote = UInt8(ascii: "'")
    guard utf8.contains(0) else { return quoted(by: quote) }
    let parts = unicodeScalars.split(separator: "\0", omittingEmptySubsequences: false)
    let quoted = parts.map { String($0).quoted(by: quote) }
    return "(" + quoted.joined(separator: " || char(0) || ") + ")"
  }
}

extension [UInt8] {
  package var hexadecimal: String {
    map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension UInt8 {
  fileprivate var endsOrBeginsWord: Bool { isSQLWord || self == UInt8(ascii: "'") }
}

extension Double {
  /// The shortest decimal number if SQLite is sure to read it as this value, otherwise a fraction.
  ///
  /// SQLite reads one in 150 of all doubles as a neighbour: it multiplies or divides the digits by a power of
  /// ten, and rounds more than once.
  fileprivate var literal: String {
    guard isFinite else { return self < 0 ? "-9e999" : "9e999" }
    return isReadExactly ? description : fraction
  }

  /// Whether this is by far the nearest double, so that rounding twice finds it too.
  private var isReadExactly: Bool {
    guard self != 0 else { return true }
    let parts = magnitude.description.split(separator: "e")
    let mantissa = (parts.first ?? "").split(separator: ".")
    let decimals = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    guard let digits = Int64((mantissa.first ?? "") + decimals), digits < 1 << 53,
      let exponent = parts.count > 1 ? Int(parts[1]) : 0
    else { return false }
    let power = exponent - decimals.utf8.count
    // Up to this exponent powers of ten are exact, and so is the remainder below.
    guard abs(power) <= 22 else { return false }
    let scale = (0..<abs(power)).reduce(1.0) { scale, _ in scale * 10 }
    let spacing = magnitude.nextDown.ulp
    if power < 0 {
      let remainder = Double(digits).addingProduct(-magnitude, scale)
      return abs(remainder) < 0.49 * spacing * scale
    }
    return abs((-magnitude).addingProduct(Double(digits), scale)) < 0.49 * spacing
  }

  /// An integer multiplied or divided by powers of two, all of which SQLite reads and computes exactly.
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
  /// The text with its values as literals in place of the placeholders.
  ///
  /// Throws if there are more or fewer values than placeholders, or a value can't be stored.
  ///
  /// - Parameters:
  ///   - dateFormat: the connection's format for stored dates.
  ///   - literal: writes a value of a type; if nil, SQLite's literals are used.
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
        // SQLite numbers a placeholder without a number after the largest number so far.
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
      // Two words must not become one.
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

/// A type whose values are stored in the connection's date format.
package protocol DateFormatted: DatabaseValueConvertible {
  func databaseValue(in format: DateFormat) throws -> DatabaseValue
}

extension Date: DateFormatted {
  package func databaseValue(in format: DateFormat) throws -> DatabaseValue {
    try format.databaseValue(of: self)
  }
}
