import CSQLite
import Glibc

/// One column of the row that a statement stands on, for ``DatabaseValueConvertible/init(column:)``.
///
/// A reader is valid only inside that initializer: keep no copy of it. A value that can't be read as it was
/// stored throws.
///
/// Safety: a result set makes the reader right after it has checked that its statement stands on a row, on
/// this thread, and that the index is below the number of columns. Nothing steps the statement while a value
/// is read.
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
      format.isEngine ? Self.engineValue(statement, index) : sqlite3_column_value(statement, index)
    self.format = format
  }

  /// Makes a reader of a single value: an argument of a custom function, or a value of another engine.
  @inlinable
  package init(value: OpaquePointer?, format: StorageFormat) {
    self.value = value
    self.format = format
  }

  /// The storage class of the value.
  @inlinable
  public var storageClass: StorageClass {
    StorageClass(rawValue: type) ?? .null
  }

  @inlinable @inline(__always)
  func isStored(as type: Int32) -> Bool { self.type == type }

  /// The value's type code in SQLite, such as `SQLITE_TEXT`.
  @inlinable @inline(__always)
  package var type: Int32 { format.isEngine ? engineClass.rawValue : sqlite3_value_type(value) }

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
    // Decoding silently repairs bytes that aren't UTF-8, so the result is compared with them. Comparing costs
    // 2 ns, `String(validating:as:)` 25 ns.
    let isExact = text.utf8.withContiguousStorageIfAvailable {
      guard $0.count == count, let decoded = $0.baseAddress else { return count == 0 }
      return memcmp(decoded, bytes, count) == 0
    }
    guard _fastPath(isExact == true) else {
      throw ConversionError.failure(.malformed, String.self)
    }
    return text
  }

  /// Calls a closure with the bytes of a blob or of text, without a copy; none for NULL. The bytes are valid
  /// only inside the closure. Throws what the closure throws, ``ConversionError`` if text in UTF-16 is
  /// malformed, and `ResultCode.noMemory`.
  @inlinable
  public func withUnsafeBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
    if format.isEngine { return try body(engineBytes) }
    // Text is asked for first, or the bytes of a UTF-16 database would come as they are stored.
    let isText = sqlite3_value_type(value) == SQLITE_TEXT
    if format.isUTF16, isText { try checkUTF16() }
    let bytes = isText ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
    let count = Int(sqlite3_value_bytes(value))
    if bytes == nil && count > 0 {
      throw DatabaseError(.noMemory, "out of memory while reading bytes")
    }
    return try body(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  /// A copy of the bytes of a blob or of text.
  @inlinable
  func bytes() throws -> [UInt8] { try withUnsafeBytes { [UInt8]($0) } }

  /// Throws if text has an unpaired surrogate. SQLite's conversion would make another character of it and
  /// what follows.
  @usableFromInline
  func checkUTF16() throws {
    guard sqlite3_value_type(value) == SQLITE_TEXT else { return }
    // The UTF-16 is read first: once it is converted, malformed text can't be told from any other.
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

  /// The error for a storage class that a type can't take. It is out of line, and boxed already: inlined, it
  /// took more code than the reading itself.
  @usableFromInline
  package func unexpected(for type: Any.Type) -> any Error {
    ConversionError.failure(isNull ? .null : .storageClass(storageClass), type)
  }
}

@available(*, unavailable)
extension ColumnReader: Sendable {}
