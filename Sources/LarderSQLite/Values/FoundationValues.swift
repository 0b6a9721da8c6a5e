import FoundationEssentials

// Date, UUID, URL and Decimal as values.

extension Date: DatabaseValueConvertible {
  /// What the connection's date format makes of it: REAL, INTEGER or TEXT.
  public static var columnType: ColumnType { .date }

  /// Seconds since 1970 as a real number, whatever the connection's format: a value by itself
  /// knows no connection. Arguments and columns use ``Configuration/dateFormat``. Throws for a date that
  /// isn't finite.
  public var databaseValue: DatabaseValue {
    get throws { try DateFormat.secondsSince1970.databaseValue(of: self) }
  }

  /// The date from seconds since 1970. Throws for text, NULL and blobs.
  public init(databaseValue: DatabaseValue) throws {
    self = try DateFormat.secondsSince1970.date(from: databaseValue)
  }

  /// Binds the date in the connection's format. Throws for one that it can't express.
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.dateFormat.databaseValue(of: self).bind(to: parameter)
  }

  /// The date from the connection's format. Throws for a value of any other form.
  public init(column: ColumnReader) throws {
    self = try column.dateFormat.date(from: DatabaseValue(column: column))
  }
}

extension UUID: DatabaseValueConvertible {
  /// BLOB.
  public static var columnType: ColumnType { .blob }

  /// A blob of 16 bytes: half the size of text, and with one spelling only.
  public var databaseValue: DatabaseValue {
    .blob(withUnsafeBytes(of: uuid) { [UInt8]($0) })
  }

  /// The UUID from 16 bytes, or from text such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F` in
  /// either case. Throws for anything else.
  public init(databaseValue: DatabaseValue) throws {
    switch databaseValue {
    case .blob(let bytes):
      guard bytes.count == 16 else { throw ConversionError(.malformed, UUID.self) }
      self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    case .text(let text):
      guard let value = UUID(uuidString: text), value.uuidString == text.uppercased() else {
        throw ConversionError(.malformed, UUID.self)
      }
      self = value
    default:
      throw databaseValue.unexpected(for: UUID.self)
    }
  }

  /// Binds the 16 bytes. Throws as ``ParameterBinder`` says.
  public func bind(to parameter: ParameterBinder) throws {
    try withUnsafeBytes(of: uuid) { try parameter.bind($0) }
  }

  /// Reads 16 bytes, or text. Throws as ``init(databaseValue:)`` does.
  public init(column: ColumnReader) throws {
    guard column.storageClass == .blob else {
      try self.init(databaseValue: DatabaseValue(column: column))
      return
    }
    self.init(
      uuid: try column.withUnsafeBytes { bytes in
        guard bytes.count == 16 else { throw ConversionError(.malformed, UUID.self) }
        return bytes.loadUnaligned(as: uuid_t.self)
      })
  }
}

extension URL: DatabaseValueConvertible {
  /// TEXT.
  public static var columnType: ColumnType { .text }

  /// The absolute URL as text.
  public var databaseValue: DatabaseValue { .text(absoluteString) }

  /// The URL from text. Throws where the text is no URL; nothing is escaped on the way.
  public init(databaseValue: DatabaseValue) throws {
    let text = try String(databaseValue: databaseValue)
    guard let value = URL(string: text, encodingInvalidCharacters: false),
      value.absoluteString == text
    else { throw ConversionError(.malformed, URL.self) }
    self = value
  }
}

extension Decimal: DatabaseValueConvertible {
  /// TEXT.
  public static var columnType: ColumnType { .text }

  /// The number as text: SQLite has no decimal numbers and would round. Throws for NaN.
  public var databaseValue: DatabaseValue {
    get throws {
      guard !isNaN else { throw ConversionError(.notANumber, Decimal.self) }
      return .text(description)
    }
  }

  /// The number from text such as `-12.50` or `1e9`, or from an integer. Throws for a real, which
  /// need not have an exact decimal form of 38 digits, and for text with anything else in it.
  public init(databaseValue: DatabaseValue) throws {
    switch databaseValue {
    case .integer(let value):
      self.init(value)
    case .text(let text):
      // The initializer stops at the first character that it doesn't know, and rounds; both show.
      guard Self.isNumber(text) else { throw ConversionError(.malformed, Decimal.self) }
      let digits = Self.digits(of: text)
      guard digits.count <= 39, let value = Decimal(string: text), !value.isNaN,
        Self.digits(of: value.description) == digits
      else { throw ConversionError(.notExact, Decimal.self) }
      self = value
    default:
      throw databaseValue.unexpected(for: Decimal.self)
    }
  }

  /// Whether a text is a number: digits with a point anywhere among them or none, a sign or none
  /// before them, and an exponent or none after them.
  private static func isNumber(_ text: String) -> Bool {
    var rest = text.utf8[...]
    func take(_ bytes: String) -> Bool {
      guard let first = rest.first, bytes.utf8.contains(first) else { return false }
      rest.removeFirst()
      return true
    }
    func takeDigits() -> Bool {
      let length = rest.count
      rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      return rest.count < length
    }
    _ = take("+-")
    let hasWhole = takeDigits()
    let hasFraction = take(".") && takeDigits()
    guard hasWhole || hasFraction else { return false }
    if take("eE") {
      _ = take("+-")
      guard takeDigits() else { return false }
    }
    return rest.isEmpty
  }

  /// The digits that count, without exponent, point, and zeros at both ends.
  private static func digits(of text: String) -> [UInt8] {
    let zero = UInt8(ascii: "0")
    let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
      .filter { (zero...UInt8(ascii: "9")).contains($0) }
    let end = digits.lastIndex { $0 != zero }.map { $0 + 1 } ?? 0
    return Array(digits[..<end].drop { $0 == zero })
  }
}
