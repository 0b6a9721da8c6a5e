// Statements, rows and values of an engine other than SQLite, behind a `Database`.

import CSQLite

/// The side effects of another engine's statement, beyond reading and writing rows, as far as its text tells.
package struct EngineEffects: OptionSet {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The statement leaves session state that outlives its transaction: a setting, a role, a lock, a temporary
  /// table, a cursor.
  package static let session = EngineEffects(rawValue: 1)
  /// The statement may change the schema, which statements compiled before don't know.
  package static let schema = EngineEffects(rawValue: 2)
  /// The statement has parameters whose types silently lose detail, such as REAL. It must not be reused once
  /// the columns have other types.
  package static let losesDetail = EngineEffects(rawValue: 4)
}

package protocol EngineStatement: AnyObject {
  /// Binds a parameter, counted from 1, converted to the type that the engine expects there. The value's
  /// bytes are valid during the call only. Throws ``ConversionError`` if the type can't hold the value.
  func bind(_ value: EngineValue, at index: Int) throws
  /// The parameters' names by position, with their prefix; nil for a parameter without a name.
  var parameterNames: [String?] { get }
  /// The names of the rows' columns, as of the last step, or of the preparation before the first one.
  var columnNames: [String] { get }
  /// Whether the statement only reads, as far as its text tells.
  var isReadOnly: Bool { get }
  var effects: EngineEffects { get }
  /// How many rows the last execution has inserted, changed or deleted.
  var changes: Int { get }
  /// Whether the next execution fetches all of its rows at once, which is faster, instead of streaming them
  /// with memory for one. A reset sets it back to false.
  var readsAtOnce: Bool { get set }
  /// Steps to the next row; the first step begins the execution. Returns false after the last row.
  ///
  /// - Parameter deadline: when the call has to end, on the ``MonotonicClock``; nil for never.
  func step(until deadline: Duration?) throws -> Bool
  /// Steps to the next row if it is in memory already. Returns false if it isn't; the caller then calls
  /// ``step(until:)``.
  func stepInMemory() -> Bool
  /// Bulk-inserts rows in place of this statement, which inserts a single row of these columns: all of them,
  /// or none. Also throws if the engine has nothing faster than repeated executions.
  ///
  /// - Parameters:
  ///   - failedRow: set to the index, from 0, of the row that couldn't be stored, as far as it is known.
  ///   - bindNext: binds the values of the next row; false after the last.
  func copy(
    into table: String, _ columns: [String], until deadline: Duration?, failedRow: inout Int?,
    _ bindNext: () throws -> Bool
  ) throws
  /// The current row, with a value for each column, filled by each step. It is always the same object.
  var row: EngineRow { get }
  /// Ends an execution; the values stay bound. A statement that writes runs to its end. Throws an error that
  /// has occurred since the last step.
  ///
  /// - Parameter deadline: when the call has to end, on the ``MonotonicClock``; nil for never.
  func reset(until deadline: Duration?) throws
}

/// The current row of another engine's statement. A pointer to it takes the place of SQLite's statement
/// pointer. Its values lie side by side, so that reading one needs no call.
///
/// Safety: the memory belongs to this object alone, and is freed with it.
@usableFromInline
package final class EngineRow {
  @exclusivity(unchecked) package private(set) var values: UnsafeMutableBufferPointer<EngineValue> =
    .allocate(capacity: 0)

  package init() {}

  deinit { values.deallocate() }

  package func resize(to count: Int) {
    guard count != values.count else { return }
    values.deallocate()
    values = .allocate(capacity: count)
    values.initialize(repeating: EngineValue(.null))
  }

  var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

  /// The values of the row to which a pointer points.
  ///
  /// Safety: the pointer is that of an engine's ``BindingArena``, which keeps the object. Once the statement
  /// has stepped, there are as many values as columns.
  @inline(__always)
  package static func values(_ pointer: OpaquePointer) -> UnsafePointer<EngineValue> {
    let row = Unmanaged<EngineRow>.fromOpaque(UnsafeRawPointer(pointer))
    return UnsafePointer(row._withUnsafeGuaranteedRef { $0.values.baseAddress.unsafelyUnwrapped })
  }
}

/// A value of another engine: in a column of the current row, or for a parameter.
@usableFromInline
package struct EngineValue {
  package var storageClass: StorageClass
  package var integer: Int64 = 0
  package var real: Double = 0
  /// The bytes of text and blobs, valid as long as the statement stands on the row.
  package var bytes = UnsafeRawBufferPointer(start: nil, count: 0)

  @inline(__always)
  package init(_ storageClass: StorageClass) { self.storageClass = storageClass }

  @inline(__always)
  package init(_ integer: Int64) {
    storageClass = .integer
    self.integer = integer
  }

  @inline(__always)
  package init(_ real: Double) {
    storageClass = .real
    self.real = real
  }

  @inline(__always)
  package init(_ storageClass: StorageClass, _ bytes: UnsafeRawBufferPointer) {
    self.storageClass = storageClass
    self.bytes = bytes
  }

  /// The value's text. Throws ``ConversionError`` if its bytes aren't UTF-8.
  package func text() throws -> String {
    let bytes = UnsafeBufferPointer(
      start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    let text = String(decoding: bytes, as: UTF8.self)
    // The text is compared with the bytes, as in `ColumnReader.text`: `String(validating:as:)` takes 500
    // instructions more.
    guard text.hasBytes(bytes) else { throw ConversionError(.malformed, String.self) }
    return text
  }

  /// Copies the value to which a pointer points, with its bytes. ``free(_:)`` frees the copy.
  fileprivate static func copy(_ pointer: OpaquePointer?) -> OpaquePointer? {
    guard var value = pointer.map({ UnsafePointer<EngineValue>($0).pointee }) else { return nil }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: value.bytes.count, alignment: 1)
    bytes.copyMemory(from: value.bytes)
    value.bytes = UnsafeRawBufferPointer(bytes)
    let copy = UnsafeMutablePointer<EngineValue>.allocate(capacity: 1)
    copy.initialize(to: value)
    return OpaquePointer(copy)
  }

  fileprivate static func free(_ copy: OpaquePointer?) {
    guard let copy = copy.map({ UnsafeMutablePointer<EngineValue>($0) }) else { return }
    copy.pointee.bytes.deallocate()
    copy.deallocate()
  }
}

extension StorageFormat {
  @inlinable
  package var isEngine: Bool { bits & 0x80 != 0 }

  static func engine(_ dateFormat: DateFormat) -> StorageFormat {
    StorageFormat(bits: dateFormat.rawValue << 1 | 0x80)
  }
}

extension ColumnReader {
  /// A copy of the value, which lasts until ``freeCopy()`` is called; nil if memory is short.
  func copy() -> ColumnReader? {
    let copy = format.isEngine ? EngineValue.copy(value) : sqlite3_value_dup(value)
    return copy.map { ColumnReader(value: $0, format: format) }
  }

  func freeCopy() {
    if format.isEngine { EngineValue.free(value) } else { sqlite3_value_free(value) }
  }

  @usableFromInline
  static func engineValue(_ statement: OpaquePointer, _ index: Int32) -> OpaquePointer? {
    OpaquePointer(EngineRow.values(statement) + Int(index))
  }

  /// Safety: readers of this format are made only by ``engineValue(_:_:)``, or of a copy of its value.
  private var engineValue: UnsafePointer<EngineValue>? { value.map { UnsafePointer($0) } }

  @usableFromInline var engineClass: StorageClass { engineValue?.pointee.storageClass ?? .null }
  @usableFromInline var engineInteger: Int64 { engineValue?.pointee.integer ?? 0 }
  @usableFromInline var engineReal: Double { engineValue?.pointee.real ?? 0 }
  @usableFromInline var engineBytes: UnsafeRawBufferPointer {
    engineValue?.pointee.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @usableFromInline
  func engineText() throws -> String {
    guard let engineValue, engineClass == .text else { throw unexpected(for: String.self) }
    return try engineValue.pointee.text()
  }
}

extension EngineStatement {
  /// Whether the statement may have changed something if its answer was lost: a SELECT may call a function
  /// that writes.
  package var mayWrite: Bool { !isReadOnly || effects.contains(.session) }
}
