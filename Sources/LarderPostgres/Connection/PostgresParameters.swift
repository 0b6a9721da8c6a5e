import CLibPQ
import LarderSQLite

/// The values of a statement's parameters, from 0, in memory that is used again.
///
/// What isn't bound is NULL. Values stay bound until ``removeAll()``.
final class PostgresParameters {
  let types: [Oid]
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  /// Where values begin; negative for NULL.
  @exclusivity(unchecked) private var offsets: [Int]
  @exclusivity(unchecked) private var lengths: [Int32]
  @exclusivity(unchecked) private var formats: [Int32]
  @exclusivity(unchecked) private var pointers: [UnsafePointer<CChar>?]

  var count: Int { types.count }

  init(types: [Oid]) {
    self.types = types
    offsets = Array(repeating: -1, count: types.count)
    lengths = Array(repeating: 0, count: types.count)
    formats = Array(repeating: 0, count: types.count)
    pointers = Array(repeating: nil, count: types.count)
  }

  /// Makes all NULL, before new values are bound.
  func removeAll() {
    // No statement keeps much once it has run.
    buffer.removeAll(keepingCapacity: buffer.count < 1 << 20)
    for index in offsets.indices { offsets[index] = -1 }
  }

  /// Binds a copy of a value. Throws `ConversionError` for what the parameter's type can't hold, such as a
  /// NUL in text.
  func bind(_ value: DatabaseValue, at index: Int) throws {
    guard types.indices.contains(index) else {
      throw PostgresFailure(
        SQLState.wrongState, "there is no parameter \(index + 1): the statement has \(count)")
    }
    offsets[index] = -1
    if case .null = value { return }
    let start = buffer.count
    formats[index] = try buffer.write(value, as: types[index]).rawValue
    offsets[index] = start
    lengths[index] = Int32(buffer.count - start)
  }

  /// Calls a closure with the arrays that libpq wants, which are good inside of it only.
  func withPointers<T>(
    _ body: (
      _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
      _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
    ) -> T
  ) -> T {
    buffer.withUnsafeBytes { bytes in
      for (index, offset) in offsets.enumerated() {
        pointers[index] =
          offset < 0
          ? nil : bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
      }
      return pointers.withUnsafeBufferPointer { pointers in
        body(Int32(count), pointers.baseAddress, lengths, formats)
      }
    }
  }
}
