import LarderSQLite

/// How a column's property gets into a parameter and out of a column, without its type.
///
/// The closures are made where the column is declared, so that they are specialized there, and
/// capture nothing where the property is simply stored in the record: a call takes two nanoseconds.
/// (A closure over a parameter pack isn't specialized as far as that: its loops stay dynamic where
/// an element can throw, and what is generic in an element, such as an Optional, is never inlined.)
///
/// What makes the raw pointers sound: only a table calls the closures, with the address of a record
/// of its own type, plus ``offset``, or with memory for a value of the property's type.
@usableFromInline
final class PropertyAccess: Sendable {
  /// Where the property is in the record, in bytes; 0 where only its key path knows.
  @usableFromInline let offset: Int
  /// Whether ``offset`` is known.
  @usableFromInline let isStored: Bool
  /// Whether it can be set.
  @usableFromInline let isWritable: Bool
  /// The size and alignment of a value in bytes.
  @usableFromInline let size: Int
  @usableFromInline let alignment: Int
  /// Puts a column's value into memory that holds none.
  @usableFromInline let read: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void
  /// Ends the life of a value in memory.
  @usableFromInline let destroy: @Sendable (UnsafeMutableRawPointer) -> Void
  /// Binds the property.
  @usableFromInline let bind: @Sendable (UnsafeRawPointer, ParameterBinder) throws -> Void
  /// Sets the property to an integer, if it can be set.
  @usableFromInline let assign: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void
  /// Sets the property to a column's value, if it can be set.
  @usableFromInline let take: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void
  /// The property as a connection with this format of dates stores it.
  @usableFromInline let value: @Sendable (UnsafeRawPointer, DateFormat) throws -> DatabaseValue

  @inlinable
  init<Value>(
    _ type: Value.Type, offset: Int?, isWritable: Bool,
    read: @escaping @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void,
    bind: @escaping @Sendable (UnsafeRawPointer, ParameterBinder) throws -> Void,
    assign: @escaping @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void,
    take: @escaping @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void,
    value: @escaping @Sendable (UnsafeRawPointer, DateFormat) throws -> DatabaseValue
  ) {
    self.offset = offset ?? 0
    isStored = offset != nil
    self.isWritable = isWritable
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
    _ type: Value.Type, offset: Int, isWritable: Bool
  ) -> PropertyAccess {
    let set: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void = {
      $0.assumingMemoryBound(to: Value.self).pointee = try Value(databaseValue: .integer($1))
    }
    let keep: @Sendable (UnsafeMutableRawPointer, Int64) throws -> Void = { _, _ in }
    let replace: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void = {
      $1.assumingMemoryBound(to: Value.self).pointee = try Value(column: $0)
    }
    let ignore: @Sendable (ColumnReader, UnsafeMutableRawPointer) throws -> Void = { _, _ in }
    return PropertyAccess(
      type, offset: offset, isWritable: isWritable,
      read: { $1.initializeMemory(as: Value.self, to: try Value(column: $0)) },
      bind: { try $0.assumingMemoryBound(to: Value.self).pointee.bind(to: $1) },
      assign: isWritable ? set : keep, take: isWritable ? replace : ignore,
      value: { try ColumnCoding.plain.stored($0.assumingMemoryBound(to: Value.self).pointee, $1) })
  }

  /// Any other property.
  @usableFromInline
  static func coded<R, Value: Sendable>(
    _ keyPath: KeyPath<R, Value> & Sendable, _ coding: ColumnCoding<Value>
  ) -> PropertyAccess {
    PropertyAccess(
      Value.self, offset: nil, isWritable: keyPath is WritableKeyPath<R, Value>,
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
      value: {
        try coding.stored($0.assumingMemoryBound(to: R.self).pointee[keyPath: keyPath], $1)
      })
  }
}

extension PropertyAccess {
  /// A value that is only read, of a type that knows how it is stored.
  @inlinable
  static func value<Value: DatabaseValueConvertible>(_ type: Value.Type) -> PropertyAccess {
    .plain(type, offset: 0, isWritable: false)
  }

  /// A value that is only read, with a coding.
  static func value<Value: Sendable>(_ coding: ColumnCoding<Value>) -> PropertyAccess {
    PropertyAccess(
      Value.self, offset: nil, isWritable: false,
      read: { $1.initializeMemory(as: Value.self, to: try coding.read($0)) },
      bind: { _, _ in }, assign: { _, _ in }, take: { _, _ in }, value: { _, _ in .null })
  }
}

/// The properties of a table's columns, and memory for their values side by side.
///
/// What makes its pointers sound: they are given back only with the object, which keeps the
/// properties, and not written after its initializer.
@usableFromInline
final class RecordLayout: @unchecked Sendable {
  private struct Element {
    // Neither the property nor its closures are retained for a call, as those of an array would be.
    let property: Unmanaged<PropertyAccess>
    /// Where the value is in a tuple of all, in bytes.
    let offset: Int
  }

  private let properties: [PropertyAccess]
  private let elements: UnsafePointer<Element>
  private let count: Int
  /// The size of a tuple of the values in bytes, by which it is checked.
  let size: Int

  init(_ properties: [PropertyAccess]) {
    self.properties = properties
    count = properties.count
    let elements = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
    // As the compiler lays out tuples: each element at the next address of its alignment.
    var end = 0
    for (index, property) in properties.enumerated() {
      end = (end + property.alignment - 1) / property.alignment * property.alignment
      (elements + index).initialize(to: Element(property: .passUnretained(property), offset: end))
      end += property.size
    }
    size = end
    self.elements = UnsafePointer(elements)
  }

  deinit { elements.deallocate() }

  /// Puts the values of a row's columns into memory for a tuple of them. On failure it holds none.
  @usableFromInline
  func read(_ row: RecordRow, into memory: UnsafeMutableRawPointer) throws {
    var index = 0
    // Calls may change the object for all that the compiler knows: it would load them each time.
    let (count, elements) = (count, elements)
    do {
      while index < count {
        let element = elements[index]
        let reader = ColumnReader(
          statement: row.statement, index: row.positions[index], format: row.format)
        try element.property._withUnsafeGuaranteedRef {
          try $0.read(reader, memory + element.offset)
        }
        index &+= 1
      }
    } catch {
      for done in 0..<index { properties[done].destroy(memory + elements[done].offset) }
      throw ColumnFailure(column: index, error: error)
    }
  }

  @usableFromInline
  static var noMemory: DatabaseError { DatabaseError(.noMemory, "no memory for a record") }

  /// Binds a record's properties, in the order of a statement's parameters from one on.
  func bind(
    _ record: UnsafeRawPointer, _ order: [Int], to arena: BindingArena, from first: Int32 = 1
  ) throws {
    var index = first
    for column in order {
      do {
        try elements[column].property._withUnsafeGuaranteedRef {
          try $0.bind(record + $0.offset, ParameterBinder(arena: arena, index: index))
        }
      } catch {
        throw ColumnFailure(column: column, error: error)
      }
      index &+= 1
    }
  }

  /// The size of a property in bytes.
  func size(of column: Int) -> Int { properties[column].size }

  /// A record's property as it is stored.
  func value(
    of column: Int, in record: UnsafeRawPointer, _ format: DateFormat
  ) throws -> DatabaseValue {
    do {
      return try properties[column].value(record + properties[column].offset, format)
    } catch {
      throw ColumnFailure(column: column, error: error)
    }
  }

  /// Sets a record's property to a column's value.
  func take(_ reader: ColumnReader, _ column: Int, of record: UnsafeMutableRawPointer) throws {
    do {
      try properties[column].take(reader, record + properties[column].offset)
    } catch {
      throw ColumnFailure(column: column, error: error)
    }
  }

  /// Sets a record's property to an integer.
  func assign(_ record: UnsafeMutableRawPointer, _ column: Int, _ integer: Int64) throws {
    do {
      try elements[column].property._withUnsafeGuaranteedRef {
        try $0.assign(record + $0.offset, integer)
      }
    } catch {
      throw ColumnFailure(column: column, error: error)
    }
  }
}

/// The row that a statement stands on, and which of its columns is which of the table's.
///
/// What makes its pointers sound: it is made by whoever steps the statement, and lasts until the next
/// step; the positions belong to the table or to the caller, who keeps them.
@usableFromInline
struct RecordRow {
  @usableFromInline let statement: OpaquePointer
  @usableFromInline let positions: UnsafePointer<Int32>
  // Unretained: the table, which is in use, keeps it.
  @usableFromInline unowned(unsafe) let layout: RecordLayout
  @usableFromInline let format: StorageFormat

  @inlinable @inline(__always)
  init(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ layout: RecordLayout
  ) {
    self.init(statement.arena.statement, positions, layout, statement.arena.format)
  }

  @inlinable @inline(__always)
  init(
    _ statement: OpaquePointer, _ positions: UnsafePointer<Int32>, _ layout: RecordLayout,
    _ format: StorageFormat
  ) {
    self.layout = layout
    self.statement = statement
    self.positions = positions
    self.format = format
  }
}

/// What went wrong with a column, before anybody knows of which row and statement.
@usableFromInline
struct ColumnFailure: Error {
  let column: Int
  let error: any Error
}
