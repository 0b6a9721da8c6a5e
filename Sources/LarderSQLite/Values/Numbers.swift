import CSQLite

// Integers, floating-point numbers and Bool as values.

extension DatabaseValueConvertible where Self: FixedWidthInteger {
  /// INTEGER.
  public static var columnType: ColumnType { .integer }

  /// An integer. Throws for what SQLite's signed 64 bits can't hold.
  @inlinable
  public var databaseValue: DatabaseValue { get throws { .integer(try stored()) } }

  /// The integer. Throws for any other storage class, and for one out of range.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    guard case .integer(let stored) = databaseValue else {
      throw databaseValue.unexpected(for: Self.self)
    }
    try self.init(stored: stored)
  }

  /// Binds an integer. Throws for what SQLite's signed 64 bits can't hold.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.bind(stored())
  }

  /// The integer. Throws for any other storage class, and for one out of range.
  @inlinable
  public init(column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_INTEGER) else {
      throw column.unexpected(for: Self.self)
    }
    try self.init(stored: column.integer)
  }

  @inlinable
  func stored() throws -> Int64 {
    guard let value = Int64(exactly: self) else {
      throw ConversionError.failure(.notExact, Int64.self)
    }
    return value
  }

  @inlinable
  init(stored: Int64) throws {
    guard let value = Self(exactly: stored) else {
      throw ConversionError.failure(.notExact, Self.self)
    }
    self = value
  }
}

extension Int: DatabaseValueConvertible {}
extension Int8: DatabaseValueConvertible {}
extension Int16: DatabaseValueConvertible {}
extension Int32: DatabaseValueConvertible {}
extension Int64: DatabaseValueConvertible {}
extension UInt: DatabaseValueConvertible {}
extension UInt8: DatabaseValueConvertible {}
extension UInt16: DatabaseValueConvertible {}
extension UInt32: DatabaseValueConvertible {}
extension UInt64: DatabaseValueConvertible {}

extension DatabaseValueConvertible where Self: BinaryFloatingPoint {
  /// REAL.
  public static var columnType: ColumnType { .real }

  /// A real number. Throws for NaN.
  @inlinable
  public var databaseValue: DatabaseValue {
    get throws {
      guard !isNaN else { throw ConversionError.failure(.notANumber, Self.self) }
      return .real(Double(self))
    }
  }

  /// The number; integers widen. Throws where it can't be represented exactly.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    switch databaseValue {
    case .real(let stored): try self.init(stored: stored)
    case .integer(let stored): try self.init(stored: stored)
    default: throw databaseValue.unexpected(for: Self.self)
    }
  }

  /// Binds a real number. Throws for NaN. A REAL column stores -0.0 as 0.0: SQLite keeps numbers without a
  /// fraction as integers there.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.bind(Double(self))
  }

  /// The number; integers widen. Throws where it can't be represented exactly.
  @inlinable
  public init(column: ColumnReader) throws {
    switch column.type {
    case SQLITE_FLOAT: try self.init(stored: column.real)
    case SQLITE_INTEGER: try self.init(stored: column.integer)
    default: throw column.unexpected(for: Self.self)
    }
  }

  @inlinable
  init(stored: Double) throws {
    guard let value = Self(exactly: stored) else {
      throw ConversionError.failure(.notExact, Self.self)
    }
    self = value
  }

  @inlinable
  init(stored: Int64) throws {
    guard let value = Self(exactly: stored) else {
      throw ConversionError.failure(.notExact, Self.self)
    }
    self = value
  }
}

extension Double: DatabaseValueConvertible {}
extension Float: DatabaseValueConvertible {}

extension Bool: DatabaseValueConvertible {
  /// INTEGER.
  public static var columnType: ColumnType { .bool }

  /// 1 or 0.
  @inlinable
  public var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }

  /// False for 0, true for any other integer, as in SQL. Throws for any other storage class.
  @inlinable
  public init(databaseValue: DatabaseValue) throws {
    self = try Int64(databaseValue: databaseValue) != 0
  }

  /// Binds 1 or 0. Throws as ``ParameterBinder`` says.
  @inlinable
  public func bind(to parameter: ParameterBinder) throws {
    try parameter.bind(self ? 1 : 0 as Int64)
  }

  /// False for 0, true for any other integer, as in SQL. Throws for any other storage class.
  @inlinable
  public init(column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_INTEGER) else {
      throw column.unexpected(for: Bool.self)
    }
    self = column.integer != 0
  }

  /// False for 0 and true for 1. Throws for any other number, which a query that compares the column would
  /// take for neither.
  @inlinable @_documentation(visibility: internal)
  public init(written column: ColumnReader) throws {
    guard column.isStored(as: SQLITE_INTEGER) else {
      throw column.unexpected(for: Bool.self)
    }
    let number = column.integer
    guard number == 0 || number == 1 else { throw ConversionError.failure(.notExact, Bool.self) }
    self = number == 1
  }
}
