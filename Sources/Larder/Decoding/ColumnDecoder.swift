import LarderSQLite

/// Decodes one column for a type that doesn't say itself how it is stored.
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

/// Thrown where a type wants to be more than one value, which says that its column holds JSON.
struct ContainerRequest: Error {}
