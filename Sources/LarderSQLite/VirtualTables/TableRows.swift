import CSQLite

/// The rows of a virtual table, read one after the other.
///
/// The current row is a tuple in memory, and its columns are at known offsets: neither a row nor a value is
/// boxed on its way to SQLite.
///
/// Pointer safety: the closure keeps the memory alive, and has stored a row there whenever it has returned
/// true. Columns are made for the types of that tuple.
@usableFromInline
package final class TableRows {
  /// Moves to the next row. Returns false after the last.
  let next: () throws -> Bool
  let columns: UnsafeMutableBufferPointer<TableColumn>
  private let row: UnsafeRawPointer
  /// The values of the current row, if rows are lists.
  package var list: (() -> [DatabaseValue])?

  @usableFromInline
  package init(_ row: UnsafeRawPointer, _ columns: [TableColumn], next: @escaping () throws -> Bool)
  {
    self.row = row
    self.columns = .allocate(capacity: columns.count)
    _ = self.columns.initialize(from: columns)
    self.next = next
  }

  deinit {
    columns.deinitialize()
    columns.deallocate()
  }

  /// Passes the value of a column to SQLite, in the context of the call that asks for it.
  ///
  /// - Parameters:
  ///   - column: the column's index, which must be valid.
  ///   - arena: a ``BindingArena`` for results.
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
        // An empty text needs a non-nil pointer too: nil would make it NULL.
        larder_result_text(context, $0.baseAddress ?? Self.noBytes, UInt64($0.count))
      }
    case .real:
      let number = place.load(as: Double.self)
      guard !number.isNaN else { throw ConversionError(.notANumber, Double.self) }
      sqlite3_result_double(context, number)
    case .other(let bind):
      let arena = Unmanaged<BindingArena>.fromOpaque(arena).takeUnretainedValue()
      arena.current = context
      try bind(place, ParameterBinder(arena: arena, index: 1))
    }
  }

  private nonisolated(unsafe) static let noBytes = UnsafePointer<UInt8>(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
}

/// The place of a column in the row's memory, and how its value is passed to SQLite.
@usableFromInline
package struct TableColumn {
  enum Kind {
    case integer, text
    case real
    /// Any other type, passed by its own binding.
    case other((UnsafeRawPointer, ParameterBinder) throws -> Void)
  }

  /// The column's offset in the row, in bytes.
  fileprivate let offset: Int
  fileprivate let kind: Kind

  private init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }

  /// The next column of a tuple. `end` is where the previous columns end, and is advanced by this one.
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

  /// A part of a row, such as a record's property. `bind` isn't called for a 64-bit integer, a Double or a
  /// String.
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
}

/// The iterator of a sequence, and the memory of its current row.
@usableFromInline
package final class RowState<Iterator, Tuple> {
  @exclusivity(unchecked) @usableFromInline package var iterator: Iterator
  @usableFromInline package let row = UnsafeMutablePointer<Tuple>.allocate(capacity: 1)
  @exclusivity(unchecked) @usableFromInline var hasRow = false

  @inlinable
  package init(_ iterator: Iterator, _ type: Tuple.Type) { self.iterator = iterator }

  @inlinable package var place: UnsafeRawPointer { UnsafeRawPointer(row) }

  @inlinable
  deinit {
    if hasRow { row.deinitialize(count: 1) }
    row.deallocate()
  }

  /// Replaces the current row by the next. Returns false if there is none.
  @inlinable @inline(__always)
  package func take(_ next: consuming Tuple?) -> Bool {
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

  /// Rows of one column, made by a function until it returns nil.
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

  /// Rows of several columns, made by a function until it returns nil.
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
}
