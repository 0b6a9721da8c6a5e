// Where values go to and come from when the engine behind a `Database` isn't SQLite.

/// A prepared statement of another engine.
package protocol EngineStatement: AnyObject {
  /// Sets the value of a parameter, counted from 1, as the engine stores it in what the parameter
  /// is compared with or assigned to. Throws ``ConversionError`` for what it can't hold.
  func bind(_ value: DatabaseValue, at index: Int) throws
  /// By position: the name with its prefix, or nil for one without.
  var parameterNames: [String?] { get }
  /// The columns of its rows, as of the last step or, before one, of its preparation.
  var columnNames: [String] { get }
  /// Whether it only reads, as far as its text tells.
  var isReadOnly: Bool { get }
  /// How many rows the last execution has inserted, changed or deleted.
  var changes: Int { get }
  /// Whether the next execution reads all of its rows at once, which is faster, rather than as they are asked
  /// for, in memory for one. False again after a reset.
  var readsAtOnce: Bool { get set }
  /// Goes to the next row; the first step begins the execution. False after the last row.
  ///
  /// - Parameter deadline: when it is to end, on the ``MonotonicClock``; nil for never.
  func step(until deadline: Duration?) throws -> Bool
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
  /// A column of the row that it stands on, for an index below the number of columns; good until the next
  /// step.
  func value(at index: Int) -> UnsafePointer<EngineValue>
  /// Ends an execution; the values stay bound. A statement that writes runs to its end. Throws what has
  /// failed since the last step.
  func reset() throws
}

/// A statement of another engine, behind the pointer that for SQLite's is the statement itself.
final class EngineCursor {
  let statement: any EngineStatement

  init(_ statement: any EngineStatement) { self.statement = statement }

  var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

  /// A column of the row that the statement behind a pointer stands on.
  ///
  /// What makes the conversion sound: the pointer is that of a ``BindingArena`` of an engine, which keeps
  /// the object.
  static func value(_ pointer: OpaquePointer, at index: Int32) -> OpaquePointer {
    let cursor = Unmanaged<EngineCursor>.fromOpaque(UnsafeRawPointer(pointer))
    return cursor._withUnsafeGuaranteedRef { OpaquePointer($0.statement.value(at: Int(index))) }
  }
}

/// A value of the row on which a statement of another engine stands.
package struct EngineValue {
  package var storageClass: StorageClass
  package var integer: Int64 = 0
  package var real: Double = 0
  /// Of text and blobs, good as long as the statement stands on the row.
  package var bytes = UnsafeRawBufferPointer(start: nil, count: 0)

  package init(_ storageClass: StorageClass) { self.storageClass = storageClass }

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
  var isEngine: Bool { bits & 0x80 != 0 }

  /// The format of values of another engine.
  static func engine(_ dateFormat: DateFormat) -> StorageFormat {
    StorageFormat(bits: dateFormat.rawValue << 1 | 0x80)
  }
}

extension ColumnReader {
  @usableFromInline
  static func engineValue(_ statement: OpaquePointer, _ index: Int32) -> OpaquePointer? {
    EngineCursor.value(statement, at: index)
  }

  /// What makes the conversion sound: readers of this format are made by ``engineValue(_:_:)`` only.
  private var engineValue: EngineValue? {
    value.map { UnsafePointer<EngineValue>($0).pointee }
  }

  @usableFromInline var engineClass: StorageClass { engineValue?.storageClass ?? .null }
  @usableFromInline var engineInteger: Int64 { engineValue?.integer ?? 0 }
  @usableFromInline var engineReal: Double { engineValue?.real ?? 0 }
  @usableFromInline var engineBytes: UnsafeRawBufferPointer {
    engineValue?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  @usableFromInline
  func engineText() throws -> String {
    guard engineClass == .text else {
      throw isNull
        ? ConversionError(.null, String.self)
        : ConversionError(.storageClass(engineClass), String.self)
    }
    let bytes = engineBytes
    let text = String(decoding: bytes, as: UTF8.self)
    // As in text(): `String(validating:as:)` takes 500 instructions more.
    guard text.hasBytes(bytes.assumingMemoryBound(to: UInt8.self)) else {
      throw ConversionError(.malformed, String.self)
    }
    return text
  }
}
