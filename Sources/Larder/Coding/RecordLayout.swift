import LarderSQLite
import Synchronization

/// The properties of a table's columns, and memory for their values side by side.
///
/// Its pointers are sound: the memory isn't written after the initializer, and is freed with the object.
@usableFromInline
package final class RecordLayout: @unchecked Sendable {
  private struct Element {
    // Unmanaged: a call retains neither the property nor its closures, unlike with an array of references.
    let property: Unmanaged<PropertyAccess>
    let plain: PlainValue?
    let read: PlainType
    let written: PlainType
    /// The value's offset in a tuple of all values, in bytes.
    let offset: Int
    /// The property's offset in a record, in bytes.
    let place: Int
  }

  let properties: [PropertyAccess]
  private let elements: UnsafePointer<Element>
  private let count: Int
  /// The size of a tuple of the values in bytes, which is compared with the compiler's.
  let size: Int
  /// The distance of two values in a row of SQLite's, see ``RowValues``; 0 before the first row.
  private let distance: Atomic<Int>

  init(_ properties: [PropertyAccess]) {
    self.properties = properties
    count = properties.count
    // With two columns, looking up the first and the last would be all there is.
    distance = Atomic(properties.count > 2 ? 0 : -1)
    let elements = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
    // Tuples are laid out as by the compiler: each element at the next address of its alignment.
    var end = 0
    for (index, property) in properties.enumerated() {
      end = (end + property.alignment - 1) / property.alignment * property.alignment
      (elements + index).initialize(
        to: Element(
          property: .passUnretained(property), plain: property.plain,
          read: PlainType(property, isWritten: false),
          written: PlainType(property, isWritten: true), offset: end, place: property.offset))
      end += property.size
    }
    size = end
    self.elements = UnsafePointer(elements)
  }

  deinit { elements.deallocate() }

  /// Puts the values of a row's columns into memory for a tuple of them. On failure the memory holds none.
  @usableFromInline
  func read(_ row: RecordRow, into memory: UnsafeMutableRawPointer) throws {
    var index = 0
    // Local copies: for all that the compiler knows, a call may change the
    // object, and it would load these each time.
    let (count, elements) = (count, elements)
    do {
      if row.format.isEngine { try readInEngine(row, into: memory, &index) }
      if index < count {
        var distance = self.distance.load(ordering: .relaxed)
        if _slowPath(distance == 0) { distance = measureDistance(row.statement) }
        let values = RowValues(row.statement, distance: distance)
        repeat {
          let element = elements[index]
          let value = values[row.positions[index]]
          let place = memory + element.offset
          if try !element.read.read(value, row.format, into: place) {
            try element.property._withUnsafeGuaranteedRef {
              try $0.read(ColumnReader(value: value, format: row.format), place)
            }
          }
          index &+= 1
        } while index < count
      }
    } catch {
      throw undo(error, index, memory)
    }
  }

  /// Destroys the values of the columns before one that has failed, and returns its error.
  @inline(never)
  private func undo(
    _ error: any Error, _ failed: Int, _ memory: UnsafeMutableRawPointer
  ) -> any Error {
    for done in 0..<failed { properties[done].destroy(memory + elements[done].offset) }
    return ColumnFailure(column: failed, error: error)
  }

  @inline(never)
  private func measureDistance(_ statement: OpaquePointer) -> Int {
    let measured = RowValues.distance(in: statement)
    distance.store(measured, ordering: .relaxed)
    return measured
  }

  /// Reads the columns of another engine's row, whose values lie side by side.
  private func readInEngine(
    _ row: RecordRow, into memory: UnsafeMutableRawPointer, _ index: inout Int
  ) throws {
    let values = EngineRow.values(row.statement)
    while index < count {
      let element = elements[index]
      let place = memory + element.offset
      let value = values + Int(row.positions[index])
      switch (element.plain, value.pointee.storageClass) {
      case (.integer, .integer): place.storeBytes(of: value.pointee.integer, as: Int64.self)
      case (.real, .real): place.storeBytes(of: value.pointee.real, as: Double.self)
      case (.text, .text): place.initializeMemory(as: String.self, to: try value.pointee.text())
      default:
        let reader = ColumnReader(value: OpaquePointer(value), format: row.format)
        try element.property._withUnsafeGuaranteedRef { try $0.read(reader, place) }
      }
      index &+= 1
    }
  }

  /// Out of line: inlined, it would be repeated in the code for each record type.
  @inline(never)
  @usableFromInline
  static func noMemory() -> any Error { DatabaseError(.noMemory, "no memory for a record") }

  /// Binds a record's properties to a statement's parameters, in their order from `first` on.
  package func bind(
    _ record: UnsafeRawPointer, _ order: [Int], to arena: BindingArena, from first: Int32 = 1
  ) throws {
    if _slowPath(arena.isEngine) { return try bindInEngine(record, order, to: arena, from: first) }
    var index = first
    for column in order {
      do {
        let element = elements[column]
        let place = record + element.place
        if !element.written.bind(place, to: arena, at: index) {
          try element.property._withUnsafeGuaranteedRef {
            try $0.bind(place, ParameterBinder(arena: arena, index: index))
          }
        }
      } catch {
        throw Self.failure(error, of: column)
      }
      index &+= 1
    }
  }

  /// Out of line, since it is needed rarely, and the less code lies between what runs each time, the more of it stays
  /// in the processor's cache.
  @inline(never)
  private static func failure(_ error: any Error, of column: Int) -> any Error {
    ColumnFailure(column: column, error: error)
  }

  /// Binds the properties to the parameters of another engine.
  private func bindInEngine(
    _ record: UnsafeRawPointer, _ order: [Int], to arena: BindingArena, from first: Int32
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

  /// Calls a closure with memory for a tuple of the values, which is uninitialized before and after the call.
  func withTuple(_ body: (UnsafeMutableRawPointer) -> Void) {
    withUnsafeTemporaryAllocation(
      byteCount: max(1, size), alignment: properties.map(\.alignment).max() ?? 1
    ) { memory in
      if let memory = memory.baseAddress { body(memory) }
    }
  }

  /// Calls a closure with a column's value, in memory.
  func withValue<T>(
    of column: Int, _ reader: ColumnReader, _ body: (UnsafeRawPointer) -> T
  ) throws -> T {
    let property = properties[column]
    return try withUnsafeTemporaryAllocation(
      byteCount: max(1, property.size), alignment: property.alignment
    ) { memory in
      guard let memory = memory.baseAddress else { throw Self.noMemory() }
      try property.read(reader, memory)
      defer { property.destroy(memory) }
      return body(memory)
    }
  }

  func offset(of column: Int) -> Int { elements[column].offset }

  /// Calls a closure with a column's property; its errors get the column.
  @inline(__always)
  private func withProperty<T>(of column: Int, _ body: (PropertyAccess) throws -> T) throws -> T {
    do {
      return try elements[column].property._withUnsafeGuaranteedRef(body)
    } catch {
      throw ColumnFailure(column: column, error: error)
    }
  }

  func value(
    of column: Int, in record: UnsafeRawPointer, _ format: DateFormat
  ) throws -> DatabaseValue {
    try withProperty(of: column) { try $0.value(record + $0.offset, format) }
  }

  func take(_ reader: ColumnReader, _ column: Int, of record: UnsafeMutableRawPointer) throws {
    try withProperty(of: column) { try $0.take(reader, record + $0.offset) }
  }

  func assign(_ record: UnsafeMutableRawPointer, _ column: Int, _ integer: Int64) throws {
    try withProperty(of: column) { try $0.assign(record + $0.offset, integer) }
  }
}

/// A statement's current row, with the position of each of the table's columns in it.
///
/// Its pointers are sound: it is made by the code that steps the statement, and lasts until the next step.
/// The positions belong to the table or to the caller, who keeps them.
@usableFromInline
struct RecordRow {
  @usableFromInline let statement: OpaquePointer
  @usableFromInline let positions: UnsafePointer<Int32>
  // Unmanaged, since the table, which is in use, keeps it: otherwise each row would count two references.
  @usableFromInline let layout: Unmanaged<RecordLayout>
  @usableFromInline let format: StorageFormat

  @inlinable @inline(__always)
  init(
    _ statement: PreparedStatement, _ positions: UnsafePointer<Int32>, _ layout: RecordLayout
  ) { self.init(statement.arena.statement, positions, layout, statement.arena.format) }

  @inlinable @inline(__always)
  init(
    _ statement: OpaquePointer, _ positions: UnsafePointer<Int32>, _ layout: RecordLayout,
    _ format: StorageFormat
  ) {
    self.layout = .passUnretained(layout)
    self.statement = statement
    self.positions = positions
    self.format = format
  }

  @inlinable @inline(__always)
  func read(into memory: UnsafeMutableRawPointer) throws {
    try layout._withUnsafeGuaranteedRef { try $0.read(self, into: memory) }
  }
}

/// An error with a column, before its row and statement are known.
@usableFromInline
struct ColumnFailure: Error {
  let column: Int
  let error: any Error
}
