import CLibPQ
import LarderSQLite

/// The values of a statement's parameters, from 0, in memory that is used again.
///
/// What isn't bound is NULL. Values stay bound until ``removeAll()``.
final class PostgresParameters {
  let types: [Oid]
  private var buffer = ValueBuffer()
  /// Where values begin; negative for NULL.
  private var offsets: [Int]
  private var lengths: [Int32]
  private var formats: [Int32]
  private var pointers: [UnsafePointer<CChar>?]

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
    buffer.removeAll()
    for index in offsets.indices { offsets[index] = -1 }
  }

  func bindNull(at index: Int) throws {
    _ = try type(at: index)
    offsets[index] = -1
  }

  func bind(_ value: Int64, at index: Int) throws {
    let (type, start) = (try type(at: index), buffer.count)
    note(try buffer.write(value, as: type), from: start, at: index)
  }

  func bind(_ value: Double, at index: Int) throws {
    let (type, start) = (try type(at: index), buffer.count)
    note(try buffer.write(value, as: type), from: start, at: index)
  }

  func bind(_ value: Bool, at index: Int) throws {
    let (type, start) = (try type(at: index), buffer.count)
    note(try buffer.write(value, as: type), from: start, at: index)
  }

  /// Binds a copy of text. Throws `ConversionError` where it has a NUL in it, which the server can't store.
  func bindText(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) throws {
    let (type, start) = (try type(at: index), buffer.count)
    try Self.checkLength(bytes.count)
    note(try buffer.writeText(UnsafeRawBufferPointer(bytes), as: type), from: start, at: index)
  }

  func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int) throws {
    let (type, start) = (try type(at: index), buffer.count)
    try Self.checkLength(bytes.count)
    note(try buffer.writeBlob(bytes, as: type), from: start, at: index)
  }

  private func type(at index: Int) throws -> Oid {
    guard types.indices.contains(index) else {
      throw PostgresFailure(
        SQLState.wrongState, "there is no parameter \(index + 1): the statement has \(count)")
    }
    return types[index]
  }

  private func note(_ format: ValueFormat, from start: Int, at index: Int) {
    offsets[index] = start
    lengths[index] = Int32(buffer.count - start)
    formats[index] = format.rawValue
  }

  /// The server takes a gigabyte at most.
  static func checkLength(_ count: Int) throws {
    guard count < 1 << 30 else {
      throw PostgresFailure(SQLState.tooManyBytes, "a value of \(count) bytes is too long")
    }
  }

  /// Calls a closure with the arrays that libpq wants, which are good inside of it only.
  func withPointers<T>(
    _ body: (
      _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
      _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?
    ) -> T
  ) -> T {
    buffer.withBytes { bytes in
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
