// Where values go to and come from when the engine behind a `Database` isn't SQLite.

/// What a statement of another engine does beside reading and writing rows, as far as its text tells.
package struct EngineEffects: OptionSet {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It leaves something with the connection behind the end of its transaction: a setting, a role, a lock, a
  /// temporary table, a cursor.
  package static let session = EngineEffects(rawValue: 1)
  /// It may change the schema, which statements that were compiled before don't know.
  package static let schema = EngineEffects(rawValue: 2)
  /// Its parameters have types that lose something of values without a word, such as REAL: once the columns have
  /// other types it must not be used any more.
  package static let losesDetail = EngineEffects(rawValue: 4)
}

/// A prepared statement of another engine.
package protocol EngineStatement: AnyObject {
  /// Sets the value of a parameter, counted from 1, as the engine stores it in what the parameter
  /// is compared with or assigned to. Its bytes are good during the call. Throws ``ConversionError`` for what
  /// it can't hold.
  func bind(_ value: EngineValue, at index: Int) throws
  /// By position: the name with its prefix, or nil for one without.
  var parameterNames: [String?] { get }
  /// The columns of its rows, as of the last step or, before one, of its preparation.
  var columnNames: [String] { get }
  /// Whether it only reads, as far as its text tells.
  var isReadOnly: Bool { get }
  var effects: EngineEffects { get }
  /// How many rows the last execution has inserted, changed or deleted.
  var changes: Int { get }
  /// Whether the next execution reads all of its rows at once, which is faster, rather than as they are asked
  /// for, in memory for one. False again after a reset.
  var readsAtOnce: Bool { get set }
  /// Goes to the next row; the first step begins the execution. False after the last row.
  ///
  /// - Parameter deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func step(until deadline: Duration?) throws -> Bool
  /// Goes to the next row if that is in memory, as ``step(until:)`` does otherwise; false where it isn't.
  func stepInMemory() -> Bool
  /// Inserts many rows in the place of this statement, which inserts one with these columns' values: all of
  /// them, or none. Throws where the engine has nothing faster than executions for them, too.
  ///
  /// - Parameters:
  ///   - failedRow: set to the row that couldn't be stored, from 0, as far as that is known.
  ///   - bindNext: binds the values of the next row; false after the last.
  func copy(
    into table: String, _ columns: [String], until deadline: Duration?, failedRow: inout Int?,
    _ bindNext: () throws -> Bool
  ) throws
  /// The row that it stands on, with a value for each column, after each step; always the same object.
  var row: EngineRow { get }
  /// Ends an execution; the values stay bound. A statement that writes runs to its end. Throws what has
  /// failed since the last step.
  ///
  /// - Parameter deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func reset(until deadline: Duration?) throws
}

/// The row on which a statement of another engine stands, behind the pointer that for SQLite's is the
/// statement itself: its values lie side by side, so that reading one is no call.
///
/// What makes its memory sound: it belongs to this object alone, and is given back with it.
@usableFromInline
package final class EngineRow {
  /// One for each column.
  @exclusivity(unchecked) package private(set) var values: UnsafeMutableBufferPointer<EngineValue> =
    .allocate(capacity: 0)

  package init() {}

  deinit { values.deallocate() }

  /// Makes room for a value of each of so many columns.
  package func resize(to count: Int) {
    guard count != values.count else { return }
    values.deallocate()
    values = .allocate(capacity: count)
    values.initialize(repeating: EngineValue(.null))
  }

  var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

  /// The values of the row behind a pointer.
  ///
  /// What makes the conversion sound: the pointer is that of a ``BindingArena`` of an engine, which keeps
  /// the object. There are values once the statement has stepped, as many as columns.
  @inline(__always)
  package static func values(_ pointer: OpaquePointer) -> UnsafePointer<EngineValue> {
    let row = Unmanaged<EngineRow>.fromOpaque(UnsafeRawPointer(pointer))
    return UnsafePointer(
      row._withUnsafeGuaranteedRef { $0.values.baseAddress.unsafelyUnwrapped })
  }
}

/// A value of another engine's: of the row on which a statement stands, or for a parameter.
@usableFromInline
package struct EngineValue {
  package var storageClass: StorageClass
  package var integer: Int64 = 0
  package var real: Double = 0
  /// Of text and blobs, good as long as the statement stands on the row.
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

  /// The text of one. Throws ``ConversionError`` where its bytes aren't UTF-8.
  package func text() throws -> String {
    let bytes = UnsafeBufferPointer(
      start: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    let text = String(decoding: bytes, as: UTF8.self)
    // As in `ColumnReader.text`: `String(validating:as:)` takes 500 instructions more.
    guard text.hasBytes(bytes) else { throw ConversionError(.malformed, String.self) }
    return text
  }

  /// A copy of what a pointer to one points to, with bytes of its own; for ``free(_:)``.
  static func copy(_ pointer: OpaquePointer?) -> OpaquePointer? {
    guard var value = pointer.map({ UnsafePointer<EngineValue>($0).pointee }) else { return nil }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: value.bytes.count, alignment: 1)
    bytes.copyMemory(from: value.bytes)
    value.bytes = UnsafeRawBufferPointer(bytes)
    let copy = UnsafeMutablePointer<EngineValue>.allocate(capacity: 1)
    copy.initialize(to: value)
    return OpaquePointer(copy)
  }

  static func free(_ copy: OpaquePointer?) {
    guard let copy = copy.map({ UnsafeMutablePointer<EngineValue>($0) }) else { return }
    copy.pointee.bytes.deallocate()
    copy.deallocate()
  }
}

extension StorageFormat {
  /// Whether the engine isn't SQLite.
  @inlinable
  package var isEngine: Bool { bits & 0x80 != 0 }

  /// The format of values of another engine.
  static func engine(_ dateFormat: DateFormat) -> StorageFormat {
    StorageFormat(bits: dateFormat.rawValue << 1 | 0x80)
  }
}

extension ColumnReader {
  @usableFromInline
  static func engineValue(_ statement: OpaquePointer, _ index: Int32) -> OpaquePointer? {
    OpaquePointer(EngineRow.values(statement) + Int(index))
  }

  /// What makes the conversion sound: readers of this format are made by ``engineValue(_:_:)`` only, or of a copy.
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
  /// Whether it may have changed something where its answer never came: a SELECT may call a function that writes.
  package var mayWrite: Bool { !isReadOnly || effects.contains(.session) }
}
