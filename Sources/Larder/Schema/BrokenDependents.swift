import LarderSQLite

/// The statements that don't compile for a database because a view or trigger refers to something missing. A
/// change of a table must not add to them; SQLite itself reports them only when they are used.
struct BrokenDependents {
  /// The reason why each broken statement doesn't compile, by its view, or by its table and kind.
  private let reasons: [String: String]

  init(in db: Database) throws {
    var statements: [String: SQL] = [:]
    var triggers: [String: [SchemaEntry]] = [:]
    for schema in ["main", "temp"] {
      let prefix = schema == "main" ? "" : "temporary "
      let entries = try db.schema(of: schema)
      for view in entries where view.kind == .view {
        statements[prefix + view.name] =
          "SELECT * FROM \(identifier: schema).\(identifier: view.name)"
      }
      // A trigger is compiled with the statement that fires it. A temporary one may belong to a main table.
      for table in Set(entries.filter { $0.kind == .trigger }.map(\.table)) {
        let isTemporary =
          schema == "temp"
          && entries.contains {
            [.table, .view].contains($0.kind) && $0.name.foldedName == table.foldedName
          }
        let owner = isTemporary ? "temp" : "main"
        let prefix = isTemporary ? prefix : ""
        let name: SQL = "\(identifier: owner).\(identifier: table)"
        statements["INSERT into \(prefix)\(table)"] = "INSERT INTO \(name) DEFAULT VALUES"
        statements["DELETE from \(prefix)\(table)"] = "DELETE FROM \(name)"
        // The columns of a broken view can't be read.
        for verb in ["INSERT into", "DELETE from", "UPDATE of"] {
          triggers["\(verb) \(prefix)\(table)"] = entries.filter {
            $0.kind == .trigger && $0.table == table
          }
        }
        let columns = ((try? db.columns(of: table, in: owner)) ?? []).filter {
          $0.generated == nil
        }
        let list = columns.map { "\($0.name.quotedIdentifier) = \($0.name.quotedIdentifier)" }
        statements["UPDATE of \(prefix)\(table)"] =
          "UPDATE \(name) SET \(SQL(raw: list.joined(separator: ", ")))"
      }
    }
    reasons = statements.reduce(into: [:]) { reasons, statement in
      do {
        try db.validate(statement.value)
      } catch {
        let reason = (error as? DatabaseError)?.message ?? "\(error)"
        reasons[statement.key] = reason + Self.place(of: reason, triggers[statement.key] ?? [])
      }
    }
  }

  /// The triggers that have the name at the end of SQLite's message, since it doesn't say where it found that.
  private static func place(of reason: String, _ triggers: [SchemaEntry]) -> String {
    guard let missing = reason.sqlTokens.last?.name else { return "" }
    let names = triggers.filter { $0.names(missing) }.map(\.name)
    return names.isEmpty ? "" : " (in \(names.quotedList))"
  }

  /// Throws if a statement that compiled before no longer does.
  func check(comparedTo before: BrokenDependents, table: String) throws {
    let new = reasons.filter { before.reasons[$0.key] == nil }
    guard let first = new.min(by: { $0.key < $1.key }) else { return }
    throw SchemaError.brokenDependent(table: table, dependent: first.key, reason: first.value)
  }
}

extension Database {
  /// Runs a closure that changes a table; rolls back and throws if a view or trigger no longer works then.
  @discardableResult
  func keepingDependents<T>(of table: String, _ body: (Database) throws -> T) throws -> T {
    try inTransaction { db in
      // Other engines don't let a change break what depends on a table.
      guard db.engine == nil else { return try body(db) }
      let before = try BrokenDependents(in: db)
      let result = try body(db)
      try BrokenDependents(in: db).check(comparedTo: before, table: table)
      return result
    }
  }
}
