/// A type whose values go into the database and come out of it exactly.
///
/// A type of your own needs the first two members; one with a raw value needs none:
///
/// ```swift
/// enum Level: String, DatabaseValueConvertible { case province, city, district }
/// ```
///
/// `init(databaseValue:)` throws ``ConversionError`` for whatever it can't represent exactly.
public protocol DatabaseValueConvertible: Sendable {
  /// The value as SQLite stores it. Throws if SQLite can't store it exactly.
  var databaseValue: DatabaseValue { get throws }

  /// The value from what SQLite stored. Throws if that isn't exactly a value of this type.
  init(databaseValue: DatabaseValue) throws

  /// The type with which a column for these values is declared; ``ColumnType/any`` unless the type says
  /// otherwise.
  static var columnType: ColumnType { get }

  /// The Optional of this type, or the type itself if it is an Optional already.
  @_documentation(visibility: internal)
  associatedtype AsOptional: DatabaseValueConvertible = Self?

  /// Binds the value to a parameter without a ``DatabaseValue`` in between. It has to bind the same value as
  /// ``databaseValue``, which the default binds. Throws as that and ``ParameterBinder`` do.
  func bind(to parameter: ParameterBinder) throws

  /// Reads the value of a column without a ``DatabaseValue`` in between. The default does use one. Throws as
  /// ``init(databaseValue:)`` and ``ColumnReader`` do.
  init(column: ColumnReader) throws

  /// Reads a column that queries compare with values. It accepts only what ``bind(to:)`` writes, where
  /// ``init(column:)`` accepts other forms too. The default is ``init(column:)``.
  @_documentation(visibility: internal)
  init(written column: ColumnReader) throws
}

extension DatabaseValueConvertible {
  /// ``ColumnType/any``.
  public static var columnType: ColumnType { .any }

  /// Binds ``databaseValue``. Throws as that and ``ParameterBinder`` do.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try databaseValue.bind(to: parameter)
  }

  /// Reads a ``DatabaseValue`` and converts it. Throws as ``init(databaseValue:)`` does.
  @inlinable
  public init(column: ColumnReader) throws {
    try self.init(databaseValue: DatabaseValue(column: column))
  }

  /// Reads what ``init(column:)`` does.
  @inlinable @_documentation(visibility: internal)
  public init(written column: ColumnReader) throws { try self.init(column: column) }
}

extension DatabaseValueConvertible
where Self: RawRepresentable, RawValue: DatabaseValueConvertible {
  /// The raw value's column type.
  public static var columnType: ColumnType { RawValue.columnType }

  /// The raw value as SQLite stores it. Throws as the raw value's conversion does.
  @inlinable
  public var databaseValue: DatabaseValue { get throws { try rawValue.databaseValue } }

  /// The case that has the stored raw value; throws where none has it.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    try self.init(stored: RawValue(databaseValue: databaseValue))
  }

  /// Binds the raw value. Throws as that does.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try rawValue.bind(to: parameter)
  }

  /// The case that has the column's raw value; throws where none has it.
  @inlinable
  public init(column: ColumnReader) throws {
    try self.init(stored: RawValue(column: column))
  }

  /// The case that has the raw value that was written.
  @inlinable @_documentation(visibility: internal)
  public init(written column: ColumnReader) throws {
    try self.init(stored: RawValue(written: column))
  }

  @inlinable
  init(stored: RawValue) throws {
    guard let value = Self(rawValue: stored) else {
      throw ConversionError.failure(.unknownRawValue, Self.self)
    }
    self = value
  }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
  /// The type itself.
  @_documentation(visibility: internal)
  public typealias AsOptional = Self

  /// The value's column type, with NULL.
  public static var columnType: ColumnType { Wrapped.columnType.optional }

  /// NULL for nil, else the value as SQLite stores it. Throws as the value's conversion does.
  @inlinable
  public var databaseValue: DatabaseValue { get throws { try self?.databaseValue ?? .null } }

  /// Nil for NULL, else the value. Throws as that does.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    self = databaseValue.isNull ? nil : try Wrapped(databaseValue: databaseValue)
  }

  /// Binds NULL for nil, else the value. Throws as that does.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    if let self { try self.bind(to: parameter) } else { try parameter.bindNull() }
  }

  /// Nil for NULL, else the value. Throws as that does.
  @inlinable
  public init(column: ColumnReader) throws {
    self = column.isNull ? nil : try Wrapped(column: column)
  }

  /// Nil for NULL, else the value that was written.
  @inlinable @_documentation(visibility: internal)
  public init(written column: ColumnReader) throws {
    self = column.isNull ? nil : try Wrapped(written: column)
  }
}
