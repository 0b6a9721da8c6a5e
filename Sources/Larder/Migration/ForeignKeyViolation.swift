import LarderSQLite

/// A row that refers to a row that isn't there.
public struct ForeignKeyViolation: Hashable, Sendable {
  /// The table that the row is in.
  public let table: String
  /// Its row id; nil in a table without.
  public let rowID: Int64?
  /// The table that it refers to.
  public let referencedTable: String

  /// The first violations in the database, found by reading all rows with foreign keys;
  /// see [foreign_key_check](https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
  static func all(in db: Database, limit: Int = 100) throws -> [ForeignKeyViolation] {
    let rows = try db.executeQuery("PRAGMA foreign_key_check")
    defer { rows.close() }
    var violations: [ForeignKeyViolation] = []
    while violations.count < limit, try rows.next() {
      violations.append(
        ForeignKeyViolation(
          table: try rows.get(at: 0), rowID: try rows.get(at: 1),
          referencedTable: try rows.get(at: 2)))
    }
    return violations
  }
}

extension ForeignKeyViolation: CustomStringConvertible {
  /// Both tables and the row.
  public var description: String {
    let row = rowID.map { "row \($0)" } ?? "a row"
    return "\(row) of “\(table)” refers to a row of “\(referencedTable)” that isn't there"
  }
}
