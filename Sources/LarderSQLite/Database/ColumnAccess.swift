/// Access to the columns of the current row, which ``ResultSet``, its ``Row`` and ``Statement`` have
/// in common.
///
/// A column is found by its position from 0, or by its name in any case. A missing column throws a
/// ``DatabaseError`` that names the existing ones; a name that two columns have throws too. Values
/// are exact or throw ``ConversionError``: neither NULL nor text is a number, and integers widen to
/// `Double` only if that is exact.
public protocol ColumnAccess {
  /// The columns' names in order; empty once the rows have ended.
  var columnNames: [String] { get }

  /// The position of a column by its name. Throws `ResultCode.range` if no column has it, or more than one.
  func columnIndex(named name: String) throws -> Int

  /// A reader of a column of the current row. Throws `ResultCode.range` for an index that no column has, and
  /// `ResultCode.misuse` if there is no current row.
  @_documentation(visibility: internal)
  func reader(at index: Int) throws -> ColumnReader

  /// Calls a closure while nothing can close the rows or advance them. Throws what the closure throws.
  @_documentation(visibility: internal)
  func whileReading<T>(_ body: () throws -> T) throws -> T

  /// Adds the column and the statement to a conversion's error.
  @_documentation(visibility: internal)
  func describe(_ error: any Error, at index: Int) -> any Error
}

extension ColumnAccess {
  /// The number of columns.
  public var columnCount: Int { columnNames.count }

  /// The value of a column. Throws ``ConversionError`` if it can't be converted to the type, and
  /// ``DatabaseError`` if no column has the index (`ResultCode.range`), or there is no current row
  /// (`ResultCode.misuse`).
  @inlinable @inline(__always)
  public func get<T: DatabaseValueConvertible>(at index: Int, as type: T.Type = T.self) throws -> T
  {
    let reader = try reader(at: index)
    do {
      return try T(column: reader)
    } catch {
      throw describe(error, at: index)
    }
  }

  /// The value of a column by its name. Also throws what ``columnIndex(named:)`` throws.
  @inlinable @inline(__always)
  public func get<T: DatabaseValueConvertible>(
    _ name: String, as type: T.Type = T.self
  ) throws -> T { try get(at: columnIndex(named: name), as: type) }

  /// The value of a column as SQLite stores it. Throws as ``get(at:as:)`` does.
  public subscript(index: Int) -> DatabaseValue {
    get throws { try get(at: index) }
  }

  /// The value of a column by its name, as SQLite stores it. Throws as ``get(_:as:)`` does.
  public subscript(name: String) -> DatabaseValue {
    get throws { try get(name) }
  }

  /// Whether a column is NULL. Throws as ``get(at:as:)`` does.
  public func isNull(at index: Int) throws -> Bool { try reader(at: index).isNull }

  /// Whether a column is NULL, by its name. Also throws what ``columnIndex(named:)`` throws.
  public func isNull(_ name: String) throws -> Bool { try isNull(at: columnIndex(named: name)) }

  /// The storage class of a column's value. Throws as ``get(at:as:)`` does.
  public func storageClass(at index: Int) throws -> StorageClass {
    try reader(at: index).storageClass
  }

  /// The storage class of a column's value, by its name. Also throws what ``columnIndex(named:)`` throws.
  public func storageClass(_ name: String) throws -> StorageClass {
    try storageClass(at: columnIndex(named: name))
  }

  /// Calls a closure with the bytes of a blob or of text, without a copy. They are valid only inside
  /// the closure. NULL and an empty blob have none. Throws ``ConversionError`` for numbers, and as
  /// ``get(at:as:)`` does.
  public func withUnsafeBytes<T>(
    at index: Int, _ body: (UnsafeRawBufferPointer) throws -> T
  ) throws -> T {
    let reader = try reader(at: index)
    switch reader.storageClass {
    case .integer, .real: throw describe(reader.unexpected(for: [UInt8].self), at: index)
    case .text, .blob, .null: return try whileReading { try reader.withUnsafeBytes(body) }
    }
  }

  /// Calls a closure with the bytes of a column, by its name. Throws as ``columnIndex(named:)``, too, does.
  public func withUnsafeBytes<T>(
    _ name: String, _ body: (UnsafeRawBufferPointer) throws -> T
  ) throws -> T {
    try withUnsafeBytes(at: columnIndex(named: name), body)
  }

  /// The row as a dictionary. The first of several columns with the same name wins. Throws as ``get(at:as:)``
  /// does.
  public var dictionary: [String: DatabaseValue] {
    get throws {
      let names = columnNames
      // A row has at least one column. If there is none the rows have ended, for which this throws.
      if names.isEmpty { _ = try reader(at: 0) }
      let values = try names.indices.map { try self[$0] }
      return Dictionary(zip(names, values)) { first, _ in first }
    }
  }
}
