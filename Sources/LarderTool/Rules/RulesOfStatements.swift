import Larder
import LarderTerminal

// Rules about SQL in the schema: views, triggers, and the expressions of tables and indexes.

let rulesOfStatements: [Rule] = [
  Rule(
    "broken-view", .error, "A view that doesn't compile can't be read.",
    find: { try $0.brokenViews().filter { !$0.isQuoting }.map(\.evidence) }),
  Rule(
    "broken-trigger", .error, "If a trigger doesn't compile, every statement that fires it fails.",
    find: { try $0.brokenTriggers().filter { !$0.isQuoting }.map(\.evidence) }),
  Rule(
    "double-quoted-string", .warning,
    "A string in double quotes becomes a column as soon as a column has that name.",
    find: { checked in
      let broken = try checked.brokenViews() + checked.brokenTriggers()
      return broken.filter(\.isQuoting).map(\.evidence)
        + checked.schema.tables.flatMap { quotedStrings($0) }
    }),
  Rule(
    "recursive-trigger", .note,
    "A trigger that repeats the change that fires it never ends under PRAGMA recursive_triggers.",
    find: { checked in
      checked.entries.compactMap { TriggerText($0) }.filter(\.firesItself).map { trigger in
        Evidence(
          table: trigger.table, object: trigger.name,
          found: "it runs on \(trigger.event.rawValue.uppercased()), and itself does the same",
          advice: trigger.event == .update
            ? "Name the columns that fire it (UPDATE OF …), or add a WHEN."
            : "Add a WHEN that ends it.")
      }
    }),
  Rule(
    "now-in-constraint", .error,
    "A constraint or index that depends on the time makes statements fail once they write a row.",
    tables: { table, _ in
      table.expressions.filter { expression in
        expression.sql.sqlTokens.contains {
          $0.kind == .quoted && $0.text.lowercased() == "'now'"
        }
      }.map { expression in
        Evidence(
          table: table.name, columns: expression.columns, object: expression.index,
          found: "\(expression.kind) “\(expression.sql.cut(to: 60))” depends on the time",
          advice: "Check that with a trigger, or in the program.")
      }
    }),
]

/// The strings in double quotes within a table's own expressions. SQLite still accepts those as strings.
private func quotedStrings(_ table: TableSchema) -> [Evidence] {
  table.expressions.flatMap { expression in
    let tokens = expression.sql.sqlTokens
    return tokens.indices.filter { index in
      let token = tokens[index]
      guard token.kind == .quoted, token.text.utf8.first == UInt8(ascii: "\""),
        let name = token.identifier
      else { return false }
      let isCall = index + 1 < tokens.count && tokens[index + 1].isSymbol("(")
      let isCollation = index > 0 && tokens[index - 1].isWord("collate")
      return !isCall && !isCollation && table.column(name) == nil
        && name.foldedName != table.name.foldedName
        && !table.rowIDNames.contains(name.lowercased())
    }.prefix(1).map { index in
      let text = tokens[index].text
      return Evidence(
        table: table.name, columns: expression.columns, object: expression.index,
        found: "\(expression.kind) holds \(text.cut(to: 40))",
        advice: "Write \((tokens[index].identifier ?? "").quotedText),"
          + " and rebuild \(expression.index == nil ? "the table" : "the index").")
    }
  }
}

/// An expression of a table or of one of its indexes.
private struct TableExpression {
  /// The kind of expression, for messages.
  let kind: String
  let sql: String
  var columns: [String] = []
  var index: String?
}

extension TableSchema {
  fileprivate var expressions: [TableExpression] {
    var all = checks.map { TableExpression(kind: "the CHECK", sql: $0) }
    for column in columns {
      if let sql = column.generated {
        all.append(TableExpression(kind: "the computed column", sql: sql, columns: [column.name]))
      }
      if let sql = column.default, sql.utf8.first == UInt8(ascii: "\"") {
        all.append(TableExpression(kind: "the DEFAULT", sql: sql, columns: [column.name]))
      }
    }
    for index in indexes {
      for (term, column) in zip(index.terms, index.columns) where column == nil {
        all.append(TableExpression(kind: "the index", sql: term, index: index.name))
      }
      if let condition = index.condition {
        all.append(TableExpression(kind: "the index's WHERE", sql: condition, index: index.name))
      }
    }
    return all
  }
}

/// A view or trigger that doesn't compile.
private struct BrokenStatement {
  let evidence: Evidence
  /// Whether strings in double quotes are the only reason.
  let isQuoting: Bool

  init(_ message: String, table: String, trigger: String? = nil) {
    isQuoting = message.contains("string in double quotes")
    let reason = message.split(separator: "; ").first.map(String.init) ?? message
    let name = (trigger ?? table).quotedIdentifier
    evidence = Evidence(
      table: table, object: trigger,
      found: isQuoting ? "\(reason): it holds a string in double quotes" : reason,
      advice: isQuoting
        ? "Create it again with the string in single quotes." : "Create it again, or drop it.",
      sql: isQuoting ? [] : ["DROP \(trigger == nil ? "VIEW" : "TRIGGER") \(name)"])
  }
}

extension CheckedDatabase {
  fileprivate func brokenViews() throws -> [BrokenStatement] {
    guard try db.effectiveSettings.allowsViews else {
      remark("views weren't checked: they are switched off")
      return []
    }
    return try entries.filter { $0.kind == .view }.compactMap { view in
      try noteForeignCalls(of: [view], "the view “\(view.name)”")
      return try problem(
        of: "SELECT * FROM main.\(identifier: view.name)", "the view “\(view.name)”"
      )
      .map { BrokenStatement($0, table: view.name) }
    }
  }

  fileprivate func brokenTriggers() throws -> [BrokenStatement] {
    guard try db.effectiveSettings.runsTriggers else {
      remark("triggers weren't checked: they are switched off")
      return []
    }
    let triggers = entries.compactMap { TriggerText($0) }
    var broken: [BrokenStatement] = []
    for table in Set(triggers.map(\.table)).sorted() {
      let own = entries.filter { $0.kind == .trigger && $0.table.isSameName(table) }
      try noteForeignCalls(of: own, "the triggers of “\(table)”")
      // A broken view is reported as such, and can't be written to anyway.
      let isView = entries.contains { $0.kind == .view && $0.name.isSameName(table) }
      if isView, try problem(of: "SELECT * FROM main.\(identifier: table)", "") != nil { continue }
      for event in [TriggerText.Event.insert, .update, .delete] {
        let firing = triggers.filter { $0.table == table && $0.event == event }
        guard !firing.isEmpty, let statement = try statement(firing: event, of: table),
          let message = try problem(of: statement, "the triggers of “\(table)”")
        else { continue }
        let word = message.split(separator: " ").last.map(String.init) ?? ""
        let named = firing.first { $0.sql.contains(word) }
        broken.append(
          BrokenStatement(message, table: table, trigger: (named ?? firing[0]).name))
      }
    }
    return broken
  }

  /// Adds a remark if statements call a function that only the program has. They compile here all the same.
  private func noteForeignCalls(of entries: [SchemaEntry], _ what: String) throws {
    for entry in entries {
      guard let reason = try db.reasonAgainst(callsIn: (entry.sql ?? "").sqlTokens) else {
        continue
      }
      return remark("\(what) couldn't be checked in full: \(reason)")
    }
  }

  /// A statement that fires a table's triggers; nil if there can't be one.
  private func statement(firing event: TriggerText.Event, of table: String) throws -> SQL? {
    let name: SQL = "main.\(identifier: table)"
    switch event {
    case .insert: return "INSERT INTO \(name) DEFAULT VALUES"
    case .delete: return "DELETE FROM \(name)"
    case .update:
      let columns = (try? db.columns(of: table, in: "main")) ?? []
      let names = columns.filter { $0.generated == nil }.map(\.name.quotedIdentifier)
      guard !names.isEmpty else { return nil }
      let list = names.map { "\($0) = \($0)" }.joined(separator: ", ")
      return "UPDATE \(name) SET \(SQL(raw: list))"
    }
  }

  /// The reason why a statement doesn't compile; nil if it does, or if it only lacks a program's own
  /// function.
  private func problem(of statement: SQL, _ what: String) throws -> String? {
    // The statement is only compiled, never run, so it may use unsafe functions.
    let trusts = try db.pragma("trusted_schema")
    try db.executeUpdate("PRAGMA trusted_schema = ON")
    defer { _ = try? db.executeUpdate(SQL(raw: "PRAGMA trusted_schema = \(trusts)")) }
    do {
      try db.validate(statement)
      return nil
    } catch let error as DatabaseError where !error.isInterrupt {
      let foreign = ["no such function", "no such module", "no such collation", "unsafe use of"]
      guard foreign.contains(where: error.message.hasPrefix) else { return error.message }
      if !what.isEmpty { remark("\(what) couldn't be checked: \(error.message)") }
      return nil
    }
  }
}
