import Larder
import LarderTerminal

// The check of full-text indexes. FTS5's integrity check is an INSERT, and so runs on a copy in memory. In a
// database that is too large for a copy, only the numbers of rows are compared.

func textIndexDifferences(_ checked: CheckedDatabase) throws -> [Evidence] {
  let names = checked.entries.filter(\.isTextIndex).map(\.name)
  guard !names.isEmpty else { return [] }
  guard checked.file.size <= checked.bounds.copiedSize else {
    checked.remark(
      "full-text indexes were compared with their contents only by the numbers of rows")
    return names.compactMap { differenceInRows($0, checked) }
  }
  var configuration = Configuration()
  configuration.foreignKeys = false
  configuration.trustsSchema = true
  let copy = try Database(configuration: configuration)
  let isCopied = try checked.within("the copy for full-text indexes") {
    try checked.db.backup(to: copy)
    return true
  }
  guard isCopied == true else { return [] }
  return try names.compactMap { name in
    do {
      try copy.executeUpdate(
        "INSERT INTO \(identifier: name) (\(identifier: name), rank) VALUES ('integrity-check', 1)"
      )
      return nil
    } catch let error as DatabaseError where error.code == .corrupt {
      return toBeRebuilt(name, "FTS5's integrity check fails")
    } catch let error as DatabaseError where !error.isInterrupt {
      checked.remark("the full-text index “\(name)” wasn't checked: \(error.message)")
      return nil
    }
  }
}

private func differenceInRows(_ name: String, _ checked: CheckedDatabase) -> Evidence? {
  func rows(of table: String) -> Int? {
    try? checked.db.value("SELECT count(*) FROM main.\(identifier: table)", as: Int.self)
  }
  guard let content = rows(of: name), let indexed = rows(of: name + "_docsize"), content != indexed
  else { return nil }
  return toBeRebuilt(
    name, "\(indexed.grouped) rows are in the index, but \(content.grouped) in its content")
}

private func toBeRebuilt(_ name: String, _ found: String) -> Evidence {
  let id = name.quotedIdentifier
  return Evidence(
    table: name, found: found, advice: "Rebuild the index, and look for a missing trigger.",
    sql: ["INSERT INTO \(id) (\(id)) VALUES ('rebuild')"])
}

extension SchemaEntry {
  /// Whether this is an FTS5 table.
  fileprivate var isTextIndex: Bool {
    guard isVirtualTable, let tokens = sql?.sqlTokens,
      let using = tokens.firstIndex(where: { $0.isWord("using") }), using + 1 < tokens.count
    else { return false }
    return tokens[using + 1].name?.lowercased() == "fts5"
  }
}
