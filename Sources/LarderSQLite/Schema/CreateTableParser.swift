/// What only the text of a CREATE TABLE tells, for which SQLite has no PRAGMA: CHECK constraints,
/// collations, the expressions of generated columns, and which foreign keys are deferred.
///
/// The text is SQLite's own, of a table that is there: it follows
/// [the syntax](https://www.sqlite.org/lang_createtable.html).
struct CreateTableParser {
  /// What the text tells of the columns, by the folded name.
  private(set) var columns: [[UInt8]: ColumnSchema] = [:]
  private(set) var checks: [String] = []
  /// The constraints that stand behind the columns.
  private(set) var constraints: [String] = []
  /// One for each foreign key, in the order of the text.
  private(set) var areDeferred: [Bool] = []
  private(set) var isAutoincrement = false
  private(set) var conflictClauses: [ConflictClause] = []
  /// Where the constraint begins that is being read.
  private var constraintStart = 0

  init(_ sql: String) {
    let tokens = sql.sqlTokens
    guard tokens.dropFirst().first?.isWord("virtual") != true, let body = tokens.group(from: 0)
    else { return }
    // As a word of its own, it is nothing else: as a name it has to be in quotes.
    isAutoincrement = body.tokens.contains { $0.isWord("autoincrement") }
    for definition in body.tokens.splitAtCommas() { read(definition) }
  }

  private static let constraintWords = ["constraint", "primary", "unique", "check", "foreign"]

  private mutating func read(_ definition: [SQLPiece]) {
    guard let first = definition.first else { return }
    let isConstraint = Self.constraintWords.contains(where: first.isWord)
    let name = isConstraint ? nil : first.name
    var column = ColumnSchema(name: name ?? "", sql: definition.text)
    constraintStart = 0
    // The name of a column may be any word.
    var index = isConstraint ? 0 : 1
    while index < definition.count {
      readConflictClause(definition, at: index, column: name)
      index = readClause(definition, at: index, &column)
    }
    if let name {
      columns[name.foldedName] = column
    } else {
      constraints.append(column.sql)
    }
  }

  /// Reads ON CONFLICT, which belongs to the constraint before it. ABORT is what all have.
  private mutating func readConflictClause(
    _ tokens: [SQLPiece], at index: Int, column: String?
  ) {
    if ["primary", "unique", "not", "check"].contains(where: tokens[index].isWord) {
      constraintStart = index
    }
    guard index + 2 < tokens.count, tokens[index].isWord("on"),
      tokens[index + 1].isWord("conflict"),
      let resolution = tokens[index + 2].name?.lowercased(), resolution != "abort"
    else { return }
    var words = Array(tokens[constraintStart..<index]).normalized
    if let column {
      let name = String(decoding: column.foldedName, as: UTF8.self)
      switch words.first {
      case "not": words = [name, "not", "null"]
      case "unique": words = ["unique", "(", name, ")"]
      case "primary": words = ["primary", "key", "(", name, ")"]
      default: break
      }
    }
    conflictClauses.append(ConflictClause(constraint: words, resolution: resolution))
  }

  /// Reads what begins at a token, and returns where the next begins.
  private mutating func readClause(
    _ tokens: [SQLPiece], at index: Int, _ column: inout ColumnSchema
  ) -> Int {
    let token = tokens[index]
    let next = index + 1 < tokens.count ? tokens[index + 1] : nil
    if token.isWord("constraint") { return index + 2 }
    if token.isWord("collate") {
      column.collation = next?.name
      return index + 2
    }
    if token.isWord("references") {
      areDeferred.append(false)
      column.isReference = true
    }
    if token.isWord("initially"), next?.isWord("deferred") == true, !areDeferred.isEmpty {
      areDeferred[areDeferred.count - 1] = !isNotDeferrable(tokens, before: index)
      return index + 2
    }
    let opensGroup = next?.isSymbol("(") == true
    if opensGroup, token.isWord("check") || token.isWord("as"),
      let group = tokens.group(from: index)
    {
      if token.isWord("check") {
        checks.append(group.tokens.text)
        column.checks.append(group.tokens.text)
      }
      if token.isWord("as") { column.generatedSQL = group.tokens.text }
      return group.end + 1
    }
    if token.isSymbol("("), let group = tokens.group(from: index) { return group.end + 1 }
    return index + 1
  }

  /// NOT DEFERRABLE INITIALLY DEFERRED isn't.
  private func isNotDeferrable(_ tokens: [SQLPiece], before index: Int) -> Bool {
    index >= 2 && tokens[index - 1].isWord("deferrable") && tokens[index - 2].isWord("not")
  }
}

/// An [ON CONFLICT clause](https://www.sqlite.org/lang_conflict.html) of a constraint: statements
/// that don't say what they do about rows that break it leave them out, or replace others.
package struct ConflictClause: Hashable, Sendable {
  /// The constraint's words and names, in the form that it has after the columns.
  let constraint: [String]
  /// What happens, in small letters.
  let resolution: String

  package var sql: String {
    constraint.joined(separator: " ") + " ON CONFLICT " + resolution.uppercased()
  }

  /// Whether a NULL in a column becomes the column's default.
  package func replacesNull(in column: String) -> Bool {
    resolution == "replace"
      && constraint == [String(decoding: column.foldedName, as: UTF8.self), "not", "null"]
  }
}
