import CSQLite
import FoundationEssentials

// Text and blobs as values.

extension String: DatabaseValueConvertible {
  /// TEXT.
  public static var columnType: ColumnType { .text }

  /// Text.
  @inlinable
  public var databaseValue: DatabaseValue { .text(self) }

  /// The text. Throws for any other storage class.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    guard case .text(let text) = databaseValue else {
      throw databaseValue.unexpected(for: String.self)
    }
    self = text
  }

  /// Binds text. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.bind(self)
  }

  /// The text. Throws for any other storage class, and where the bytes aren't UTF-8.
  @inlinable
  public init(column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_TEXT) else {
      throw column.unexpected(for: String.self)
    }
    self = try column.text()
  }
}

extension Array: DatabaseValueConvertible where Element == UInt8 {
  /// BLOB.
  public static var columnType: ColumnType { .blob }

  /// A blob.
  @inlinable
  public var databaseValue: DatabaseValue { .blob(self) }

  /// The blob's bytes. Throws for any other storage class.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    guard case .blob(let bytes) = databaseValue else {
      throw databaseValue.unexpected(for: [UInt8].self)
    }
    self = bytes
  }

  /// Binds a blob. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.bind(self)
  }

  /// The blob's bytes. Throws for any other storage class.
  @inlinable
  public init(column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_BLOB) else {
      throw column.unexpected(for: [UInt8].self)
    }
    self = try column.bytes()
  }
}

extension Data: DatabaseValueConvertible {
  /// BLOB.
  public static var columnType: ColumnType { .blob }

  /// A blob.
  public var databaseValue: DatabaseValue { .blob([UInt8](self)) }

  /// The blob's bytes. Throws for any other storage class.
  public init(databaseValue: DatabaseValue) throws {
    guard case .blob(let bytes) = databaseValue else {
      throw databaseValue.unexpected(for: Data.self)
    }
    self.init(bytes)
  }

  /// Binds a blob. Throws as ``ParameterBinder`` says.
  public func bind(to parameter: ParameterBinder) throws {
    try withUnsafeBytes { try parameter.bind($0) }
  }

  /// The blob's bytes. Throws for any other storage class.
  public init(column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_BLOB) else { throw column.unexpected(for: Data.self) }
    self = try column.withUnsafeBytes { Data($0) }
  }
}
