/// The constraint that a statement would have broken.
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

  /// The kind of the constraint.
  public let kind: Kind
  /// The table, if SQLite names it.
  public let table: String?
  /// The columns in the constraint's order, if SQLite names them.
  public let columns: [String]
  /// The name of a check constraint (its expression if it has no name), or of a unique index on expressions.
  public let name: String?

  package init(kind: Kind, table: String?, columns: [String], name: String?) {
    self.kind = kind
    self.table = table
    self.columns = columns
    self.name = name
  }

  /// Parses SQLite's message.
  ///
  /// - Parameter exists: whether a table has a column. Names may hold dots and commas, so that
  ///   `a.b.c` alone doesn't tell where the table's name ends.
  init?(code: ResultCode, message: String, exists: (_ table: String, _ column: String) -> Bool) {
    guard let kind = Kind(code) else { return nil }
    var table: String?
    var columns: [String] = []
    var name: String?
    switch kind {
    case .unique, .primaryKey, .rowID, .notNull:
      let detail = Self.text(of: message, after: " constraint failed: ")
      if let detail { (table, columns, name) = Self.split(detail, exists: exists) }
    case .check: name = Self.text(of: message, after: " constraint failed: ")
    case .datatype:
      if let detail = Self.text(of: message, after: " column ") {
        (table, columns, _) = Self.split(detail, exists: exists)
      }
    case .foreignKey, .trigger, .other: break
    }
    self.init(kind: kind, table: table, columns: columns, name: name)
  }

  private static let longestDetail = 4_000

  private static func text(of message: String, after mark: String) -> String? {
    message.utf8.firstRange(of: mark.utf8).flatMap { String(message.utf8[$0.upperBound...]) }
  }

  /// Splits `table.a, table.b` at the first dot that leaves a table with such columns, else at the first dot
  /// of all. Parses `index 'name'` too, unless that is a table.
  ///
  /// Works on bytes, since an accent that follows a dot makes one character of both.
  private static func split(
    _ detail: String, exists: (String, String) -> Bool
  ) -> (table: String?, columns: [String], index: String?) {
    let bytes = Array(detail.utf8)
    // Longer names are made to slow down the search.
    guard bytes.count <= longestDetail else { return (nil, [], nil) }
    func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    func names(_ columns: some Collection<UInt8>, of table: String) -> [String] {
      columns.split(separator: ", \(table).".utf8, omittingEmptySubsequences: false).map(text)
    }
    let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
    for dot in dots {
      let table = text(bytes[..<dot])
      let rest = text(bytes[(dot + 1)...])
      for columns in [[rest], names(rest.utf8, of: table)]
      where columns.allSatisfy({ exists(table, $0) }) { return (table, columns, nil) }
    }
    let mark = Array("index '".utf8)
    if bytes.starts(with: mark), bytes.last == UInt8(ascii: "'") {
      return (nil, [], text(bytes[mark.count..<(bytes.count - 1)]).replacing("''", with: "'"))
    }
    guard let dot = dots.first else { return (nil, [], nil) }
    let table = text(bytes[..<dot])
    return (table, names(bytes[(dot + 1)...], of: table), nil)
  }
}

extension ConstraintViolation.Kind {
  /// The kind for an extended result code; nil if that is no constraint's.
  package init?(_ code: ResultCode) {
    guard code.primary == .constraint else { return nil }
    self =
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
  }
}
