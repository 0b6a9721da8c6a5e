import FoundationEssentials
import LarderSQLite

/// A value that is stored as JSON. JSON that a query selects is read as this type.
///
/// ```swift
/// let lines = try Job.select { $0.payload["lines"].as(JSON<[Line]>.self) }.fetchAll(db)
/// lines.first??.value                               // [Line]
/// ```
///
/// It is stored as text in the form of ``ColumnCoding/json``. Text that isn't JSON, or not of the type,
/// throws ``LarderSQLite/ConversionError``.
public struct JSON<Value: Codable & Sendable>: DatabaseValueConvertible {
  /// The value.
  public var value: Value

  /// A value to be stored.
  public init(_ value: Value) { self.value = value }

  /// The value as JSON text; throws ``LarderSQLite/ConversionError`` if it has no form in JSON.
  public var databaseValue: DatabaseValue { get throws { .text(try JSONText.text(of: value)) } }

  /// The value of a JSON text; throws ``LarderSQLite/ConversionError`` for any other text.
  public init(databaseValue: DatabaseValue) throws {
    value = try JSONText.value(Value.self, of: String(databaseValue: databaseValue))
  }

  /// The column's type: text.
  public static var columnType: ColumnType { .text }
}

extension JSON: Equatable where Value: Equatable {}
extension JSON: Hashable where Value: Hashable {}
extension JSON: JSONDocument {}
extension Optional: JSONDocument where Wrapped: JSONDocument {}

protocol JSONDocument {}

/// A value that becomes JSON when it is bound.
struct EncodedJSON: DatabaseValueConvertible {
  private let value: any Encodable & Sendable

  init(_ value: any Encodable & Sendable) { self.value = value }

  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Self.self) }

  var databaseValue: DatabaseValue { get throws { .text(try JSONText.text(of: value)) } }

  static var columnType: ColumnType { .text }
}
