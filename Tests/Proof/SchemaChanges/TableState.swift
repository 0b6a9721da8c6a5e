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
  /// What a search finds, by what was searched; nil where it can't search.
  let found: [String: [String]]?
  /// All views and triggers, temporary ones too, with their statements.
  let dependents: [String]
  /// The indexes that were created.
  let indexes: [String]
  /// The rows of a table that refers to it.
  let children: [DatabaseValue]
  /// The last key that AUTOINCREMENT has given.
  let sequence: Int64?
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
    // What is broken has no rows.
    star =
      has("star")
      ? (try? db.executeQuery("SELECT * FROM star").map { row in
        try (0..<row.columnCount).map { try row.get(at: $0) }
      }) ?? [] : []
    found = has("search") ? try? Self.found(db) : nil
    dependents =
      try entries.filter { $0.kind == .view || $0.kind == .trigger }
      .map { "\($0.name): \($0.sql ?? "")" }.sorted()
      + db.executeQuery("SELECT name || ': ' || sql FROM temp.sqlite_schema ORDER BY 1").map {
        try $0.get(at: 0)
      }
    indexes = entries.filter { $0.kind == .index && $0.sql != nil }.map(\.name).sorted()
    children =
      has("child")
      ? try db.executeQuery("SELECT ref FROM child ORDER BY rowid").map { try $0.get(at: 0) } : []
    sequence =
      has("sqlite_sequence")
      ? try db.value("SELECT seq FROM sqlite_sequence WHERE name = 't'", as: Int64.self) : nil
    dump =
      entries.map { "\($0)" }.sorted() + dependents + children.map { "\($0)" }
      + rows.map { row in "\(row.rowID ?? 0) \(columns.map { "\(row.values[$0] ?? .null)" })" }
      .sorted()
  }

  private static func found(_ db: Database) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for word in ["oslo", "caf\u{e9}", "007"] {
      found[word] = try db.executeQuery("SELECT a FROM search WHERE search MATCH ?", word).map {
        "\(try $0.get(at: 0, as: DatabaseValue.self))"
      }.sorted()
    }
    return found
  }
}

/// What a table was, and what it has become.
struct TableComparison {
  let plan: ChangePlan
  let old: TableState
  let new: TableState
  /// Whether it was said that something would be lost: columns that aren't there any more, or row
  /// ids where there are none.
  let isMarked: Bool

  private var losesColumns: Bool { isMarked || plan.losing.contains(.columns) }
  private var losesRowIDs: Bool { plan.losing.contains(.rowIDs) || isMarked && !plan.new.hasRowID }

  /// What isn't as it was, though nothing was said; nil where all is.
  func problem() -> String? {
    if !old.rows.isEmpty, !losesColumns, !plan.lost.isEmpty {
      return "columns are lost: \(plan.lost)"
    }
    if new.rows.count != old.rows.count {
      return "\(old.rows.count) rows have become \(new.rows.count)"
    }
    let areNumbered = plan.old.hasRowID && plan.new.hasRowID && !losesRowIDs
    var left = new.rows
    for row in old.rows {
      let place = left.firstIndex { new in
        (!areNumbered || new.rowID == row.rowID) && isKept(row.values, as: new.values)
      }
      guard let place else { return "the row \(row) isn't among \(left)" }
      left.remove(at: place)
    }
    return dependentProblem() ?? starProblem()
  }

  private func isKept(_ old: [String: DatabaseValue], as new: [String: DatabaseValue]) -> Bool {
    plan.kept.allSatisfy { KeptValue.isKept(old[$0] ?? .null, as: new[$0] ?? .null) }
      && plan.copying.allSatisfy { $0.value.value(old) == new[$0.key] }
  }

  private func dependentProblem() -> String? {
    if new.dependents != old.dependents {
      return "views or triggers are others: \(new.dependents), not \(old.dependents)"
    }
    if plan.way == .rebuild, plan.new.columns.contains(where: { $0.name == "a" }),
      !old.indexes.allSatisfy(new.indexes.contains)
    {
      return "of the indexes \(old.indexes) there are \(new.indexes)"
    }
    if new.children != old.children { return "rows that referred to it are \(new.children)" }
    if plan.old.key == .autoincrement, plan.new.key == .autoincrement,
      new.sequence ?? 0 < old.sequence ?? 0
    {
      return "keys are given again from \(new.sequence ?? 0)"
    }
    if let found = old.found, !losesRowIDs, plan.kept.contains("a") {
      if !plan.new.hasRowID { return "row ids that a search needs are gone" }
      if new.found != found { return "a search finds \(new.found ?? [:]), not \(found)" }
    }
    return nil
  }

  /// A view's columns are those that stood at their places.
  private func starProblem() -> String? {
    guard new.star.count == old.star.count else { return "a view has \(new.star.count) rows" }
    let places = old.columns.indices.filter { plan.kept.contains(old.columns[$0]) }
    var left = new.star
    for row in old.star {
      let place = left.firstIndex { new in
        places.allSatisfy { $0 < new.count && KeptValue.isKept(row[$0], as: new[$0]) }
      }
      guard let place else { return "a view has \(new.star), not \(row)" }
      left.remove(at: place)
    }
    return nil
  }
}
