import CSQLite

/// Rows as a virtual table is read: one after the other, each by its columns.
///
/// The row that is being read lies in memory, as the tuple that it is, and its columns at their places in it: neither
/// a row nor a value is put into a box on its way to SQLite.
///
/// What makes the unsafe pointers sound: the closure keeps the memory, and has put a row into it where it has returned
/// true. Columns are made for the types of its tuple.
@usableFromInline
package final class TableRows {
  /// Goes to the next row: false after the last.
  let next: () throws -> Bool
  let columns: UnsafeMutableBufferPointer<TableColumn>
  private let row: UnsafeRawPointer
  /// The values of the row, where rows are lists.
  private(set) var list: (() -> [DatabaseValue])?

  @usableFromInline
  init(_ row: UnsafeRawPointer, _ columns: [TableColumn], next: @escaping () throws -> Bool) {
    self.row = row
    self.columns = .allocate(capacity: columns.count)
    _ = self.columns.initialize(from: columns)
    self.next = next
  }

  deinit {
    columns.deinitialize()
    columns.deallocate()
  }

  /// Gives SQLite the value of a column, in the context of the call in which it asks for it.
  ///
  /// - Parameters:
  ///   - column: less than there are.
  ///   - arena: one for results.
  @inline(__always)
  func write(
    _ column: Int, to context: OpaquePointer, _ arena: UnsafeMutableRawPointer
  ) throws {
    let (offset, kind) = (columns[column].offset, columns[column].kind)
    let place = row + offset
    switch kind {
    case .integer: sqlite3_result_int64(context, place.load(as: Int64.self))
    case .text:
      place.assumingMemoryBound(to: String.self).pointee.withBytes {
        // A nil pointer would make NULL of an empty text.
        larder_result_text(context, $0.baseAddress ?? Self.noBytes, UInt64($0.count))
      }
    case .real:
      let number = place.load(as: Double.self)
      guard !number.isNaN else { throw ConversionError(.notANumber, Double.self) }
      sqlite3_result_double(context, number)
    case .other(let bind):
      let arena = Unmanaged<BindingArena>.fromOpaque(arena).takeUnretainedValue()
      arena.statement = context
      try bind(place, ParameterBinder(arena: arena, index: 1))
    }
  }

  private nonisolated(unsafe) static let noBytes = UnsafePointer<UInt8>(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
}

/// How a value lies in a row, and becomes one of SQLite's.
@usableFromInline
package struct TableColumn {
  enum Kind {
    case integer, text
    case real
    /// By what its type binds.
    case other((UnsafeRawPointer, ParameterBinder) throws -> Void)
  }

  /// Where it begins in the row, in bytes.
  fileprivate let offset: Int
  fileprivate let kind: Kind

  private init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }

  /// The next column of a tuple, in which it stands behind so many bytes, which it adds to.
  @usableFromInline
  init<Value: DatabaseValueConvertible>(_ type: Value.Type, behind end: inout Int) {
    let alignment = MemoryLayout<Value>.alignment
    let offset = (end + alignment - 1) / alignment * alignment
    end = offset + MemoryLayout<Value>.size
    if type == Int.self || type == Int64.self {
      self.init(.integer, at: offset)
    } else if type == String.self {
      self.init(.text, at: offset)
    } else if type == Double.self {
      self.init(.real, at: offset)
    } else {
      self.init(
        .other { place, binder in
          try place.assumingMemoryBound(to: Value.self).pointee.bind(to: binder)
        }, at: offset)
    }
  }

  /// A property of a record, by what binds it: where it is an integer of 64 bits, a Double or a String, that isn't called.
  package init(
    at offset: Int, plain type: StorageClass?,
    bind: @escaping (UnsafeRawPointer, ParameterBinder) throws -> Void
  ) {
    switch type {
    case .integer: self.init(.integer, at: offset)
    case .real: self.init(.real, at: offset)
    case .text: self.init(.text, at: offset)
    default: self.init(.other(bind), at: offset)
    }
  }

  /// An element of a list, or NULL where there is none.
  init(element index: Int) {
    self.init(
      .other { place, binder in
        let list = place.assumingMemoryBound(to: [DatabaseValue].self).pointee
        try (index < list.count ? list[index] : .null).bind(to: binder)
      }, at: 0)
  }
}

/// Where the reading of a sequence is, and the row that it stands on.
@usableFromInline
package final class RowState<Iterator, Tuple> {
  @exclusivity(unchecked) @usableFromInline var iterator: Iterator
  @usableFromInline let row = UnsafeMutablePointer<Tuple>.allocate(capacity: 1)
  @exclusivity(unchecked) @usableFromInline var hasRow = false

  @inlinable
  init(_ iterator: Iterator, _ type: Tuple.Type) { self.iterator = iterator }

  @inlinable var place: UnsafeRawPointer { UnsafeRawPointer(row) }

  @inlinable
  deinit {
    if hasRow { row.deinitialize(count: 1) }
    row.deallocate()
  }

  /// Puts the next row in the place of the last: false where there is none.
  @inlinable @inline(__always)
  func take(_ next: consuming Tuple?) -> Bool {
    guard let next else { return false }
    if hasRow { row.pointee = next } else { row.initialize(to: next) }
    hasRow = true
    return true
  }
}

extension TableRows {
  /// Rows of one column.
  @inlinable
  package convenience init<Rows: Sequence>(_ rows: Rows)
  where Rows.Element: DatabaseValueConvertible {
    let state = RowState(rows.makeIterator(), Rows.Element.self)
    var end = 0
    self.init(state.place, [TableColumn(Rows.Element.self, behind: &end)]) {
      state.take(state.iterator.next())
    }
  }

  /// Rows of one column, which a function makes until it returns nil.
  @inlinable
  package convenience init<Value: DatabaseValueConvertible>(
    _ next: @escaping () throws -> Value?
  ) {
    let state = RowState((), Value.self)
    var end = 0
    self.init(state.place, [TableColumn(Value.self, behind: &end)]) { state.take(try next()) }
  }

  /// Rows of several columns.
  @inlinable
  package convenience init<Rows: Sequence, each Value: DatabaseValueConvertible>(tuples rows: Rows)
  where Rows.Element == (repeat each Value) {
    let state = RowState(rows.makeIterator(), Rows.Element.self)
    var (columns, end) = ([TableColumn](), 0)
    for type in repeat (each Value).self { columns.append(TableColumn(type, behind: &end)) }
    self.init(state.place, columns) { state.take(state.iterator.next()) }
  }

  /// Rows of several columns, which a function makes until it returns nil.
  @inlinable
  package convenience init<each Value: DatabaseValueConvertible>(
    tuples next: @escaping () throws -> (repeat each Value)?
  ) {
    let state = RowState((), (repeat each Value).self)
    var (columns, end) = ([TableColumn](), 0)
    for type in repeat (each Value).self { columns.append(TableColumn(type, behind: &end)) }
    self.init(state.place, columns) { state.take(try next()) }
  }

  /// Rows of a type whose columns are known.
  package convenience init<Tuple>(_ rows: [Tuple], _ columns: [TableColumn]) {
    let state = RowState(rows.makeIterator(), Tuple.self)
    self.init(state.place, columns) { state.take(state.iterator.next()) }
  }

  /// Rows as lists; what is missing is NULL.
  ///
  /// - Parameter check: is given each row, leaves out those that aren't wanted, and throws for one that can't be read.
  convenience init<Rows: Sequence>(
    lists rows: Rows, columnCount: Int, check: RowCheck?
  ) where Rows.Element == [DatabaseValue] {
    let state = RowState(rows.makeIterator(), [DatabaseValue].self)
    let columns = (0..<columnCount).map { TableColumn(element: $0) }
    if var check {
      self.init(state.place, columns) {
        while var row = state.iterator.next() {
          if try check.check(&row) { return state.take(row) }
        }
        return false
      }
    } else {
      self.init(state.place, columns) { state.take(state.iterator.next()) }
    }
    list = {
      let row = state.row.pointee
      return (0..<columnCount).map { $0 < row.count ? row[$0] : .null }
    }
  }
}
