import LarderSQLite

/// The statements that don't compile for a database, because a view or trigger refers to something
/// that isn't there: a rebuild must not add to them. SQLite finds out only when they are used.
struct BrokenStatements {
  /// What is broken, with why.
  private let reasons: [String: String]

  init(in db: Database) throws {
    let entries = try db.schema()
    var statements: [String: SQL] = [:]
    for view in entries where view.kind == .view {
      statements[view.name] = "SELECT * FROM main.\(identifier: view.name)"
    }
    // A trigger is compiled with the statement that fires it.
    for table in Set(entries.filter { $0.kind == .trigger }.map(\.table)) {
      statements["INSERT into \(table)"] = "INSERT INTO main.\(identifier: table) DEFAULT VALUES"
      statements["DELETE from \(table)"] = "DELETE FROM main.\(identifier: table)"
      // A broken view has no columns.
      let columns = ((try? db.columns(of: table, in: "main")) ?? []).filter { !$0.isGenerated }
      let list = columns.map { "\($0.name.quotedIdentifier) = \($0.name.quotedIdentifier)" }
      statements["UPDATE of \(table)"] =
        "UPDATE main.\(identifier: table) SET \(SQL(raw: list.joined(separator: ", ")))"
    }
    reasons = statements.compactMapValues { sql in
      do {
        try db.validate(sql)
        return nil
      } catch {
        return (error as? DatabaseError)?.message ?? "\(error)"
      }
    }
  }

  /// Throws for a statement that compiled before.
  func check(comparedTo before: BrokenStatements, table: String) throws {
    let new = reasons.filter { before.reasons[$0.key] == nil }
    guard let first = new.min(by: { $0.key < $1.key }) else { return }
    throw SchemaError.brokenDependent(table: table, dependent: first.key, reason: first.value)
  }
}
