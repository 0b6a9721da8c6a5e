import LarderSQLite

/// A row that refers to a missing row, or a table that refers to a missing table or key.
public struct ForeignKeyViolation: Hashable, Sendable {
  /// The kind of thing that is missing.
  public enum Kind: Hashable, Sendable {
    /// The referenced row is missing.
    case missingRow
    /// The referenced table or key is missing. Then no row can be written, and there may be none yet.
    case missingKey
  }

  /// The kind of thing that is missing.
  public let kind: Kind
  /// The table that refers.
  public let table: String
  /// The referring row's id; nil in a table without row ids, and if the violation isn't about a row.
  public let row: Int64?
  /// The referenced table.
  public let referencedTable: String
}

extension ForeignKeyViolation: CustomStringConvertible {
  /// One line with both tables and the row.
  public var description: String {
    if kind == .missingKey {
      return "“\(table)” refers to a key that “\(referencedTable)” doesn't have"
    }
    let subject = row.map { "row \($0)" } ?? "a row"
    return "\(subject) of “\(table)” refers to a row of “\(referencedTable)” that doesn't exist"
  }
}

/// The foreign key check: finds all violations in a database by reading all rows that have a foreign key; see
/// [foreign_key_check](https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
struct ForeignKeyCheck {
  /// The folded names of a table and of the one that it refers to.
  private typealias Reference = [[UInt8]]

  private var rows: [Reference: Set<Int64>] = [:]
  /// The number of violating rows in tables without row ids.
  private var counts: [Reference: Int] = [:]
  private var missingKeys: Set<Reference> = []

  /// The violations of a database that has none.
  init() {}

  init(_ db: Database) throws {
    try Self.forEach(in: db) { violation in
      add(violation)
      return true
    }
  }

  private mutating func add(_ violation: ForeignKeyViolation) {
    let reference = [violation.table, violation.referencedTable].map(\.foldedName)
    if violation.kind == .missingKey {
      missingKeys.insert(reference)
    } else if let rowID = violation.row {
      rows[reference, default: []].insert(rowID)
    } else {
      counts[reference, default: 0] += 1
    }
  }

  /// The first violations in a database that aren't among these.
  func newViolations(in db: Database, limit: Int = 100) throws -> [ForeignKeyViolation] {
    var known = self
    var violations: [ForeignKeyViolation] = []
    try Self.forEach(in: db) { violation in
      if !known.removeKnown(violation) { violations.append(violation) }
      return violations.count < limit
    }
    return violations
  }

  /// Whether a violation is among these. Each one without a row id is counted off once.
  private mutating func removeKnown(_ violation: ForeignKeyViolation) -> Bool {
    let reference = [violation.table, violation.referencedTable].map(\.foldedName)
    if violation.kind == .missingKey { return missingKeys.contains(reference) }
    if let rowID = violation.row { return rows[reference]?.contains(rowID) ?? false }
    counts[reference, default: 0] -= 1
    return counts[reference, default: 0] >= 0
  }

  // MARK: Reading

  /// Calls a closure with each violation until it returns false.
  private static func forEach(in db: Database, _ body: (ForeignKeyViolation) -> Bool) throws {
    let references = try db.executeQuery(
      """
      SELECT DISTINCT t.name, k."table", p.name IS NULL
      FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS k
      LEFT JOIN main.sqlite_schema AS p ON p.type = 'table' AND p.name = k."table" COLLATE NOCASE
      WHERE t.type = 'table' ORDER BY t.rowid
      """
    ).map {
      (
        table: try $0.get(at: 0, as: String.self), other: try $0.get(at: 1, as: String.self),
        isMissing: try $0.get(at: 2, as: Bool.self)
      )
    }
    for (table, other, isMissing) in references where isMissing {
      let violation = ForeignKeyViolation(
        kind: .missingKey, table: table, row: nil, referencedTable: other)
      guard body(violation) else { return }
    }
    var last: String?
    for (table, other, _) in references where table != last {
      last = table
      guard try forEachRow(of: table, referringTo: other, db, body) else { return }
    }
  }

  private static func forEachRow(
    of table: String, referringTo other: String, _ db: Database,
    _ body: (ForeignKeyViolation) -> Bool
  ) throws -> Bool {
    do {
      let rows = try db.executeQuery(
        "SELECT rowid, parent FROM pragma_foreign_key_check(?, 'main')", table)
      defer { rows.close() }
      while try rows.next() {
        let violation = ForeignKeyViolation(
          kind: .missingRow, table: table, row: try rows.get(at: 0),
          referencedTable: try rows.get(at: 1))
        guard body(violation) else { return false }
      }
      return true
    } catch let error as DatabaseError where error.code == .error {
      // The referenced columns aren't unique, or don't exist.
      let keys = try TableSchema.found(table, in: db, schema: "main")?.foreignKeys ?? []
      let key = try keys.first { try !isKey($0, db) }
      return body(
        ForeignKeyViolation(
          kind: .missingKey, table: table, row: nil,
          referencedTable: key?.referencedTable ?? other))
    }
  }

  /// Whether a foreign key refers to a primary key, or to unique columns.
  private static func isKey(_ key: ForeignKeySchema, _ db: Database) throws -> Bool {
    guard let table = try TableSchema.found(key.referencedTable, in: db, schema: "main") else {
      return true
    }
    let columns = Set(key.referencedColumns.map(\.foldedName))
    if columns.isEmpty { return table.primaryKey.count == key.columns.count }
    let indexes = table.indexes.filter { $0.isUnique && $0.condition == nil }
    let unique = (indexes + table.uniqueIndexes).map(\.columns) + [table.primaryKey]
    return unique.contains { Set($0.map { ($0 ?? "").foldedName }) == columns }
  }
}
