import CSQLite

/// Changes of rows as bytes, which can be kept, sent and applied to another database with the same tables.
///
/// A row is known by its primary key: tables without one, and rows with NULL in it, aren't there. A changeset has
/// the values before too, by which conflicts show and which make it ``inverted()``; a patch set has the new
/// ones only and is smaller.
///
/// The bytes are those of SQLite's [session extension](https://www.sqlite.org/sessionintro.html), which only
/// `record(_:isPatchset:_:)` needs. All else is done here, and refuses bytes that are no changeset, wherever they come
/// from, with `ResultCode.corrupt` before it does anything.
public struct Changeset: Hashable, Sendable {
  /// The bytes, in SQLite's own format.
  public let data: [UInt8]

  /// A changeset that was kept. What isn't one throws when it is used.
  public init(data: [UInt8]) { self.data = data }

  /// A changed row. Values that aren't in the changeset, such as those of columns that an update leaves as
  /// they are, are nil.
  public struct Row: Hashable, Sendable {
    /// What becomes of the row.
    public let operation: RowChange.Operation
    /// The table.
    public let table: String
    /// The places of the primary key's columns.
    public let primaryKey: [Int]
    /// The values before, by column; nil for all of a row that is inserted.
    public let old: [DatabaseValue?]
    /// The values after; nil for all of a row that is deleted.
    public let new: [DatabaseValue?]
  }

  /// What is in the way of a row when a changeset is applied.
  public struct Conflict: Hashable, Sendable {
    /// What kind of conflict it is.
    public enum Kind: Hashable, Sendable {
      /// The row isn't what it was before the change.
      case data
      /// The row isn't there.
      case notFound
      /// Another row has the primary key.
      case conflict
      /// Another constraint is broken, also by a trigger's `RAISE`. Told once all other changes of the table are
      /// made, which may have made room.
      case constraint
      /// Foreign keys are, by all that was applied.
      case foreignKey
    }

    /// What kind of conflict it is.
    public let kind: Kind
    /// The change that can't be made as it is; nil for foreign keys.
    public let row: Row?
    /// The row that is in the way, for ``Kind/data`` and ``Kind/conflict``.
    public let found: [DatabaseValue]?
  }

  /// What is done about a conflict.
  public enum Resolution: Int32, Hashable, Sendable {
    /// The change isn't made.
    case omit
    /// The change is made all the same: for ``Conflict/Kind/data`` and ``Conflict/Kind/conflict`` only.
    case replace
    /// All is undone, and ``Changeset/apply(to:onConflict:)`` throws.
    case abort
  }

  /// What ``Changeset/apply(to:onConflict:)`` was told to do about conflicts, row by row, for
  /// ``Changeset/rebased(onto:)``.
  public struct Decisions: Hashable, Sendable {
    /// The bytes, in the format of the rebase buffers of SQLite's session extension. Empty where there were no
    /// conflicts.
    public let data: [UInt8]

    /// Decisions that were kept. What aren't any throws when it is used.
    public init(data: [UInt8]) { self.data = data }
  }

  /// Calls a closure for each changed row: all of a table, then those of the next. Throws what it throws,
  /// `ResultCode.corrupt` for bytes that are no changeset, and ``ConversionError`` for text that isn't UTF-8.
  public func forEach(_ body: (Row) throws -> Void) throws {
    try check()
    try ChangesetDecoder.forEach(data) { change, table in try body(Row(change, of: table)) }
  }

  /// The changeset that undoes this one. Throws for a patch set, and for bytes that are none of both.
  public func inverted() throws -> Changeset {
    try rewritten { change, table in
      guard !table.isPatch else {
        throw DatabaseError(
          .misuse, "a patch set has no values before to go back to; record without isPatchset")
      }
      return (change.inverted(in: table), table)
    }
  }

  /// The changes of some rows. Throws what the closure throws, and what ``forEach(_:)`` throws.
  ///
  /// ```swift
  /// let cities = try changeset.filtered { $0.table == "city" }
  /// ```
  public func filtered(_ isIncluded: (Row) throws -> Bool) throws -> Changeset {
    try check()
    return try rewritten { change, table in
      try isIncluded(Row(change, of: table)) ? (change, table) : nil
    }
  }

  /// The same changes of tables that have other names, by those that they have here, in any case. Throws
  /// `ResultCode.corrupt` for bytes that are no changeset, and `ResultCode.misuse` for a name with NUL.
  ///
  /// ```swift
  /// try changeset.renamed(["city": "town"]).apply(to: db)
  /// ```
  public func renamed(_ names: [String: String]) throws -> Changeset {
    guard !names.values.contains(where: { $0.utf8.contains(0) }) else {
      throw DatabaseError(.misuse, "no table's name has NUL")
    }
    let names = Dictionary(
      names.map { (key: $0.key.foldedName, value: $0.value) }, uniquingKeysWith: { one, _ in one })
    return try rewritten { change, table in
      (change, names[table.name.foldedName].map(table.renamed) ?? table)
    }
  }

  /// The changes that a closure makes of these; those of which it makes nil are left out.
  private func rewritten(
    _ body: (RecordedChange, RecordedTable) throws -> (RecordedChange, RecordedTable)?
  ) throws -> Changeset {
    var encoder = ChangesetEncoder()
    try ChangesetDecoder.forEach(data) { change, table in
      if let (change, table) = try body(change, table) { encoder.append(change, of: table) }
    }
    return encoder.changeset
  }

  /// Throws `ResultCode.corrupt` for bytes that are no changeset.
  func check() throws { try ChangesetDecoder.forEach(data) { _, _ in } }
}
