import FoundationEssentials
import LarderSQLite

/// A value that is stored as JSON: what a query selects as JSON is read as this.
///
/// ```swift
/// let lines = try Job.select { $0.payload["lines"].as(JSON<[Line]>.self) }.fetchAll(db)
/// lines.first??.value                               // [Line]
/// ```
///
/// It is text in the form of ``ColumnCoding/json``. What isn't JSON, or not of the type, throws
/// ``LarderSQLite/ConversionError``.
public struct JSON<Value: Codable & Sendable>: DatabaseValueConvertible {
  /// The value.
  public var value: Value

  /// A value to be stored.
  public init(_ value: Value) { self.value = value }

  /// The text.
  public var databaseValue: DatabaseValue {
    get throws { .text(try JSONText.text(of: value)) }
  }

  /// The value of a text.
  public init(databaseValue: DatabaseValue) throws {
    value = try JSONText.value(Value.self, of: String(databaseValue: databaseValue))
  }

  /// Text.
  public static var columnType: ColumnType { .text }
}

extension JSON: Equatable where Value: Equatable {}
extension JSON: Hashable where Value: Hashable {}
extension JSON: JSONDocument {}
extension Optional: JSONDocument where Wrapped: JSONDocument {}

/// What is stored as JSON.
protocol JSONDocument {}

/// A value that becomes JSON when it is bound.
struct EncodedJSON: DatabaseValueConvertible {
  private let value: any Encodable & Sendable

  init(_ value: any Encodable & Sendable) { self.value = value }

  var databaseValue: DatabaseValue { get throws { .text(try JSONText.text(of: value)) } }

  init(databaseValue: DatabaseValue) throws {
    throw ConversionError(.malformed, EncodedJSON.self)
  }

  static var columnType: ColumnType { .text }
}
