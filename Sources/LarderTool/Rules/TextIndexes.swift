import Larder
import LarderTerminal

// The check of full-text indexes. FTS5's integrity check is an INSERT, and so runs on a copy in memory. In a
// database that is too large for a copy, only the numbers of rows are compared.

extension Rule {
  static func textIndexDifferences(_ checked: CheckedDatabase) throws -> [Evidence] {
    let names = checked.entries.filter(\.isTextIndex).map(\.name)
    guard !names.isEmpty else { return [] }
    guard checked.file.size <= checked.bounds.copiedSize else {
      checked.remark(
        "full-text indexes were compared with their contents only by the numbers of rows")
      return try names.flatMap { try differenceInRows($0, checked) }
    }
    var configuration = Configuration()
    configuration.foreignKeys = false
    configuration.trustsSchema = true
    let copy = try Database(configuration: configuration)
    guard
      try checked.within("the copy for full-text indexes", { try checked.db.backup(to: copy) })
        != nil
    else { return [] }
    return try names.compactMap { name in
      do {
        try copy.executeUpdate(
          "INSERT INTO \(identifier: name) (\(identifier: name), rank) VALUES ('integrity-check', 1)"
        )
        return nil
      } catch let error as DatabaseError where error.code == .corrupt {
        return evidence(name, "FTS5's integrity check fails", checked)
      } catch let error as DatabaseError where !error.isInterrupt {
        checked.remark("the full-text index “\(name)” wasn't checked: \(error.message)")
        return nil
      }
    }
  }

  private static func differenceInRows(
    _ name: String, _ checked: CheckedDatabase
  ) throws -> [Evidence] {
    guard
      let content = try? checked.db.value(
        SQL(raw: "SELECT count(*) FROM main.\(name.quotedIdentifier)"), as: Int.self),
      let indexed = try? checked.db.value(
        SQL(raw: "SELECT count(*) FROM main.\((name + "_docsize").quotedIdentifier)"),
        as: Int.self),
      content != indexed
    else { return [] }
    let found = "\(indexed.grouped) rows are in the index, but \(content.grouped) in its content"
    return [evidence(name, found, checked)]
  }

  private static func evidence(
    _ name: String, _ found: String, _ checked: CheckedDatabase
  ) -> Evidence {
    let id = name.quotedIdentifier
    return Evidence(
      table: name, found: found,
      advice: "Rebuild the index, and look for a missing trigger.",
      sql: ["INSERT INTO \(id) (\(id)) VALUES ('rebuild')"])
  }
}

extension SchemaEntry {
  /// Whether this is an FTS5 table.
  fileprivate var isTextIndex: Bool {
    guard kind == .table, let tokens = sql?.sqlTokens,
      tokens.dropFirst().first?.isWord("virtual") == true,
      let using = tokens.firstIndex(where: { $0.isWord("using") }), using + 1 < tokens.count
    else { return false }
    return tokens[using + 1].name?.lowercased() == "fts5"
  }
}
