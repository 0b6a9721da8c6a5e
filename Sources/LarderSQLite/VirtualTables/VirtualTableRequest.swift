/// What a statement asks of a ``VirtualTable``: by each field it can leave rows out, or has to put them in order.
///
/// SQLite compares each row again: rows that don't match may be among those that are returned.
public struct VirtualTableRequest: Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The value.
    public let value: DatabaseValue
    /// Whether rows with the value itself are asked for, too.
    public let isIncluded: Bool
  }

  /// The values between two ends, of which one may be missing.
  public struct Range: Hashable, Sendable {
    /// The least value.
    public internal(set) var lower: Bound?
    /// The greatest value.
    public internal(set) var upper: Bound?
  }

  /// A column by which rows are ordered. NULLs come before all values, or after them where it is descending.
  public struct Order: Hashable, Sendable {
    /// The column's name.
    public let column: String
    /// Whether the greatest value comes first.
    public let isDescending: Bool
  }

  /// The value that a column has to equal, by the column's name. It has the column's type, and is never NULL. In a column
  /// without a type numbers are equal as SQLite compares them: 1 is 1.0.
  public internal(set) var equals: [String: DatabaseValue] = [:]
  /// What a column's values have to lie between, by the column's name. The ends have the column's type; texts
  /// are compared by the bytes of their UTF-8, which isn't the order of Swift's strings, or by the collation.
  public internal(set) var ranges: [String: Range] = [:]
  /// The order that the rows have to have: by the first column, rows with the same value there by the next, and so on.
  /// None if any will do. Returning another throws.
  public internal(set) var order: [Order] = []
  /// After how many rows that match the statement stops reading, by its LIMIT and OFFSET: for those who fetch rows in
  /// pieces, as the size of the first. Nil where that isn't known (always before SQLite 3.38). No row may be left out
  /// because of it: the statement may have conditions that the table isn't told of.
  public internal(set) var expectedCount: Int?

  /// All rows in any order.
  init() {}

  /// All values that it has of the statement.
  var values: [DatabaseValue] {
    equals.values + ranges.values.flatMap { [$0.lower, $0.upper].compactMap { $0?.value } }
  }
}
