import CLibPQ
import LarderSQLite

/// The values of a statement's parameters, from 0, in memory that is used again.
///
/// What isn't bound is NULL. Values stay bound until ``removeAll()``.
final class PostgresParameters {
  let types: [Oid]
  @exclusivity(unchecked) private var buffer = WireBuffer()
  /// Where values begin; negative for NULL.
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

  /// Makes all NULL, before new values are bound.
  func removeAll() {
    // No statement keeps much once it has run.
    if buffer.capacity > 1 << 20 { buffer = WireBuffer() }
    buffer.count = 0
    for index in offsets.indices { offsets[index] = -1 }
  }

  /// Binds a copy of a value. Throws `ConversionError` for what the parameter's type can't hold, such as a
  /// NUL in text.
  func bind(_ value: EngineValue, at index: Int) throws {
    guard types.indices.contains(index) else {
      throw PostgresFailure(
        SQLState.wrongState, "there is no parameter \(index + 1): the statement has \(count)")
    }
    offsets[index] = -1
    if value.storageClass == .null { return }
    let start = buffer.count
    formats[index] = try buffer.write(value, as: types[index]).rawValue
    offsets[index] = start
    lengths[index] = Int32(buffer.count - start)
  }

  /// Where the values are, as libpq wants it; good until the next is bound.
  var pointers: [UnsafePointer<CChar>?] {
    let start = buffer.bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    return offsets.map { offset in offset < 0 ? nil : start.map { $0 + offset } }
  }
}
