import CSQLite

/// A row as it was and as it is: what a statement of a transaction has changed.
public struct RowChange: Hashable, Sendable {
  /// What became of the row.
  public enum Operation: Hashable, Sendable {
    /// INSERT, and REPLACE of nothing.
    case insert
    /// UPDATE, and an upsert's.
    case update
    /// DELETE, also by a foreign key, or to make room for another row.
    case delete

    init(code: Int32) {
      self = code == SQLITE_INSERT ? .insert : code == SQLITE_UPDATE ? .update : .delete
    }
  }

  /// What became of the row.
  public var operation: Operation { old == nil ? .insert : new == nil ? .delete : .update }
  /// `main`, `temp`, or the name of an attached database.
  public let database: String
  /// The table, as it is spelled in the schema.
  public let table: String
  /// The names of the table's columns, in its order.
  public let columns: [String]
  /// The values before, in the order of ``columns``; nil for a row that was inserted.
  public let old: [DatabaseValue]?
  /// The values after; nil for a row that was deleted.
  public let new: [DatabaseValue]?
  let oldRowID: Int64
  let newRowID: Int64

  /// About how many bytes of memory it takes, without what it shares with others.
  var byteCount: Int {
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

/// What a transaction has changed of the tables that a feed follows.
public struct CommittedChanges<Change: Sendable>: Sendable {
  /// Goes up with each commit that a feed of the queue or pool has been told of; not the same in another
  /// process, or after the database was opened anew.
  public let number: Int
  /// Row by row, in the order in which statements have changed them; a row that was changed twice is there
  /// twice.
  public let changes: [Change]
  /// Whether something was committed of which nobody knows what it has changed, so that ``changes`` is empty: by
  /// another process, or a connection that isn't the queue's or pool's; or here, by a transaction that drops, renames,
  /// alters or rebuilds a table, records a changeset, or changes rows that can't be read. Read anew what depends
  /// on it.
  public let isFromElsewhere: Bool
}

/// A feed ended because it would have held more changes, or more bytes of them, than it may: its consumer was too slow, or
/// one transaction was larger than the limit.
///
/// What was committed before was delivered. To go on, read anew what the feed was for, and begin another feed.
public struct FeedOverflow: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the first transaction that is missing.
  public let number: Int
  /// How many of them the feed may hold.
  public let limit: Int
  /// What is counted.
  public let unit: Unit

  /// What a feed's limits count.
  public enum Unit: Hashable, Sendable {
    /// Changes of rows.
    case changes
    /// Bytes of memory for the rows' values, before and after.
    case bytes
  }

  /// What happened, and what to do.
  public var description: String {
    let (what, parameter) =
      unit == .changes ? ("changes", "limit") : ("bytes of changes", "byteLimit")
    return "with transaction \(number) the feed would hold more than \(limit) \(what) that nobody "
      + "has read, and ended before it; read the tables anew, and begin another feed, or raise its "
      + parameter
  }
}
