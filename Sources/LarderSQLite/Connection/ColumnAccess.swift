/// What a ``ResultSet``, its ``Row`` and a ``Statement`` have in common: reading the columns of the
/// row that they stand on.
///
/// Columns are found by position from 0 or by name in any case. A column that isn't there throws
/// ``DatabaseError`` and names those that are; so does a name that two columns have. Values are
/// exact or throw ``ConversionError``: NULL is no number, text is no number either, integers widen
/// to `Double` where that is exact.
public protocol ColumnAccess {
  /// The columns' names in order; none where there is no row to come any more.
  var columnNames: [String] { get }

  /// The position of a column by its name. Throws `ResultCode.range` where none, or more than one, has it.
  func columnIndex(named name: String) throws -> Int

  /// What reads a column of the current row. Throws `ResultCode.range` for an index that no column has, and
  /// `ResultCode.misuse` where there is no current row.
  @_documentation(visibility: internal)
  func reader(at index: Int) throws -> ColumnReader

  /// Calls a closure during which nothing can close what is read, or go on. Throws what that throws.
  @_documentation(visibility: internal)
  func whileReading<T>(_ body: () throws -> T) throws -> T

  /// An error of a conversion, with the column and the statement.
  @_documentation(visibility: internal)
  func describe(_ error: any Error, at index: Int) -> any Error
}

extension ColumnAccess {
  /// The number of columns.
  public var columnCount: Int { columnNames.count }

  /// The value of a column. Throws ``ConversionError`` where it isn't one of the type, and ``DatabaseError``
  /// where no column has the index (`ResultCode.range`), or there is no current row (`ResultCode.misuse`).
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

  /// The same by name. Throws as ``columnIndex(named:)``, too, does.
  @inlinable @inline(__always)
  public func get<T: DatabaseValueConvertible>(
    _ name: String, as type: T.Type = T.self
  ) throws -> T {
    try get(at: columnIndex(named: name), as: type)
  }

  /// The value of a column as SQLite stores it. Throws as ``get(at:as:)`` does.
  public subscript(index: Int) -> DatabaseValue {
    get throws { try get(at: index) }
  }

  /// The same by name. Throws as ``get(_:as:)`` does.
  public subscript(name: String) -> DatabaseValue {
    get throws { try get(name) }
  }

  /// Whether a column is NULL. Throws as ``get(at:as:)`` does.
  public func isNull(at index: Int) throws -> Bool { try reader(at: index).isNull }

  /// The same by name. Throws as ``columnIndex(named:)``, too, does.
  public func isNull(_ name: String) throws -> Bool { try isNull(at: columnIndex(named: name)) }

  /// How the value of a column is stored. Throws as ``get(at:as:)`` does.
  public func storageClass(at index: Int) throws -> StorageClass {
    try reader(at: index).storageClass
  }

  /// The same by name. Throws as ``columnIndex(named:)``, too, does.
  public func storageClass(_ name: String) throws -> StorageClass {
    try storageClass(at: columnIndex(named: name))
  }

  /// Calls a closure with the bytes of a blob or of text, without a copy. They are good inside the
  /// closure only. NULL and an empty blob have none. Throws ``ConversionError`` for numbers, and as
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

  /// The same by name. Throws as ``columnIndex(named:)``, too, does.
  public func withUnsafeBytes<T>(
    _ name: String, _ body: (UnsafeRawBufferPointer) throws -> T
  ) throws -> T {
    try withUnsafeBytes(at: columnIndex(named: name), body)
  }

  /// The row as a dictionary. Of columns with the same name the first is in it. Throws as ``get(at:as:)`` does.
  public var dictionary: [String: DatabaseValue] {
    get throws {
      let names = columnNames
      // A row has at least one column: without one, what is asked is over, which this throws.
      if names.isEmpty { _ = try reader(at: 0) }
      let values = try names.indices.map { try self[$0] }
      return Dictionary(zip(names, values)) { first, _ in first }
    }
  }
}
