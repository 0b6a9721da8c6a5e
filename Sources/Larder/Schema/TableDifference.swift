/// A difference between a table, view or trigger of a database and its declaration.
///
/// See ``Table/differences(_:strictly:)`` and ``Schema/differences(from:strictly:)``.
public struct TableDifference: Hashable, Sendable {
  /// The aspect that differs.
  public enum Kind: String, Hashable, Sendable {
    /// The whole table: it is only declared or only there.
    case table
    /// A column, which is only declared or only there.
    case column
    /// The declared type of a column.
    case type
    /// Whether a column is NOT NULL.
    case nullability
    /// The default of a column.
    case defaultValue = "default"
    /// How a column's text is compared.
    case collation
    /// The expression that a column is computed from, or whether it is stored.
    case generated = "generated value"
    /// The columns of the primary key, their order, collations and directions, or AUTOINCREMENT.
    case primaryKey = "primary key"
    /// STRICT or WITHOUT ROWID.
    case options
    /// An index or UNIQUE constraint, which is only declared or only there.
    case index
    /// A CHECK constraint, which is only declared or only there.
    case check
    /// The conflict clause: what statements that don't say it themselves do about rows that break a
    /// constraint. See [ON CONFLICT](https://www.sqlite.org/lang_conflict.html).
    case conflictClause = "conflict clause"
    /// A foreign key, which is missing or has other actions, or is only there.
    case foreignKey = "foreign key"
    /// A view, which is only declared or only there, or says something else.
    case view
    /// A trigger, which is only declared or only there, or says something else.
    case trigger
    /// A virtual table, which is only declared or only there, or says something else.
    case virtualTable = "virtual table"
  }

  /// The aspect that differs.
  public let kind: Kind
  /// The name of the table, view or trigger.
  public let table: String
  /// The column's name, if a column differs.
  public internal(set) var column: String?
  /// The declared SQL; nil if nothing is declared.
  public internal(set) var declared: String?
  /// The database's SQL; nil if the database has nothing.
  public internal(set) var found: String?
  /// Whether the difference is only one of words, or concerns something that the declaration needn't know: a
  /// type of the same affinity, a default of the same value, a key that SQLite would let be NULL, a view's
  /// further column, a server's text that sorts as the database does, or its index with NULLs at the other end. Only strict comparisons report notes; nothing has to be changed for one.
  public internal(set) var isNote = false

  package init(
    kind: Kind, table: String, column: String? = nil, declared: String? = nil,
    found: String? = nil, isNote: Bool = false
  ) {
    self.kind = kind
    self.table = table
    self.column = column
    self.declared = declared
    self.found = found
    self.isNote = isNote
  }
}

extension TableDifference: CustomStringConvertible {
  /// One line with the table, the column and both sides.
  public var description: String {
    let subject = "“\(table)”" + (column.map { ".“\($0)”" } ?? "")
    let what = kind == .table || kind == .column ? "" : ", \(kind.rawValue)"
    return "\(subject)\(what): declared \(Self.text(declared)), found \(Self.text(found))"
  }

  private static func text(_ sql: String?) -> String {
    guard let sql else { return "nothing" }
    return sql.isEmpty ? "no type" : sql
  }
}
