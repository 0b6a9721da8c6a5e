/// Which constraint a statement would have broken.
///
/// SQLite tells the columns of unique, primary key and not-null constraints, the name (or the
/// text) of a check constraint, and nothing about which foreign key failed.
public struct ConstraintViolation: Hashable, Sendable {
  /// The kinds of constraint, from the extended result code.
  public enum Kind: Hashable, Sendable {
    /// A `UNIQUE` constraint or a unique index.
    case unique
    /// A primary key; for an `INTEGER PRIMARY KEY` SQLite reports this too.
    case primaryKey
    /// The implicit row id of a table that declares no integer key.
    case rowID
    /// A `NOT NULL` column.
    case notNull
    /// A `CHECK` constraint.
    case check
    /// A `FOREIGN KEY` constraint.
    case foreignKey
    /// The declared type of a column in a `STRICT` table.
    case datatype
    /// `RAISE` in a trigger.
    case trigger
    /// Any other kind.
    case other
  }

  /// What was broken.
  public let kind: Kind
  /// The table, where SQLite names it.
  public let table: String?
  /// The columns in the constraint's order, where SQLite names them.
  public let columns: [String]
  /// The name of a check constraint (its expression if it has no name), or of a unique index on
  /// expressions.
  public let name: String?

  /// Reads what SQLite's message says.
  ///
  /// - Parameter exists: whether a table has a column. Names may hold dots and commas, so that
  ///   `a.b.c` alone doesn't tell where the table's name ends.
  init?(code: ResultCode, message: String, exists: (_ table: String, _ column: String) -> Bool) {
    guard code.primary == .constraint else { return nil }
    kind =
      switch code {
      case .constraintUnique: .unique
      case .constraintPrimaryKey: .primaryKey
      case .constraintRowID: .rowID
      case .constraintNotNull: .notNull
      case .constraintCheck: .check
      case .constraintForeignKey: .foreignKey
      case .constraintDatatype: .datatype
      case .constraintTrigger: .trigger
      default: .other
      }
    var table: String?
    var columns: [String] = []
    var name: String?
    switch kind {
    case .unique, .primaryKey, .rowID, .notNull:
      let detail = Self.text(of: message, after: " constraint failed: ")
      if let detail, detail.hasPrefix("index '"), detail.hasSuffix("'") {
        name = String(detail.dropFirst("index '".count).dropLast())
      } else if let detail {
        (table, columns) = Self.split(detail, exists: exists)
      }
    case .check:
      name = Self.text(of: message, after: " constraint failed: ")
    case .datatype:
      if let detail = Self.text(of: message, after: " column ") {
        (table, columns) = Self.split(detail, exists: exists)
      }
    case .foreignKey, .trigger, .other:
      break
    }
    self.table = table
    self.columns = columns
    self.name = name
  }

  private static func text(of message: String, after mark: String) -> String? {
    message.firstRange(of: mark).map { String(message[$0.upperBound...]) }
  }

  /// Splits `table.a, table.b`: the first table name, up to one of the dots, under which every
  /// column exists; the shortest if none does.
  private static func split(
    _ detail: String, exists: (String, String) -> Bool
  ) -> (String?, [String]) {
    var fallback: (String?, [String]) = (nil, [])
    for dot in detail.indices where detail[dot] == "." {
      let table = String(detail[..<dot])
      let columns = detail[detail.index(after: dot)...]
        .split(separator: ", \(table).", omittingEmptySubsequences: false).map(String.init)
      if columns.allSatisfy({ exists(table, $0) }) { return (table, columns) }
      if fallback.0 == nil { fallback = (table, columns) }
    }
    return fallback
  }
}
