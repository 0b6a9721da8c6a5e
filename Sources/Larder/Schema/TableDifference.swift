/// Something in which a table in a database isn't what a record's ``Table`` declares.
///
/// See ``Table/differences(_:)``.
public struct TableDifference: Hashable, Sendable {
  /// What differs.
  public enum Kind: String, Hashable, Sendable {
    /// The whole table: there is none.
    case table
    /// A column, which is only declared or only there.
    case column
    /// The declared type of a column.
    case type
    /// Whether a column is NOT NULL.
    case nullability
    /// The default of a column.
    case defaultValue = "default"
    /// The expression that a column is computed from, or whether it is stored.
    case generated = "generated value"
    /// The columns of the primary key, their order, or AUTOINCREMENT.
    case primaryKey = "primary key"
    /// STRICT or WITHOUT ROWID.
    case options
    /// An index or UNIQUE constraint, which is missing.
    case index
    /// A foreign key, which is missing or has other actions.
    case foreignKey = "foreign key"
  }

  /// What differs.
  public let kind: Kind
  /// The table's name.
  public let table: String
  /// The column's name, if it is about one.
  public let column: String?
  /// What is declared, as SQL; nil for nothing.
  public let declared: String?
  /// What the database has, as SQL; nil for nothing.
  public let found: String?
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
