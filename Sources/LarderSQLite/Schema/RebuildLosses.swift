/// The kinds of loss that a rebuild is allowed; none by default.
public struct RebuildLosses: OptionSet, Hashable, Sendable {
  /// The options as bits.
  public let rawValue: Int
  /// Makes losses from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Rows that break a NOT NULL, UNIQUE or CHECK constraint of the new table.
  public static let rows = RebuildLosses(rawValue: 1)
  /// The values of columns that the new table doesn't have.
  public static let columns = RebuildLosses(rawValue: 2)
  /// Exact values: the type of a new column may change them.
  public static let values = RebuildLosses(rawValue: 4)
  /// The row ids, by which other tables, such as full-text indexes, may know the rows.
  public static let rowIDs = RebuildLosses(rawValue: 8)
}
