import CLibPQ
import LarderSQLite

/// The values of a statement's parameters, from 0, in a buffer that is reused.
///
/// Unbound parameters are NULL. Values stay bound until ``removeAll()``.
final class PostgresParameters {
  let types: [Oid]
  /// The parameters' types as values are written to them, by position, where they aren't the server's own
  /// plain types; empty if all are.
  private var specialTypes: [ServerType?] = []
  @exclusivity(unchecked) private var buffer = WireBuffer()
  /// The offsets at which values begin; negative for NULL.
  @exclusivity(unchecked) private var offsets: [Int]
  @exclusivity(unchecked) private(set) var lengths: [Int32]
  @exclusivity(unchecked) private(set) var formats: [Int32]

  var count: Int { types.count }

  init(types: [Oid]) {
    self.types = types
    offsets = Array(repeating: -1, count: types.count)
    lengths = Array(repeating: 0, count: types.count)
    formats = Array(repeating: 0, count: types.count)
  }

  /// Finds out how values are written to the parameters whose types aren't plain.
  func lookUp(on connection: PostgresConnection) throws {
    if types.allSatisfy(TypeOID.canBeRead) { return }
    specialTypes = try connection.types.types(types, on: connection)
  }

  /// Sets all parameters to NULL, before new values are bound.
  func removeAll() {
    // No statement keeps much memory once it has run.
    if buffer.capacity > 1 << 20 { buffer = WireBuffer() }
    buffer.count = 0
    for index in offsets.indices { offsets[index] = -1 }
  }

  /// Binds a copy of a value. Throws `ConversionError` if the parameter's type can't hold the value, such as
  /// a NUL in text.
  func bind(_ value: EngineValue, at index: Int) throws {
    guard types.indices.contains(index) else {
      throw PostgresFailure(
        SQLState.wrongState, "there is no parameter \(index + 1): the statement has \(count)")
    }
    offsets[index] = -1
    if value.storageClass == .null { return }
    let start = buffer.count
    formats[index] = try write(value, at: index).rawValue
    offsets[index] = start
    lengths[index] = Int32(buffer.count - start)
  }

  private func write(_ value: EngineValue, at index: Int) throws -> ValueFormat {
    guard !specialTypes.isEmpty, let special = specialTypes[index] else {
      return try buffer.write(value, as: types[index])
    }
    if value.storageClass == .text, special.isWrittenFromJSON,
      let literal = try ServerLiteral.literal(of: value.bytes, special)
    {
      return try literal.withUnsafeBytes {
        try buffer.write(EngineValue(.text, $0), as: types[index])
      }
    }
    // A domain takes the binary form of the type that it is based on.
    return try buffer.write(value, as: special.plainType ?? types[index])
  }

  /// The addresses of the values, as libpq takes them; valid until the next value is bound.
  var pointers: [UnsafePointer<CChar>?] {
    let start = buffer.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    return offsets.map { offset in offset < 0 ? nil : start.map { $0 + offset } }
  }
}
