import Larder

/// A statement's request to a ``VirtualTable``. By each property, the table can leave out rows or has to
/// order them.
///
/// SQLite checks each row again, so the table may also return rows that don't match.
public struct VirtualTableRequest: Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The value.
    public let value: DatabaseValue
    /// Whether rows with the value itself are included.
    public let isIncluded: Bool
  }

  /// The values between two bounds, one of which may be missing.
  public struct Range: Hashable, Sendable {
    /// The lower bound.
    public internal(set) var lower: Bound?
    /// The upper bound.
    public internal(set) var upper: Bound?
  }

  /// The value that each column has to equal, by the column's name. It has the column's type, and is never
  /// NULL. In a column without a type, numbers are equal as SQLite compares them: 1 is 1.0.
  public internal(set) var value: [String: DatabaseValue] = [:]
  /// The range of each column's values, by the column's name. The bounds have the column's type. Texts are
  /// compared by the column's collation or, without one, by their UTF-8 bytes, unlike Swift's strings.
  public internal(set) var range: [String: Range] = [:]
  /// The columns by which rows have to be ordered, NULLs first, or last in descending order: by the first
  /// column, then rows with equal values by the next, and so on. Empty if any order will do. Rows in another
  /// order throw.
  public internal(set) var order: [(column: String, isDescending: Bool)] = []
  /// The number of matching rows after which the statement stops reading, by its LIMIT and OFFSET. It can be
  /// the size of the first batch if rows are fetched in batches. Nil if it isn't known (always before SQLite
  /// 3.38). No row may be left out because of it: the statement may have conditions that the table isn't told
  /// of.
  public internal(set) var limit: Int?

  /// A request for all rows in any order.
  init() {}

  /// All values in the request.
  var values: [DatabaseValue] {
    value.values + range.values.flatMap { [$0.lower, $0.upper].compactMap { $0?.value } }
  }
}
