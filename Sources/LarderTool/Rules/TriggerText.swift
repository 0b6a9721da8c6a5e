import Larder

/// A parsed CREATE TRIGGER: the event that fires it, and its body.
struct TriggerText {
  enum Event: String { case insert, update, delete }

  let name: String
  let table: String
  let sql: String
  let event: Event
  /// The columns whose change fires it; empty for all.
  let columns: [String]
  let hasCondition: Bool
  private let body: [SQLPiece]

  init?(_ entry: SchemaEntry) {
    guard entry.kind == .trigger, let sql = entry.sql else { return nil }
    let tokens = sql.sqlTokens
    (name, table, self.sql) = (entry.name, entry.table, sql)
    guard
      let place = tokens.firstIndex(where: { token in
        ["insert", "update", "delete"].contains { token.isWord($0) }
      }), let event = Event(rawValue: tokens[place].text.lowercased()),
      let on = tokens[place...].firstIndex(where: { $0.isWord("on") }),
      let begin = tokens[on...].firstIndex(where: { $0.isWord("begin") })
    else { return nil }
    self.event = event
    columns = tokens[place..<on].dropFirst(2).compactMap(\.name)
    hasCondition = tokens[on..<begin].contains { $0.isWord("when") }
    body = Array(tokens[begin...])
  }

  /// Whether its body contains the operation that fires it, and no WHEN ends the recursion.
  var firesItself: Bool {
    guard !hasCondition else { return false }
    return body.indices.contains { index in
      guard body[index].isWord(event.rawValue), changesItsTable(at: index) else { return false }
      guard event == .update, !columns.isEmpty else { return true }
      return setsColumn(after: index)
    }
  }

  private func changesItsTable(at index: Int) -> Bool {
    let rest = body[(index + 1)...].prefix(4).filter { token in
      !["or", "into", "from"].contains { token.isWord($0) }
        && !["rollback", "abort", "fail", "ignore", "replace"].contains { token.isWord($0) }
    }
    return rest.first?.name?.foldedName == table.foldedName
  }

  /// Whether the statement at an index sets one of the columns that fire the trigger.
  private func setsColumn(after index: Int) -> Bool {
    let statement = body[index...].prefix { !$0.isSymbol(";") }
    return statement.indices.dropLast().contains { place in
      statement[place + 1].isSymbol("=")
        && columns.contains { $0.foldedName == statement[place].name?.foldedName }
    }
  }
}
