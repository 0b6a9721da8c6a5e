import Larder

/// Values for a statement's parameters, taken from the columns that they are compared with, so that the
/// statement can be timed without its own.
struct ParameterSamples {
  /// The values in the order of the parameters; nil if a parameter is compared with no column.
  let values: [DatabaseValue]?

  init(_ statement: String, count: Int, _ tables: [String], _ db: Database) throws {
    guard count > 0 else {
      values = []
      return
    }
    let tokens = statement.sqlTokens
    let places = tokens.indices.filter { tokens[$0].isParameter }
    // A name or number may occur several times.
    guard places.count == count, tokens.allSatisfy({ !$0.isNumberedParameter }) else {
      values = nil
      return
    }
    var found: [DatabaseValue] = []
    for (number, place) in places.enumerated() {
      guard let value = try Self.value(at: place, number, tokens, tables, db) else {
        values = nil
        return
      }
      found.append(value)
    }
    values = found
  }

  private static func value(
    at place: Int, _ number: Int, _ tokens: [SQLPiece], _ tables: [String], _ db: Database
  ) throws -> DatabaseValue? {
    let before = place > 0 ? tokens[place - 1] : nil
    if before?.isWord("limit") == true { return .integer(10) }
    if before?.isWord("offset") == true { return .integer(0) }
    if before?.isWord("like") == true { return .text("a%") }
    let isUpper = before?.isWord("and") == true && place > 2 && tokens[place - 3].isWord("between")
    // Before the parameter are an operator and a column, or the rest of a list: a = ?, a IN (?, ?).
    var index = place - 1
    while index >= 0,
      !(tokens[index].kind == .word && Self.isName(tokens[index]))
        && !(tokens[index].kind == .quoted && tokens[index].identifier != nil)
    {
      index -= 1
    }
    guard index >= 0, let name = tokens[index].identifier else { return nil }
    for table in tables {
      guard
        let column = try db.columns(of: table, in: "main").first(where: {
          $0.name.foldedName == name.foldedName
        })?.name
      else { continue }
      let list = "\(column.quotedIdentifier)"
      let from = "FROM main.\(table.quotedIdentifier) WHERE \(list) IS NOT NULL"
      let rows =
        try db.value(SQL(raw: "SELECT count(*) FROM (SELECT 1 \(from) LIMIT 2000)"), as: Int.self)
        ?? 0
      // Different parameters get different rows' values; the upper end of a range is a large value.
      let share = isUpper ? 4 : 2
      let offset = isUpper ? rows - 1 - rows / share : (rows / 3 + number * 7) % max(1, rows)
      let order = isUpper ? "ORDER BY 1" : ""
      return try db.value(
        SQL(
          raw:
            "SELECT \(list) FROM (SELECT \(list) \(from) LIMIT 2000) \(order) LIMIT 1 OFFSET \(max(0, offset))"
        ),
        as: DatabaseValue.self) ?? DatabaseValue.null
    }
    return nil
  }

  private static let operators = [
    "in", "between", "and", "or", "not", "is", "like", "glob", "collate", "nocase", "cast", "as",
  ]

  private static func isName(_ token: SQLPiece) -> Bool {
    guard let first = token.text.unicodeScalars.first, !("0"..."9").contains(first) else {
      return false
    }
    return !operators.contains { token.isWord($0) }
  }
}

extension SQLPiece {
  /// Whether this is `?`, or the beginning of `:name`, `@name` or `$name`.
  fileprivate var isParameter: Bool {
    kind == .placeholder || [":", "@", "$"].contains { isSymbol($0) }
  }

  fileprivate var isNumberedParameter: Bool { kind == .placeholder && text != "?" }
}
