import CSQLite

/// A row before and after a change by a statement.
public struct RowChange: Hashable, Sendable {
  /// The kinds of changes.
  public enum Kind: Hashable, Sendable {
    /// INSERT, or a REPLACE that replaces nothing.
    case insert
    /// UPDATE, also by an upsert.
    case update
    /// DELETE, also by a foreign key action or to make room for another row.
    case delete

    init(code: Int32) {
      self = code == SQLITE_INSERT ? .insert : code == SQLITE_UPDATE ? .update : .delete
    }
  }

  /// Whether the row was inserted, updated or deleted.
  public var kind: Kind { old == nil ? .insert : new == nil ? .delete : .update }
  /// The name of the database: `main`, `temp`, or that of an attached one; on a server that of the schema.
  public let database: String
  /// The table's name, as the schema spells it.
  public let table: String
  /// The names of the table's columns, in their order. On PostgreSQL, columns whose values aren't reported are
  /// left out: those of types that can't be read, generated ones, and, in a table whose `REPLICA IDENTITY`
  /// isn't `FULL`, large ones that an update has left as they were.
  public let columns: [String]
  /// The names of the columns of ``old``. They are ``columns``, except in a table of PostgreSQL whose `REPLICA
  /// IDENTITY` isn't `FULL`: the server then reports only the key of a row as it was before.
  public var oldColumns: [String] { partialOldColumns ?? columns }
  private let partialOldColumns: [String]?
  /// The values before, in the order of ``oldColumns``; nil for an inserted row.
  public let old: [DatabaseValue]?
  /// The values after; nil for a deleted row.
  public let new: [DatabaseValue]?
  let oldRowID: Int64
  let newRowID: Int64

  init(
    database: String, table: String, columns: [String], old: [DatabaseValue]?,
    new: [DatabaseValue]?, oldRowID: Int64, newRowID: Int64
  ) {
    self.database = database
    self.table = table
    self.columns = columns
    partialOldColumns = nil
    self.old = old
    self.new = new
    self.oldRowID = oldRowID
    self.newRowID = newRowID
  }

  /// A change that another engine reports.
  ///
  /// - Parameter oldColumns: the columns of the old values, if they aren't those of the new ones.
  package init(
    schema: String, table: String, columns: [String], oldColumns: [String]?,
    old: [DatabaseValue]?, new: [DatabaseValue]?
  ) {
    database = schema
    self.table = table
    self.columns = columns
    partialOldColumns = oldColumns
    self.old = old
    self.new = new
    (oldRowID, newRowID) = (0, 0)
  }

  /// The approximate memory that the change takes, in bytes, without what it shares with others.
  package var byteCount: Int {
    func bytes(_ values: [DatabaseValue]?) -> Int {
      guard let values else { return 0 }
      return values.reduce(32 + values.count * MemoryLayout<DatabaseValue>.stride) { sum, value in
        switch value {
        case .text(let text): sum + (text.utf8.count > 15 ? text.utf8.count + 32 : 0)
        case .blob(let bytes): sum + bytes.count + 32
        case .null, .integer, .real: sum
        }
      }
    }
    return MemoryLayout<RowChange>.stride + bytes(old) + bytes(new)
  }
}

/// The changes of one transaction to the tables that a feed follows.
public struct CommittedChanges<Change: Sendable>: Sendable {
  /// The number of the commit. It increases with each commit while the queue or pool has a feed. It isn't
  /// stable across processes, or once the database is opened anew.
  package let number: Int
  /// The changes, in the order in which statements made them. A row that was changed twice occurs twice.
  public let changes: [Change]
  /// Whether the changes are unknown, so that ``changes`` is empty. Such a commit is that of another process,
  /// or of a connection that isn't the queue's or pool's; or here, one that drops, renames, alters or
  /// rebuilds a table, records a changeset, or changes rows that can't be read. Read anew everything that
  /// depends on the tables.
  public let isFromElsewhere: Bool

  package init(number: Int, changes: [Change], isFromElsewhere: Bool) {
    self.number = number
    self.changes = changes
    self.isFromElsewhere = isFromElsewhere
  }
}

/// The error of a feed that would have had to hold more changes, or more bytes of them, than its limit: its
/// consumer was too slow, or one transaction was too large.
///
/// Earlier transactions were delivered. To go on, read the tables anew and begin another feed.
public struct FeedOverflow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the first transaction that wasn't delivered.
  package let number: Int
  /// The limit, in rows or bytes; see ``kind``.
  public let limit: Int
  /// Which limit was exceeded.
  public let kind: Kind

  package init(number: Int, limit: Int, kind: Kind) {
    self.number = number
    self.limit = limit
    self.kind = kind
  }

  /// The kinds of a feed's limits.
  public enum Kind: Hashable, Sendable {
    /// Changed rows.
    case changes
    /// Bytes of memory for the rows' values, before and after.
    case bytes
  }

  /// A message that says what happened and what to do.
  public var description: String {
    let (what, parameter) =
      kind == .changes ? ("changes", "limit") : ("bytes of changes", "byteLimit")
    return
      "the feed ended before transaction \(number), which would have made it hold more than \(limit) "
      + "unread \(what); begin another feed and read the tables again, or raise its \(parameter)"
  }
}
