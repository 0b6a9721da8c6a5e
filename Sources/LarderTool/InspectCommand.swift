import Larder
import LarderTerminal

extension Command {
  static let inspect = Command(
    name: "inspect", arguments: "FILE [TABLE]", argumentCount: 1...2,
    summary: "Shows what is in a database: tables, rows, sizes, settings; or all about a table.",
    details: """
      Rows are counted, and sizes measured, for about a second. Numbers that would take longer are marked: ≈
      by the statistics of ANALYZE, ≤ by the row ids, – unknown. FILE may be a server's address,
      postgres://user@host/database: its catalog describes the first schema of the search path.

      Example:
        larder inspect cities.db
        larder inspect cities.db city
        larder inspect cities.db --json | jq '.tables[] | {name, rows}'
      """,
    options: [
      Option("exact", nil, "count and measure everything, however long it takes"), .schema,
    ]
  ) { invocation in
    let table = invocation.arguments.dropFirst().first
    switch try NamedDatabase(invocation.arguments[0], invocation) {
    case .server(let server):
      let inspection = try server.read { try ServerInspection($0, server.name, table: table) }
      if invocation.wantsJSON { return try Output.showJSON(inspection) }
      inspection.show(table: table)
    case .file(let file):
      let inspection = try file.read {
        try Inspection($0, file, table: table, isExact: invocation.has("exact"))
      }
      if invocation.wantsJSON { return try Output.showJSON(inspection) }
      if table == nil { return inspection.show() }
      for table in inspection.tables { table.show() }
    }
  }
}

/// Prints pairs of a title and a fact, aligned.
private func showFacts(_ facts: [(String, String)]) {
  let width = facts.map(\.0.displayWidth).max() ?? 0
  for (title, fact) in facts {
    print("  \(Style.faint(title.padded(to: width)))  \(fact.printable)")
  }
}

extension Inspection {
  fileprivate func show() {
    print(Style.bold(file.printable))
    var journal = journalMode
    if let logSize { journal += ", log of \(logSize.byteCount)" }
    if let journalSize { journal += ", rollback journal of \(journalSize.byteCount)" }
    let part = freePages * 100 / max(1, pages)
    let free = freePages > 0 ? ", \(freePages.grouped) free (\(part) %)" : ""
    showFacts([
      ("size", size.byteCount), ("pages", "\(pages.grouped) of \(pageSize.grouped) bytes\(free)"),
      ("encoding", encoding),
      ("journal", journal),
      ("auto_vacuum", autoVacuum),
      ("user_version", "\(userVersion)"),
      ("application_id", "\(applicationID)"),
      ("schema changes", "\(schemaVersion)"),
      ("triggers", "\(triggers)"),
      ("written by", "SQLite \(writtenBy); this is \(SQLiteLibrary.version)"),
    ])
    print()
    guard !tables.isEmpty else { return print("There are no tables.") }
    showList(
      tables.map { table in
        let sizes = table.indexes.map(\.size)
        return (table, sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
      })
    for table in tables {
      if let problem = table.problem {
        print("\n\(Style.red("“\(table.name.printable)” can't be read")): \(problem.printable)")
      }
    }
  }
}

extension InspectedTable {
  func show() {
    print(Style.bold(name.printable))
    var facts = [("kind", kindText)]
    if kind != "view" {
      facts += [("rows", rows?.text ?? "–"), ("size", size?.byteCount ?? "–")]
    }
    if !triggers.isEmpty { facts.append(("triggers", triggers.joined(separator: ", "))) }
    if let problem { facts.append(("problem", problem)) }
    showFacts(facts)
    print()
    var list = TextTable("COLUMN", "TYPE", "KEY", "NULL", "DEFAULT", "")
    for column in columns {
      let rest = [
        column.collation.map { "COLLATE \($0)" }, column.generatedSQL.map { "AS (\($0))" },
      ].compactMap { $0 }.joined(separator: " ")
      list.add(
        column.name, column.type, column.primaryKeyPosition.map { "\($0)" } ?? "",
        column.isNotNull ? "no" : "yes", column.defaultSQL ?? "", rest)
    }
    list.show()
    if !indexes.isEmpty {
      print()
      var list = TextTable("INDEX", "COLUMNS", "UNIQUE", "SIZE", "WHERE", numbers: [3])
      for index in indexes {
        list.add(
          index.name, index.columns.map { $0 ?? "(an expression)" }.joined(separator: ", "),
          index.isUnique ? "yes" : "no", index.size?.byteCount ?? "–", index.condition ?? "")
      }
      list.show()
    }
    if !foreignKeys.isEmpty {
      print()
      var list = TextTable("REFERENCE", "TO", "ON DELETE", "ON UPDATE")
      for key in foreignKeys {
        let columns = key.referencedColumns
        list.add(
          key.columns.joined(separator: ", "),
          key.table + (columns.isEmpty ? "" : " (\(columns.joined(separator: ", ")))"),
          key.onDelete, key.onUpdate)
      }
      list.show()
    }
  }
}
