/// Reads from a CREATE TABLE what SQLite has no PRAGMA for: CHECK constraints, collations, the expressions of
/// generated columns, and which foreign keys are deferred.
///
/// The text is SQLite's own, of an existing table, so it follows
/// [the syntax](https://www.sqlite.org/lang_createtable.html).
struct CreateTableParser {
  /// The columns, as far as the text describes them, by folded name.
  private(set) var columns: [[UInt8]: ColumnSchema] = [:]
  private(set) var checks: [String] = []
  /// The table constraints, which stand after the columns.
  private(set) var constraints: [String] = []
  /// Whether each foreign key is deferred, in the order of the text.
  private(set) var areDeferred: [Bool] = []
  private(set) var isAutoincrement = false
  private(set) var conflictClauses: [ConflictClause] = []
  private var constraintStart = 0

  init(_ sql: String) {
    let tokens = sql.sqlTokens
    guard tokens.dropFirst().first?.isWord("virtual") != true, let body = tokens.group(from: 0)
    else { return }
    // AUTOINCREMENT as a bare word is always the keyword: as a name it has to be in quotes.
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
    // A column's name may be any word, so that it is skipped.
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

  /// Reads ON CONFLICT, which belongs to the constraint before it. ABORT is the default, and left out.
  private mutating func readConflictClause(_ tokens: [SQLPiece], at index: Int, column: String?) {
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

  /// Reads the clause that begins at a token, and returns the index of the next one.
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
      if token.isWord("as") { column.generated = group.tokens.text }
      return group.end + 1
    }
    if token.isSymbol("("), let group = tokens.group(from: index) { return group.end + 1 }
    return index + 1
  }

  /// Whether NOT DEFERRABLE stands before INITIALLY DEFERRED: such a key isn't deferred.
  private func isNotDeferrable(_ tokens: [SQLPiece], before index: Int) -> Bool {
    index >= 2 && tokens[index - 1].isWord("deferrable") && tokens[index - 2].isWord("not")
  }
}

/// An [ON CONFLICT clause](https://www.sqlite.org/lang_conflict.html) of a constraint. It says what happens
/// to rows that break the constraint if the statement doesn't, such as IGNORE or REPLACE.
package struct ConflictClause: Hashable, Sendable {
  /// The constraint's normalized tokens, in the form of a table constraint.
  let constraint: [String]
  /// The conflict resolution in lower case, such as `replace`.
  let resolution: String

  package var sql: String {
    constraint.joined(separator: " ") + " ON CONFLICT " + resolution.uppercased()
  }

  package func replacesNull(in column: String) -> Bool {
    resolution == "replace"
      && constraint == [String(decoding: column.foldedName, as: UTF8.self), "not", "null"]
  }
}
