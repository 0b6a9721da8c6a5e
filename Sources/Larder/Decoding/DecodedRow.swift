import FoundationEssentials
import LarderSQLite

/// A row that is being decoded.
struct DecodedRow {
  let row: Row
  /// The row's position in the result, counted from 0.
  let number: Int
  let sql: String

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = try stored(type, at: 0) { return value }
    do {
      return try T(from: RowDecoder(row: self))
    } catch is DecodingError where type is any RawRepresentable.Type {
      throw describe(ConversionError(.unknownRawValue, type), at: 0)
    }
  }

  func decode<T: Decodable>(_ type: T.Type, at index: Int, _ path: [any CodingKey]) throws -> T {
    if let value = try stored(type, at: index) { return value }
    do {
      return try T(from: ColumnDecoder(row: self, index: index, codingPath: path))
    } catch is ContainerRequest {
      return try decodeJSON(type, at: index)
    } catch is DecodingError {
      let isRawValue = type is any RawRepresentable.Type
      throw describe(ConversionError(isRawValue ? .unknownRawValue : .malformed, type), at: index)
    }
  }

  /// The value of a ``DatabaseValueConvertible`` type, such as `Date`, whose own decoding differs; else nil.
  private func stored<T>(_ type: T.Type, at index: Int) throws -> T? {
    guard let type = type as? any DatabaseValueConvertible.Type else { return nil }
    let value = try attempt(at: index) { try type.init(column: $0) }
    return value as? T
  }

  /// Decodes JSON in the form that ``ColumnCoding/json`` writes.
  private func decodeJSON<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
    try attempt(at: index) { column in
      guard column.storageClass == .text else {
        throw ConversionError(column.isNull ? .null : .storageClass(column.storageClass), type)
      }
      let text = try column.text()
      return try JSONText.value(type, of: text)
    }
  }

  private func attempt<T>(at index: Int, _ read: (ColumnReader) throws -> T) throws -> T {
    let reader = try row.reader(at: index)
    do {
      return try read(reader)
    } catch {
      throw describe(error, at: index)
    }
  }

  private func describe(_ error: any Error, at index: Int) -> any Error {
    guard var error = row.describe(error, at: index) as? ConversionError else { return error }
    error.row = number
    return error
  }

  func refusal(_ message: String) -> DatabaseError { DatabaseError(.misuse, message, sql: sql) }
}
