import LarderSQLite

/// Decodes a row: its columns are the keys.
struct RowDecoder: Decoder {
  let row: DecodedRow
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer<Key>(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw row.refusal("a row can't be decoded as an array: decode its columns by their names")
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

/// A type that asks for a single value, as an Optional of any type does, gets the first column.
extension RowDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool {
    row.row.columnNames.indices.allSatisfy { (try? row.row.isNull(at: $0)) ?? false }
  }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try row.decode(type) }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: DecodedRow
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.row.columnNames.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool {
    row.row.columnNames.contains { $0.foldedName == key.stringValue.foldedName }
  }

  func decodeNil(forKey key: Key) throws -> Bool { try row.row.isNull(key.stringValue) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try row.decode(type, at: row.row.columnIndex(named: key.stringValue), [key])
  }

  /// Throws for a missing column, for which Codable would return nil: a misspelled name isn't a NULL.
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try value(key)
  }

  private func value<T: Decodable>(_ key: Key) throws -> T? {
    let index = try row.row.columnIndex(named: key.stringValue)
    return try row.row.isNull(at: index) ? nil : row.decode(T.self, at: index, [key])
  }

  // Without these overloads, Codable's default ones for these types would be chosen before the generic one.
  // They take a missing column for NULL.
  func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? { try value(key) }
  func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? { try value(key) }
  func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? { try value(key) }
  func decodeIfPresent(_: Float.Type, forKey key: Key) throws -> Float? { try value(key) }
  func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? { try value(key) }
  func decodeIfPresent(_: Int8.Type, forKey key: Key) throws -> Int8? { try value(key) }
  func decodeIfPresent(_: Int16.Type, forKey key: Key) throws -> Int16? { try value(key) }
  func decodeIfPresent(_: Int32.Type, forKey key: Key) throws -> Int32? { try value(key) }
  func decodeIfPresent(_: Int64.Type, forKey key: Key) throws -> Int64? { try value(key) }
  func decodeIfPresent(_: UInt.Type, forKey key: Key) throws -> UInt? { try value(key) }
  func decodeIfPresent(_: UInt8.Type, forKey key: Key) throws -> UInt8? { try value(key) }
  func decodeIfPresent(_: UInt16.Type, forKey key: Key) throws -> UInt16? { try value(key) }
  func decodeIfPresent(_: UInt32.Type, forKey key: Key) throws -> UInt32? { try value(key) }
  func decodeIfPresent(_: UInt64.Type, forKey key: Key) throws -> UInt64? { try value(key) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    throw nestingRefusal(key)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw nestingRefusal(key)
  }

  private func nestingRefusal(_ key: Key) -> DatabaseError {
    row.refusal(
      """
      the column “\(key.stringValue)” can't be decoded as a container: decode a Codable type, which is \
      read from JSON
      """)
  }

  /// The superclass's properties are columns of the same row.
  func superDecoder() -> any Decoder { RowDecoder(row: row) }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    ColumnDecoder(
      row: row, index: try row.row.columnIndex(named: key.stringValue), codingPath: [key])
  }
}
