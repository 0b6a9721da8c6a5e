import Larder

/// Changes of rows in binary form, which can be stored, sent and applied to another database with the same
/// tables.
///
/// Rows are identified by their primary key: tables without one, and rows with NULL in it, are left out. A
/// changeset also has the values before each change, which reveal conflicts and allow ``inverted()``. A patch
/// set has only the new values, and is smaller.
///
/// The bytes have the format of SQLite's [session extension](https://www.sqlite.org/sessionintro.html), which
/// only `record(_:isPatchset:_:)` needs. All other operations are implemented here: they check the bytes,
/// wherever they come from, and throw `ResultCode.corrupt` for malformed ones before they change anything.
public struct Changeset: Hashable, Sendable {
  /// The bytes, in SQLite's own format.
  public let data: [UInt8]

  /// Wraps the bytes of a stored changeset. They are checked when they are used.
  public init(data: [UInt8]) { self.data = data }

  /// A changed row. Values that the changeset doesn't contain are nil, such as those of columns that an
  /// update doesn't change.
  public struct Row: Hashable, Sendable {
    /// Whether the row is inserted, updated or deleted.
    public let kind: RowChange.Kind
    /// The table's name.
    public let table: String
    /// The indexes of the primary key's columns.
    public let primaryKey: [Int]
    /// The values before the change, by column; all nil for an inserted row.
    public let old: [DatabaseValue?]
    /// The values after the change, by column; all nil for a deleted row.
    public let new: [DatabaseValue?]
  }

  /// A conflict that keeps a row's change from being made when a changeset is applied.
  public struct Conflict: Hashable, Sendable {
    /// The kinds of conflicts.
    public enum Kind: Hashable, Sendable {
      /// The row's values differ from those before the recorded change.
      case data
      /// The row doesn't exist.
      case notFound
      /// A row with the same primary key already exists.
      case conflict
      /// Another constraint is violated, or a trigger has called `RAISE`. Reported once all other changes of
      /// the table are made, since these may resolve it.
      case constraint
      /// Foreign keys are violated after all changes were applied.
      case foreignKey
    }

    /// The kind of this conflict.
    public let kind: Kind
    /// The change that can't be made; nil for foreign keys.
    public let row: Row?
    /// The existing row, for ``Kind/data`` and ``Kind/conflict``.
    public let found: [DatabaseValue]?
  }

  /// The ways to resolve a conflict.
  public enum Resolution: Int32, Hashable, Sendable {
    /// Skip the change.
    case omit
    /// Make the change nevertheless: for ``Conflict/Kind/data`` and ``Conflict/Kind/conflict`` only.
    case replace
    /// Undo all changes, and have ``Changeset/apply(to:onConflict:)`` throw.
    case abort
  }

  /// The conflict resolutions of one ``Changeset/apply(to:onConflict:)``, row by row, for
  /// ``Changeset/rebased(onto:)``.
  public struct Decisions: Hashable, Sendable {
    /// The bytes, in the format of the session extension's rebase buffers. Empty if there were no conflicts.
    public let data: [UInt8]

    /// Wraps the bytes of stored decisions. They are checked when they are used.
    public init(data: [UInt8]) { self.data = data }
  }

  /// Calls a closure for each changed row, table by table. Rethrows the closure's errors, and throws
  /// `ResultCode.corrupt` for malformed bytes and `ConversionError` for text that isn't UTF-8.
  public func forEach(_ body: (Row) throws -> Void) throws {
    try check()
    try ChangesetDecoder.forEach(data) { change, table in try body(Row(change, of: table)) }
  }

  /// The changeset that undoes this one. Throws `ResultCode.misuse` for a patch set, and `ResultCode.corrupt`
  /// for malformed bytes.
  public func inverted() throws -> Changeset {
    try rewritten { change, table in
      guard !table.isPatch else {
        throw DatabaseError(
          .misuse,
          "a patch set can't be inverted, since it has no old values; record without isPatchset")
      }
      return (change.inverted(in: table), table)
    }
  }

  /// The changes of the rows for which a closure returns true. Throws the errors of the closure and of
  /// ``forEach(_:)``.
  ///
  /// ```swift
  /// let cities = try changeset.filter { $0.table == "city" }
  /// ```
  public func filter(_ isIncluded: (Row) throws -> Bool) throws -> Changeset {
    try check()
    return try rewritten { change, table in
      try isIncluded(Row(change, of: table)) ? (change, table) : nil
    }
  }

  /// The same changes with tables renamed. Keys are the names in this changeset, compared case-insensitively.
  /// Throws `ResultCode.corrupt` for malformed bytes, and `ResultCode.misuse` for a name that contains NUL.
  ///
  /// ```swift
  /// try changeset.renamed(["city": "town"]).apply(to: db)
  /// ```
  public func renamed(_ names: [String: String]) throws -> Changeset {
    guard !names.values.contains(where: { $0.utf8.contains(0) }) else {
      throw DatabaseError(.misuse, "a table's name can't contain a NUL")
    }
    let names = Dictionary(
      names.map { (key: $0.key.foldedName, value: $0.value) }, uniquingKeysWith: { one, _ in one })
    return try rewritten { change, table in
      (change, names[table.name.foldedName].map(table.renamed) ?? table)
    }
  }

  /// The changes as a closure rewrites them, without those for which it returns nil.
  private func rewritten(
    _ body: (RecordedChange, RecordedTable) throws -> (RecordedChange, RecordedTable)?
  ) throws -> Changeset {
    var encoder = ChangesetEncoder()
    try ChangesetDecoder.forEach(data) { change, table in
      if let (change, table) = try body(change, table) { encoder.append(change, of: table) }
    }
    return encoder.changeset
  }

  /// Throws `ResultCode.corrupt` if the bytes are malformed.
  func check() throws { try ChangesetDecoder.forEach(data) { _, _ in } }
}
