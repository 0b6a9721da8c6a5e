import Larder

/// What there is of the table `t`, and of what depends on it.
struct TableState {
  struct Row {
    /// Nil in a table without.
    let rowID: Int64?
    let values: [String: DatabaseValue]
  }

  let columns: [String]
  let rows: [Row]
  /// The rows of a view that counts columns.
  let star: [[DatabaseValue]]
  /// What a search finds, by what was searched.
  let found: [String: [String]]
  /// All entries of the schema that aren't the table's own, with their statements.
  let dependents: [String]
  /// The whole content, for those who must not have changed it.
  let dump: [String]

  init(_ db: Database, hasRowID: Bool) throws {
    let columns = try db.columns(of: "t").map(\.name)
    self.columns = columns
    let rowID = hasRowID ? "rowid" : "NULL"
    rows = try db.executeQuery(SQL(raw: "SELECT \(rowID), * FROM t")).map { row in
      let values = try columns.indices.map {
        (columns[$0], try row.get(at: $0 + 1, as: DatabaseValue.self))
      }
      return Row(
        rowID: try row.get(at: 0), values: Dictionary(uniqueKeysWithValues: values))
    }
    let entries = try db.schema()
    func has(_ name: String) -> Bool { entries.contains { $0.name == name } }
    star =
      has("star")
      ? try db.executeQuery("SELECT * FROM star").map { row in
        try (0..<row.columnCount).map { try row.get(at: $0) }
      } : []
    var found: [String: [String]] = [:]
    if has("search") {
      for word in ["oslo", "caf\u{e9}", "007"] {
        found[word] = try db.executeQuery("SELECT a FROM search WHERE search MATCH ?", word).map {
          "\(try $0.get(at: 0, as: DatabaseValue.self))"
        }.sorted()
      }
    }
    self.found = found
    dependents = entries.filter { $0.kind == .view || $0.kind == .trigger }
      .map { "\($0.name): \($0.sql ?? "")" }.sorted()
    dump =
      entries.map { "\($0)" }.sorted()
      + rows.map { row in "\(row.rowID ?? 0) \(columns.map { "\(row.values[$0] ?? .null)" })" }
      .sorted()
  }

  /// What isn't as it was, though nothing was said; nil where all is.
  func problem(comparedTo old: TableState, from before: RandomTable, to after: RandomTable)
    -> String?
  {
    let kept = before.written.filter(after.written.contains)
    if !old.rows.isEmpty, kept.count < before.written.count {
      return "columns are lost: \(Set(before.written).subtracting(kept))"
    }
    if rows.count != old.rows.count { return "\(old.rows.count) rows have become \(rows.count)" }
    let areNumbered = before.hasRowID && after.hasRowID
    var left = rows
    for row in old.rows {
      let place = left.firstIndex { new in
        (!areNumbered || new.rowID == row.rowID)
          && kept.allSatisfy { name in
            KeptValue.isKept(row.values[name] ?? .null, as: new.values[name] ?? .null)
          }
      }
      guard let place else { return "the row \(row) isn't among \(left)" }
      left.remove(at: place)
    }
    if dependents != old.dependents { return "views or triggers are others: \(dependents)" }
    if !old.found.isEmpty, !after.hasRowID { return "row ids that a search needs are gone" }
    if found != old.found { return "a search finds \(found), not \(old.found)" }
    return starProblem(comparedTo: old, kept)
  }

  /// A view's columns are those that stood at their places.
  private func starProblem(comparedTo old: TableState, _ kept: [String]) -> String? {
    guard star.count == old.star.count else { return "a view has \(star.count) rows" }
    let places = old.columns.indices.filter { kept.contains(old.columns[$0]) }
    var left = star
    for row in old.star {
      let place = left.firstIndex { new in
        places.allSatisfy { KeptValue.isKept(row[$0], as: new[$0]) }
      }
      guard let place else { return "a view has \(star), not \(row)" }
      left.remove(at: place)
    }
    return nil
  }
}
