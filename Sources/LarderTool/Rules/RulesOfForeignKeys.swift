import Larder
import LarderTerminal

// Rules about the declarations of foreign keys.

let rulesOfForeignKeys: [Rule] = [
  Rule(
    "foreign-key-index", .warning,
    "Without an index on a foreign key, each deletion of a row that it may refer to scans this table.",
    tables: { table, checked in
      let keys = table.foreignKeys.filter {
        checked.table($0.referencedTable) != nil && !table.hasIndex(for: $0.columns)
      }
      if try keys.isEmpty || checked.hasFewRows(table) { return [] }
      return try keys.map { try missingIndex(of: $0, table, checked) }
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
    "foreign-key-collation", .warning,
    "A key and a foreign key that compare differently are equal in one direction of a join only.",
    tables: { table, checked in
      table.foreignKeys.flatMap { otherCollations($0, table, checked) }
    }),
  Rule(
    "foreign-key-set-null", .error,
    "A foreign key that should become NULL, but is NOT NULL, prevents the change of the row it refers to.",
    tables: { table, _ in table.foreignKeys.compactMap { impossibleAction($0, table) } }),
]

private func missingIndex(
  of key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
) throws -> Evidence {
  let rows = try checked.rows(of: table).map { " of \($0.counted("row"))" } ?? ""
  return Evidence(
    table: table.name, columns: key.columns,
    found: "no index begins with this key to “\(key.referencedTable)”, in a table\(rows)",
    advice: "Create one.", sql: [checked.newIndex("INDEX", on: table.name, key.columns)])
}

private func lostTarget(
  of key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
) -> Evidence? {
  var found: String
  if let parent = checked.table(key.referencedTable) {
    let missing = key.referencedColumns.filter { parent.column($0) == nil }
    if missing.isEmpty { return nil }
    let list = missing.map { "“\($0)”" }.joined(separator: ", ")
    found = "“\(parent.name)” has no column \(list)"
  } else {
    // A virtual table or a view exists, but can't be referred to either.
    let isThere = checked.entries.contains {
      $0.kind != .index && $0.name.isSameName(key.referencedTable)
    }
    found = "“\(key.referencedTable)” \(isThere ? "isn't an ordinary table" : "doesn't exist")"
  }
  return Evidence(
    table: table.name, columns: key.columns, found: found,
    advice: "Correct the key, or create what it refers to. SQLite has no ALTER TABLE for that:"
      + " rebuild the table.")
}

private func notUnique(
  _ key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
) -> Evidence? {
  guard let parent = checked.table(key.referencedTable),
    key.referencedColumns.allSatisfy({ parent.column($0) != nil })
  else { return nil }
  let columns = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
  var evidence = Evidence(
    table: table.name, columns: key.columns,
    found: "\(key.columns.count) columns refer to \(columns.count) of “\(parent.name)”",
    advice: "Make the columns that it refers to unique, or refer to other columns.")
  if columns.isEmpty {
    evidence.found = "“\(parent.name)” has no primary key"
  } else if columns.count == key.columns.count {
    if parent.uniqueSets.contains(Set(columns.map { $0.lowercased() })) { return nil }
    let list = columns.map(\.quotedIdentifier).joined(separator: ", ")
    evidence.found = "(\(list)) of “\(parent.name)” aren't unique"
    evidence.sql = [checked.newIndex("UNIQUE INDEX", on: parent.name, columns)]
  }
  return evidence
}

private func otherTypes(
  _ key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
) -> [Evidence] {
  guard let parent = checked.table(key.referencedTable) else { return [] }
  let columns = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
  return zip(key.columns, columns).compactMap { name, referenced in
    guard let child = table.column(name), let other = parent.column(referenced) else { return nil }
    // The affinity `none` converts no values.
    let affinities = [table.affinity(of: child), parent.affinity(of: other)].filter { $0 != .none }
    guard Set(affinities.map { $0 == .text }).count == 2 else { return nil }
    return Evidence(
      table: table.name, columns: [child.name],
      found: "it is \(child.type), and “\(parent.name)”.“\(other.name)” is \(other.type)",
      advice: "Declare both with the same type, and rebuild the table.")
  }
}

private func otherCollations(
  _ key: ForeignKeySchema, _ table: TableSchema, _ checked: CheckedDatabase
) -> [Evidence] {
  guard let parent = checked.table(key.referencedTable) else { return [] }
  let columns = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
  return zip(key.columns, columns).compactMap { name, referenced in
    guard let child = table.column(name), let other = parent.column(referenced),
      ![table.affinity(of: child), parent.affinity(of: other)].contains(where: \.isNumeric)
    else { return nil }
    let collations = [child, other].map { ($0.collation ?? "BINARY").uppercased() }
    guard collations[0] != collations[1] else { return nil }
    return Evidence(
      table: table.name, columns: [child.name],
      found: "it is compared by \(collations[0]), and “\(parent.name)”.“\(other.name)” by"
        + " \(collations[1])",
      advice: "Declare it COLLATE \(collations[1]) too, and rebuild the table.")
  }
}

extension ColumnAffinity {
  fileprivate var isNumeric: Bool { self == .numeric || self == .real }
}

private func impossibleAction(_ key: ForeignKeySchema, _ table: TableSchema) -> Evidence? {
  let actions = [key.onDelete, key.onUpdate]
  let columns = key.columns.compactMap(table.column).filter(\.isNotNull)
  let nulled = actions.contains(.setNull) ? columns.first : nil
  let reset = actions.contains(.setDefault) ? columns.first { $0.default == nil } : nil
  guard let column = nulled ?? reset else { return nil }
  return Evidence(
    table: table.name, columns: [column.name],
    found:
      "it is NOT NULL, but its foreign key says \(nulled == nil ? "SET DEFAULT" : "SET NULL")",
    advice: "Allow NULL in the column, or use CASCADE or RESTRICT.")
}

extension CheckedDatabase {
  /// The statement that creates an index of these columns, under an unused name.
  fileprivate func newIndex(_ kind: String, on table: String, _ columns: [String]) -> String {
    let name = ([table] + columns + ["index"]).joined(separator: "_")
    var free = name
    var number = 2
    while takenNames.contains(free.lowercased()) {
      free = "\(name)_\(number)"
      number += 1
    }
    let list = columns.map(\.quotedIdentifier).joined(separator: ", ")
    return "CREATE \(kind) \(free.quotedIdentifier) ON \(table.quotedIdentifier) (\(list))"
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
      return columns.contains { condition.normalizedSQL == "\($0) IS NOT NULL".normalizedSQL }
    }
    return begins(primaryKey) || uniqueConstraints.contains { begins($0) }
      || complete.contains { begins($0.columns) }
  }
}
