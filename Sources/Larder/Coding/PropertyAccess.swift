import LarderSQLite

/// Type-erased access to a column's property: binds it to a parameter, and reads it from a column.
///
/// The closures are made where the column is declared, so that they are specialized there, and
/// capture nothing where the property is simply stored in the record: a call takes two nanoseconds.
/// (A closure over a parameter pack isn't specialized as far as that: its loops stay dynamic where
/// an element can throw, and what is generic in an element, such as an Optional, is never inlined.)
///
/// Its raw pointers are sound: only a table calls the closures, with the address of a record of its own type,
/// plus ``offset``, or with memory for a value of the property's type.
@usableFromInline
final class PropertyAccess: Sendable {
  /// The property's offset in the record, in bytes; 0 if only its key path knows it.
  @usableFromInline let offset: Int
  /// The property's offset even if ``offset`` isn't used; nil if only its key path knows it.
  @usableFromInline let place: Int?
  @usableFromInline let isStored: Bool
  @usableFromInline let isWritable: Bool
  /// The property; nil for a value that is only read.
  @usableFromInline let keyPath: (AnyKeyPath & Sendable)?
  /// The size and alignment of a value in bytes.
  @usableFromInline let size: Int
  @usableFromInline let alignment: Int
  /// The kind of a value that a layout reads itself, without calling ``read``; nil for any other.
  @usableFromInline let plain: PlainValue?
  /// Initializes memory with a column's value.
  @usableFromInline let read: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void
  @usableFromInline let destroy: @Sendable (UnsafeMutableRawPointer) -> Void
  @usableFromInline let bind: @Sendable (UnsafeRawPointer, ParameterBinder) throws -> Void
  /// Sets the property to an integer, if it can be set.
  @usableFromInline let assign: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void
  /// Sets the property to a column's value, if it can be set.
  @usableFromInline let take: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void
  /// The property as a connection with this format of dates stores it.
  @usableFromInline let value: @Sendable (UnsafeRawPointer, DateFormat) throws -> DatabaseValue

  @inlinable
  init<Value>(
    _ type: Value.Type, offset: Int?, place: Int?, isWritable: Bool,
    keyPath: (AnyKeyPath & Sendable)?, plain: PlainValue? = nil,
    read: @escaping @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void,
    bind: @escaping @Sendable (UnsafeRawPointer, ParameterBinder) throws -> Void,
    assign: @escaping @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void,
    take: @escaping @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void,
    value: @escaping @Sendable (UnsafeRawPointer, DateFormat) throws -> DatabaseValue
  ) {
    self.offset = offset ?? 0
    self.place = place
    isStored = offset != nil
    self.isWritable = isWritable
    self.keyPath = keyPath
    self.plain = plain
    size = MemoryLayout<Value>.size
    alignment = MemoryLayout<Value>.alignment
    self.read = read
    destroy = { $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    self.bind = bind
    self.assign = assign
    self.take = take
    self.value = value
  }

  /// A property that is stored in the record as it is, of a type that knows how it is stored.
  @inlinable
  static func plain<Value: DatabaseValueConvertible>(
    _ type: Value.Type, offset: Int, isWritable: Bool, keyPath: AnyKeyPath & Sendable
  ) -> PropertyAccess {
    let set: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void = {
      $0.assumingMemoryBound(to: Value.self).pointee = try Value(databaseValue: .integer($1))
    }
    let keep: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void = { _, _ in }
    let replace: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void = {
      $1.assumingMemoryBound(to: Value.self).pointee = try Value(written: $0)
    }
    let ignore: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void = { _, _ in }
    return PropertyAccess(
      type, offset: offset, place: offset, isWritable: isWritable, keyPath: keyPath,
      plain: PlainValue(type),
      read: { $1.initializeMemory(as: Value.self, to: try Value(written: $0)) },
      bind: { try $0.assumingMemoryBound(to: Value.self).pointee.bind(to: $1) },
      assign: isWritable ? set : keep, take: isWritable ? replace : ignore,
      value: { try ColumnCoding.plain.stored($0.assumingMemoryBound(to: Value.self).pointee, $1) })
  }

  /// Access to any other property: by its key path, and with a coding.
  @usableFromInline
  static func coded<R, Value: Sendable>(
    _ keyPath: KeyPath<R, Value> & Sendable, _ coding: ColumnCoding<Value>
  ) -> PropertyAccess {
    PropertyAccess(
      Value.self, offset: nil, place: MemoryLayout<R>.offset(of: keyPath),
      isWritable: keyPath is WritableKeyPath<R, Value>, keyPath: keyPath,
      read: { $1.initializeMemory(as: Value.self, to: try coding.read($0)) },
      bind: { try coding.bind($0.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath], $1) },
      assign: { record, integer in
        guard let keyPath = keyPath as? WritableKeyPath<R, Value> else { return }
        let value = try coding.restored(.integer(integer))
        record.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath] = value
      },
      take: { column, record in
        guard let keyPath = keyPath as? WritableKeyPath<R, Value> else { return }
        let value = try coding.read(column)
        record.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath] = value
      },
      value: { try coding.stored($0.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath], $1) }
    )
  }

  /// The type of the property; `Never` for a value that is only read.
  var valueType: any Any.Type { keyPath.map { type(of: $0).valueType } ?? Never.self }

  /// A value that is only read, of a type that knows how it is stored.
  @inlinable
  static func value<Value: DatabaseValueConvertible>(_ type: Value.Type) -> PropertyAccess {
    .value(type, plain: PlainValue(type)) {
      $1.initializeMemory(as: Value.self, to: try Value(written: $0))
    }
  }

  /// A value that is only read; nil for a type that only a coding reads. The compiler, which knows the type
  /// where a query is made, leaves out the test.
  @inlinable
  static func value<Value>(of type: Value.Type) -> PropertyAccess? {
    (type as? any DatabaseValueConvertible.Type).map { .value($0) }
  }

  static func value<Value: Sendable>(_ coding: ColumnCoding<Value>) -> PropertyAccess {
    .value(Value.self) { $1.initializeMemory(as: Value.self, to: try coding.read($0)) }
  }

  /// A value that is only read. The closures that aren't called capture nothing: each selection makes them.
  @inlinable
  static func value<Value: Sendable>(
    _ type: Value.Type, plain: PlainValue? = nil,
    read: @escaping @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void
  ) -> PropertyAccess {
    PropertyAccess(
      type, offset: nil, place: nil, isWritable: false, keyPath: nil, plain: plain, read: read,
      bind: { _, _ in }, assign: { _, _ in }, take: { _, _ in }, value: { _, _ in .null })
  }
}
