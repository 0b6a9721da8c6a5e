import CSQLite

/// The values of the row that a statement stands on, which SQLite keeps side by side.
///
/// `sqlite3_column_value` takes some 40 instructions: of reading a row of 20 columns a tenth. Its documentation
/// promises no array, so nothing is taken for granted: the distance between two values is measured once, and the
/// last value of each row has to lie where the array would have it. Otherwise SQLite looks each value up.
///
/// Safety: a value whose index is below the row's number of columns lies between two that SQLite has told.
struct RowValues {
  private let statement: OpaquePointer
  /// The first value, if the others are found by their distance from it.
  private let first: UnsafeRawPointer?
  private let distance: Int
  private let count: Int32

  /// - Parameter distance: the ``distance(in:)`` of two values in bytes; below one, if SQLite is to be asked for
  ///   each.
  @inline(__always)
  init(_ statement: OpaquePointer, distance: Int) {
    self.statement = statement
    self.distance = distance
    guard distance > 0 else {
      (first, count) = (nil, 0)
      return
    }
    let count = sqlite3_data_count(statement)
    self.count = count
    let last = UnsafeRawPointer(sqlite3_column_value(statement, count &- 1))
    guard let start = UnsafeRawPointer(sqlite3_column_value(statement, 0)),
      start + Int(count &- 1) &* distance == last
    else {
      first = nil
      return
    }
    first = start
  }

  @inline(__always)
  subscript(index: Int32) -> OpaquePointer? {
    guard let first, UInt32(bitPattern: index) < UInt32(bitPattern: count) else {
      return sqlite3_column_value(statement, index)
    }
    return OpaquePointer(first + Int(index) &* distance)
  }

  /// The distance between two values of the row in bytes, or -1 for unequal ones. The row has three columns at
  /// least.
  static func distance(in statement: OpaquePointer) -> Int {
    let values = (0..<3).map { Int(bitPattern: sqlite3_column_value(statement, $0)) }
    let distance = values[1] &- values[0]
    return distance > 0 && values[2] &- values[1] == distance ? distance : -1
  }
}
