/// What a rebuild may lose; nothing unless told.
public struct RebuildLosses: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: Int
  /// Losses from their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Rows that break a NOT NULL, UNIQUE or CHECK constraint of the new table.
  public static let rows = RebuildLosses(rawValue: 1)
  /// The values of columns that the new table doesn't have.
  public static let columns = RebuildLosses(rawValue: 2)
  /// Values as they are, where the type of their new column makes others of them.
  public static let values = RebuildLosses(rawValue: 4)
  /// The row ids, by which other tables, such as those of full-text search, may know the rows.
  public static let rowIDs = RebuildLosses(rawValue: 8)
}
