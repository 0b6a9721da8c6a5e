import CSQLite
import Glibc

/// One column of the row that a statement stands on, for ``DatabaseValueConvertible/init(column:)``.
///
/// A reader is good only inside that initializer: keep no copy of it. What can't be read as it was
/// stored throws.
///
/// What makes its unsafe calls sound: it is made by a result set right after it has checked that
/// its statement stands on a row, on this thread, and that the index is below the number of
/// columns; nothing steps the statement while a value is read.
public struct ColumnReader {
  // SQLite's own pointer to the value. Three calls on it (type, value, length) cost less than two
  // calls that name statement and column, each of which looks the column up: 158 ns a row of five
  // columns, types checked, against 161 ns unchecked. It is "unprotected", which only means that no
  // mutex is held; the connection has one user at a time.
  @usableFromInline let value: OpaquePointer?
  @usableFromInline let format: StorageFormat

  @inlinable
  package init(statement: OpaquePointer, index: Int32, format: StorageFormat) {
    value =
      format.isEngine
      ? Self.engineValue(statement, index) : sqlite3_column_value(statement, index)
    self.format = format
  }

  /// For arguments of custom functions, which are values too, and values of another engine.
  @inlinable
  package init(value: OpaquePointer?, format: StorageFormat) {
    self.value = value
    self.format = format
  }

  /// How the value is stored.
  @inlinable
  public var storageClass: StorageClass {
    StorageClass(rawValue: type) ?? .null
  }

  /// Whether the value is stored as SQLite's type of this number says.
  @inlinable @inline(__always)
  func isStored(as type: Int32) -> Bool { self.type == type }

  /// The number that SQLite has for how it is stored.
  @inlinable @inline(__always)
  var type: Int32 { format.isEngine ? engineClass.rawValue : sqlite3_value_type(value) }

  /// Whether the value is NULL.
  @inlinable
  public var isNull: Bool { isStored(as: SQLITE_NULL) }

  /// The integer. The storage class has to be ``StorageClass/integer``: SQLite would convert.
  @inlinable
  public var integer: Int64 { format.isEngine ? engineInteger : sqlite3_value_int64(value) }

  /// The number. The storage class has to be ``StorageClass/real``: SQLite would convert.
  @inlinable
  public var real: Double { format.isEngine ? engineReal : sqlite3_value_double(value) }

  /// The integer, or nil where another storage class is stored.
  @inlinable @inline(__always)
  package var integerIfStored: Int64? { isStored(as: SQLITE_INTEGER) ? integer : nil }

  /// The number, or nil where it isn't stored as REAL.
  @inlinable @inline(__always)
  package var realIfStored: Double? { isStored(as: SQLITE_FLOAT) ? real : nil }

  /// The text, NULs included. Throws ``ConversionError`` for NULL, and where its bytes aren't UTF-8, or
  /// UTF-16 in a database that stores that; `ResultCode.noMemory` where memory is short.
  @inlinable
  public func text() throws -> String {
    if format.isSpecial {
      if format.isEngine { return try engineText() }
      try checkUTF16()
    }
    // Text first, then bytes: the first call may convert from UTF-16, which changes the length.
    guard let bytes = sqlite3_value_text(value) else {
      if isNull { throw ConversionError.failure(.null, String.self) }
      throw DatabaseError(.noMemory, "out of memory while reading text")
    }
    let count = Int(sqlite3_value_bytes(value))
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    // Decoding repairs what isn't UTF-8 and so changes it. Comparing costs 2 ns,
    // `String(validating:as:)` 25 ns.
    let isExact = text.utf8.withContiguousStorageIfAvailable {
      guard $0.count == count, let decoded = $0.baseAddress else { return count == 0 }
      return memcmp(decoded, bytes, count) == 0
    }
    guard isExact == true else { throw ConversionError.failure(.malformed, String.self) }
    return text
  }

  /// Calls a closure with the bytes of a blob or of text, without a copy; none for NULL. The bytes
  /// are good inside the closure only. Throws what the closure throws, ``ConversionError`` where text in
  /// UTF-16 is malformed, and `ResultCode.noMemory`.
  @inlinable
  public func withUnsafeBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
    if format.isEngine { return try body(engineBytes) }
    // As text first, or the bytes of a database in UTF-16 would come as they are stored.
    let isText = sqlite3_value_type(value) == SQLITE_TEXT
    if format.isUTF16, isText { try checkUTF16() }
    let bytes = isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
    let count = Int(sqlite3_value_bytes(value))
    if bytes == nil && count > 0 {
      throw DatabaseError(.noMemory, "out of memory while reading bytes")
    }
    return try body(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// Throws where text has a surrogate without its other half: SQLite, which converts it, makes
  /// another character of it and what follows.
  @usableFromInline
  func checkUTF16() throws {
    guard sqlite3_value_type(value) == SQLITE_TEXT else { return }
    // Asked for first: once it is converted, text can't be told from any other.
    guard let start = sqlite3_value_text16(value) else {
      throw DatabaseError(.noMemory, "out of memory while reading text")
    }
    let units = UnsafeBufferPointer(
      start: start.assumingMemoryBound(to: UInt16.self),
      count: Int(sqlite3_value_bytes16(value)) / 2)
    var isHalf = false
    for unit in units {
      guard UTF16.isTrailSurrogate(unit) == isHalf else {
        throw ConversionError.failure(.malformed, String.self)
      }
      isHalf = UTF16.isLeadSurrogate(unit)
    }
    if isHalf { throw ConversionError.failure(.malformed, String.self) }
  }

  /// The error for a storage class that a type can't take. Out of line, and already boxed: made where
  /// values are read, it took more of their code than the reading.
  @usableFromInline
  package func unexpected(for type: Any.Type) -> any Error {
    ConversionError.failure(isNull ? .null : .storageClass(storageClass), type)
  }
}

@available(*, unavailable)
extension ColumnReader: Sendable {}
