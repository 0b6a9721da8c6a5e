/// A value as SQLite stores it: one of the five storage classes.
///
/// Literals work where a `DatabaseValue` is expected: `let row: [DatabaseValue] = [1, 2.5, "x", nil]`.
/// See [Datatypes](https://www.sqlite.org/datatype3.html).
public enum DatabaseValue: Hashable, Sendable {
  /// No value.
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// A 64-bit floating point number; never NaN once stored.
  case real(Double)
  /// Text, which may hold NUL.
  case text(String)
  /// Bytes, which may be none.
  case blob([UInt8])

  /// Whether this is NULL.
  public var isNull: Bool { self == .null }

  /// The storage class in which SQLite stores the value.
  public var storageClass: StorageClass {
    switch self {
    case .null: .null
    case .integer: .integer
    case .real: .real
    case .text: .text
    case .blob: .blob
    }
  }
}

extension DatabaseValue: DatabaseValueConvertible {
  /// ANY, and NULL.
  public static var columnType: ColumnType { .any.optional }

  /// The value itself.
  public var databaseValue: DatabaseValue { self }

  /// Takes the value as it is.
  public init(databaseValue: DatabaseValue) { self = databaseValue }

  /// Reads the column as it is stored. Throws as ``ColumnReader/text()`` does.
  public init(column: ColumnReader) throws {
    switch column.storageClass {
    case .null: self = .null
    case .integer: self = .integer(column.integer)
    case .real: self = .real(column.real)
    case .text: self = .text(try column.text())
    case .blob: self = .blob(try column.bytes())
    }
  }

  /// Binds the value as it is. Throws as the methods of ``ParameterBinder`` do.
  public func bind(to parameter: ParameterBinder) throws {
    switch self {
    case .null: try parameter.bindNull()
    case .integer(let value): try parameter.bind(value)
    case .real(let value): try parameter.bind(value)
    case .text(let value): try parameter.bind(value)
    case .blob(let value): try parameter.bind(value)
    }
  }
}

extension DatabaseValue: ExpressibleByNilLiteral {
  /// NULL.
  public init(nilLiteral: ()) { self = .null }
}

extension DatabaseValue: ExpressibleByIntegerLiteral {
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension DatabaseValue: ExpressibleByFloatLiteral {
  /// A floating point number.
  public init(floatLiteral value: Double) { self = .real(value) }
}

extension DatabaseValue: ExpressibleByStringLiteral {
  /// Text.
  public init(stringLiteral value: String) { self = .text(value) }
}

extension DatabaseValue: ExpressibleByBooleanLiteral {
  /// 1 or 0.
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension DatabaseValue {
  @usableFromInline
  package func unexpected(for type: Any.Type) -> any Error {
    ConversionError.failure(isNull ? .null : .storageClass(storageClass), type)
  }
}
