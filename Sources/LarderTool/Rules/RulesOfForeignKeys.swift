import Larder
import LarderTerminal

// Rules about the declarations of foreign keys.

extension Rule {
  static let ofForeignKeys: [Rule] = [
    Rule(
      "foreign-key-index", .warning,
      "Without an index on a foreign key, each deletion of a row that it may refer to scans this table.",
      tables: { table, checked in
        try table.foreignKeys.filter {
          checked.table($0.referencedTable) != nil && !table.hasIndex(for: $0.columns)
        }.map { try missingIndex(of: $0, table, checked) }
      }),
    Rule(
      "foreign-key-target", .error,
      "A foreign key to a missing table or column makes every insert fail once foreign keys are enforced.",
      tables: { table, checked in
        table.foreignKeys.compactMap { lostTarget(of: $0, table, checked) }
      }),
    Rule(
      "foreign-key-not-unique", .error,
      "A foreign key has to refer to a primary key or to unique columns; SQLite refuses anything else.",
      tables: { table, checked in table.foreignKeys.compactMap { notUnique($0, table, checked) } }),
    Rule(
      "foreign-key-type", .warning,
      "A foreign key whose type differs from the key that it refers to finds no rows, or uses no index.",
      tables: { table, checked in table.foreignKeys.flatMap { otherTypes($0, table, checked) } }),
    Rule(
      "foreign-key-set-null", .error,
      "A foreign key that should become NULL, but is NOT NULL, prevents the change of the row it refers to.",
      tables: { table, _ in table.foreignKeys.compactMap { impossibleAction($0, table) } }),
  ]

  private static func missingIndex(
    of key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
  ) throws -> Evidence {
    let columns = key.columns.map(\.quotedIdentifier).joined(separator: ", ")
    let rows =
      try checked.rows(of: table).map { " of \($0.grouped) \($0 == 1 ? "row" : "rows")" } ?? ""
    return Evidence(
      table: table.name, columns: key.columns,
      found: "no index begins with this key to “\(key.referencedTable)”, in a table\(rows)",
      advice: "Create one.",
      sql: [
        "CREATE INDEX \(checked.indexName(table.name, key.columns).quotedIdentifier)"
          + " ON \(table.name.quotedIdentifier) (\(columns))"
      ])
  }

  private static func lostTarget(
    of key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
  ) -> Evidence? {
    func evidence(_ found: String) -> Evidence {
      Evidence(
        table: table.name, columns: key.columns, found: found,
        advice: "Correct the key, or create what it refers to. SQLite has no ALTER TABLE for that:"
          + " rebuild the table.")
    }
    guard let parent = checked.table(key.referencedTable) else {
      // A virtual table or a view exists, but can't be referred to either.
      let isThere = checked.entries.contains {
        $0.kind != .index && $0.name.foldedName == key.referencedTable.foldedName
      }
      return evidence(
        "“\(key.referencedTable)” \(isThere ? "isn't an ordinary table" : "doesn't exist")")
    }
    let missing = key.referencedColumns.filter { parent.column($0) == nil }
    if missing.isEmpty { return nil }
    return evidence(
      "“\(parent.name)” has no column \(missing.map { "“\($0)”" }.joined(separator: ", "))")
  }

  private static func notUnique(
    _ key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
  ) -> Evidence? {
    guard let parent = checked.table(key.referencedTable),
      key.referencedColumns.allSatisfy({ parent.column($0) != nil })
    else { return nil }
    let columns = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
    let wanted = Set(columns.map { $0.lowercased() })
    if columns.count == key.columns.count, parent.uniqueSets.contains(wanted) { return nil }
    let list = columns.map(\.quotedIdentifier).joined(separator: ", ")
    let found =
      columns.isEmpty
      ? "“\(parent.name)” has no primary key"
      : columns.count != key.columns.count
        ? "\(key.columns.count) columns refer to \(columns.count) of “\(parent.name)”"
        : "(\(list)) of “\(parent.name)” aren't unique"
    return Evidence(
      table: table.name, columns: key.columns, found: found,
      advice: "Make the columns that it refers to unique, or refer to other columns.",
      sql: columns.isEmpty || columns.count != key.columns.count
        ? []
        : [
          "CREATE UNIQUE INDEX \(checked.indexName(parent.name, columns).quotedIdentifier)"
            + " ON \(parent.name.quotedIdentifier) (\(list))"
        ])
  }

  private static func otherTypes(
    _ key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
  ) -> [Evidence] {
    guard let parent = checked.table(key.referencedTable) else { return [] }
    let columns = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
    return zip(key.columns, columns).compactMap { name, referenced in
      guard let child = table.column(name), let other = parent.column(referenced) else {
        return nil
      }
      let isNumber = [
        ColumnAffinity(type: child.type, isStrict: table.isStrict),
        ColumnAffinity(type: other.type, isStrict: parent.isStrict),
      ].compactMap(\.isNumber)
      guard Set(isNumber).count == 2 else { return nil }
      return Evidence(
        table: table.name, columns: [child.name],
        found: "it is \(child.type), and “\(parent.name)”.“\(other.name)” is \(other.type)",
        advice: "Declare both with the same type, and rebuild the table.")
    }
  }

  private static func impossibleAction(
    _ key: ForeignKeySchema, _ table: TableSchema
  ) -> Evidence? {
    let columns = key.columns.compactMap(table.column)
    let nulled = [key.onDelete, key.onUpdate].contains(.setNull) ? columns.filter(\.isNotNull) : []
    let reset =
      [key.onDelete, key.onUpdate].contains(.setDefault)
      ? columns.filter { $0.isNotNull && $0.defaultSQL == nil } : []
    guard let column = (nulled + reset).first else { return nil }
    return Evidence(
      table: table.name, columns: [column.name],
      found:
        "it is NOT NULL, but its foreign key says \(nulled.isEmpty ? "SET DEFAULT" : "SET NULL")",
      advice: "Allow NULL in the column, or use CASCADE or RESTRICT.")
  }
}

extension ColumnAffinity {
  /// Whether the affinity is numeric; nil for one that converts no values.
  fileprivate var isNumber: Bool? {
    switch self {
    case .none: nil
    case .text: false
    case .numeric, .real: true
    }
  }
}

extension TableSchema {
  /// Whether an index finds rows by these columns.
  fileprivate func hasIndex(for columns: [String]) -> Bool {
    let wanted = Set(columns.map { $0.lowercased() })
    func begins(_ indexed: [String?]) -> Bool {
      indexed.count >= wanted.count
        && Set(indexed.prefix(wanted.count).map { $0?.lowercased() }) == wanted
    }
    let complete = indexes.filter { index in
      guard let condition = index.condition else { return true }
      // A partial index on IS NOT NULL suffices: NULL refers to no row.
      return columns.contains { (condition.normalizedSQL) == "\($0) IS NOT NULL".normalizedSQL }
    }
    return begins(primaryKey) || uniqueConstraints.contains { begins($0) }
      || complete.contains { begins($0.columns) }
  }
}
