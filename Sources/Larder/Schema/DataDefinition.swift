import LarderSQLite

/// The text of data definition (DDL). Every statement that creates, alters or drops is written here, for
/// declared tables and for those found in a database.
///
/// See [CREATE TABLE](https://www.sqlite.org/lang_createtable.html),
/// [CREATE INDEX](https://www.sqlite.org/lang_createindex.html) and
/// [ALTER TABLE](https://www.sqlite.org/lang_altertable.html).
package enum DDL {
  // MARK: Tables

  /// - Parameter definitions: the definitions of the columns, then of the constraints.
  static func createTable(
    _ name: String, in schema: String?, _ definitions: [String], options: String?
  ) -> String {
    TableSchema.statement(name, in: schema, definitions) + (options.map { " " + $0 } ?? "")
  }

  /// The table options after the closing parenthesis; nil if there are none.
  static func options(isStrict: Bool, isWithoutRowID: Bool) -> String? {
    let options = (isStrict ? ["STRICT"] : []) + (isWithoutRowID ? ["WITHOUT ROWID"] : [])
    return options.isEmpty ? nil : options.joined(separator: ", ")
  }

  /// - Parameter isKey: whether it alone is the primary key.
  package static func column(
    _ column: ColumnSchema, isKey: Bool, isAutoincrement: Bool, isUnique: Bool,
    reference: ForeignKeySchema?
  ) -> String {
    var parts = [column.name.quotedIdentifier, column.type]
    if let collation = column.collation { parts.append("COLLATE \(collation.quotedIdentifier)") }
    if isKey { parts.append("PRIMARY KEY") }
    if isAutoincrement { parts.append("AUTOINCREMENT") }
    if column.isNotNull { parts.append("NOT NULL") }
    if isUnique { parts.append("UNIQUE") }
    if let value = column.default { parts.append("DEFAULT \(value)") }
    parts += column.checks.map(check)
    if let expression = column.generated {
      parts.append("GENERATED ALWAYS " + generated(expression, isStored: column.isStored))
    }
    if let reference { parts.append(reference.clause) }
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The words that begin the constraints of a column, and so can't be a part of its type.
  package static let constraintWords = [
    "constraint", "primary", "not", "null", "unique", "check", "default", "collate", "references",
    "generated", "as",
  ]

  package static func check(_ condition: String) -> String { "CHECK (\(condition))" }

  static func generated(_ expression: String, isStored: Bool) -> String {
    "AS (\(expression)) \(isStored ? "STORED" : "VIRTUAL")"
  }

  static func renameTable(_ name: String, in schema: String, to newName: String) -> String {
    "ALTER TABLE \(schema).\(name.quotedIdentifier) RENAME TO \(newName.quotedIdentifier)"
  }

  static func addColumn(_ column: ColumnSchema, to table: TableSchema) -> String {
    "ALTER TABLE \(table.quotedName) ADD COLUMN \(column.sql)"
  }

  package static func alterTable(_ table: TableSchema, _ actions: [String]) -> String {
    "ALTER TABLE \(table.quotedName) \(actions.joined(separator: ", "))"
  }

  static func renameColumn(_ column: String, to name: String) -> String {
    "RENAME COLUMN \(column.quotedIdentifier) TO \(name.quotedIdentifier)"
  }

  /// SQLite has no such statement.
  static func renameIndex(_ index: String, in schema: String?, to name: String) -> String {
    "ALTER INDEX \(index.quoted(in: schema)) RENAME TO \(name.quotedIdentifier)"
  }

  // MARK: Indexes, views, triggers, virtual tables

  /// A CREATE INDEX. SQLite takes the table's schema before the index's name, others before the table's.
  package static func createIndex(
    _ name: String, on table: TableSchema, _ terms: [String], isUnique: Bool,
    where condition: String?
  ) -> String {
    let isSQLite = table.engine == nil
    return "CREATE \(isUnique ? "UNIQUE " : "")INDEX "
      + "\(name.quoted(in: isSQLite ? table.schema : nil)) "
      + "ON \(table.name.quoted(in: isSQLite ? nil : table.schema)) (\(terms.joined(separator: ", ")))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }

  static func createView(
    _ name: String, columns: [String], isMaterialized: Bool, as query: String
  ) -> String {
    let list = columns.isEmpty ? "" : " (\(columns.identifierList))"
    return
      "CREATE \(isMaterialized ? "MATERIALIZED " : "")VIEW \(name.quotedIdentifier)\(list) AS \(query)"
  }

  static func createTrigger(
    _ name: String, _ event: String, on table: String, when condition: String?,
    _ statements: [String]
  ) -> String {
    "CREATE TRIGGER \(name.quotedIdentifier) \(event) ON \(table.quotedIdentifier)"
      + (condition.map { " WHEN \($0)" } ?? "")
      + " BEGIN\n\(statements.map { "  \($0);\n" }.joined())END"
  }

  static func createVirtualTable(_ name: String, using module: String) -> String {
    "CREATE VIRTUAL TABLE \(name.quotedIdentifier) USING \(module)"
  }

  package static func drop(
    _ kind: SchemaEntry.Kind, _ name: String, in schema: String? = nil,
    isMaterialized: Bool = false, ifExists: Bool = false
  ) -> String {
    "DROP \(isMaterialized ? "MATERIALIZED " : "")\(kind.rawValue.uppercased()) \(ifExists ? "IF EXISTS " : "")"
      + name.quoted(in: schema)
  }
}

extension ForeignKeySchema {
  /// The REFERENCES clause, without the referring columns.
  package var clause: String {
    var text = "REFERENCES \(referencedTable.quoted(in: referencedSchema))"
    if !referencedColumns.isEmpty { text += " (\(referencedColumns.identifierList))" }
    if onDelete != .noAction { text += " ON DELETE \(onDelete.rawValue)" }
    if onUpdate != .noAction { text += " ON UPDATE \(onUpdate.rawValue)" }
    return text + (isDeferred ? " DEFERRABLE INITIALLY DEFERRED" : "")
  }

  /// The text after FOREIGN KEY.
  package var sql: String { "(\(columns.identifierList)) \(clause)" }
}

extension SQL {
  /// The same SQL, for a statement that is never run again.
  package var uncached: SQL {
    var sql = self
    sql.isCacheable = false
    return sql
  }
}

extension [String] {
  package var identifierList: String { map(\.quotedIdentifier).joined(separator: ", ") }
}
