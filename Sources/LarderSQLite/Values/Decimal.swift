import FoundationEssentials

// Decimal numbers as values.

extension Decimal: DatabaseValueConvertible {
  /// TEXT, which queries compare, order and compute with as a number.
  ///
  /// They do so by functions of this library's connections, for which no index serves. Your own SQL can call
  /// them too (`larder_decimal_sum`, `ORDER BY larder_decimal_key(price)`).
  ///
  /// A row whose key is a Decimal is found by the text, which is the same for all equal numbers that this
  /// library has written. A `1.00` that another program wrote is found by `filter { $0.price == 1 }`, but not
  /// by `find(db, 1)`.
  public static var columnType: ColumnType { .decimal }

  /// The number as text such as `-12.5`, the same for equal numbers. SQLite has no decimal numbers and would
  /// round. Throws for NaN.
  public var databaseValue: DatabaseValue {
    get throws {
      guard !isNaN else { throw ConversionError(.notANumber, Decimal.self) }
      guard let number = DecimalNumber(description.utf8) else {
        throw ConversionError(.malformed, Decimal.self)
      }
      return .text(String(decoding: number.text, as: UTF8.self))
    }
  }

  /// The number from text such as `-12.50` or `1e9`, from an integer, or from the shortest decimal form of a
  /// real number: 0.1 for 0.1. Throws for numbers that a Decimal can't hold exactly, and for any other text.
  public init(databaseValue: DatabaseValue) throws {
    switch databaseValue {
    case .integer(let value): self.init(value)
    case .real(let value): try self.init(exactly: value.description)
    case .text(let text): try self.init(exactly: text)
    default: throw databaseValue.unexpected(for: Decimal.self)
    }
  }

  private init(exactly text: String) throws {
    guard let number = text.withBytes({ DecimalNumber($0) }) else {
      throw ConversionError(.malformed, Decimal.self)
    }
    guard number.isDecimal,
      let value = Decimal(string: String(decoding: number.text, as: UTF8.self))
    else { throw ConversionError(.notExact, Decimal.self) }
    self = value
  }
}
