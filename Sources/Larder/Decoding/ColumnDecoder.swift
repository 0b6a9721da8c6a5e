import LarderSQLite

/// Decodes one column for a type that isn't ``DatabaseValueConvertible``.
struct ColumnDecoder: Decoder {
  let row: DecodedRow
  let index: Int
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw ContainerRequest()
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ContainerRequest() }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ColumnDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { (try? row.row.isNull(at: index)) ?? false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try row.decode(type, at: index, codingPath)
  }
}

/// The error that is thrown when a type asks for more than a single value: its column then holds JSON.
struct ContainerRequest: Error {}
