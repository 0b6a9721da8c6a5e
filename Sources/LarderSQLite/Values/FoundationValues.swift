import FoundationEssentials

// Date, UUID and URL as values.

extension Date: DatabaseValueConvertible {
  /// REAL, INTEGER or TEXT, by the connection's date format.
  public static var columnType: ColumnType { .date }

  /// Seconds since 1970 as a real number, whatever the connection's format: a value alone has no connection.
  /// Arguments and columns use ``Configuration/dateFormat``. Throws for a date that isn't finite.
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
  public static var columnType: ColumnType { .uuid }

  /// A blob of 16 bytes: half the size of text, and with one spelling only.
  public var databaseValue: DatabaseValue { .blob(withUnsafeBytes(of: uuid) { [UInt8]($0) }) }

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
    default: throw databaseValue.unexpected(for: UUID.self)
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

  /// Reads 16 bytes. Throws for text, which a query that compares bytes wouldn't find.
  @_documentation(visibility: internal)
  public init(written column: ColumnReader) throws {
    try self.init(column: column)
    guard column.storageClass == .text else { return }
    let isCapital = try column.text() == uuidString
    throw ConversionError(.otherCoding(isCapital ? ".text" : ".lowercaseText"), UUID.self)
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
