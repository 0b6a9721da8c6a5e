import LarderSQLite

/// What only the text of a CREATE TABLE tells, for which SQLite has no PRAGMA: CHECK constraints,
/// collations, the expressions of generated columns, and which foreign keys are deferred.
///
/// The text is SQLite's own, of a table that is there: it follows
/// [the syntax](https://www.sqlite.org/lang_createtable.html).
struct CreateTableParser {
  struct Column {
    var collation: String?
    var generatedSQL: String?
  }

  /// By the folded name.
  private(set) var columns: [[UInt8]: Column] = [:]
  private(set) var checks: [String] = []
  /// One for each foreign key, in the order of the text.
  private(set) var areDeferred: [Bool] = []
  private(set) var isAutoincrement = false

  init(_ sql: String) {
    let pieces = sql.meaningfulPieces
    guard let body = pieces.group(from: 0) else { return }
    // As a word of its own, it is nothing else: as a name it has to be in quotes.
    isAutoincrement = body.pieces.contains { $0.isWord("autoincrement") }
    for definition in body.pieces.splitAtCommas() { read(definition) }
  }

  private static let constraintWords = ["constraint", "primary", "unique", "check", "foreign"]

  private mutating func read(_ definition: [SQLPiece]) {
    guard let first = definition.first else { return }
    let isConstraint = Self.constraintWords.contains(where: first.isWord)
    var column = Column()
    // The name of a column may be any word.
    var index = isConstraint ? 0 : 1
    while index < definition.count {
      index = readClause(definition, at: index, &column)
    }
    if !isConstraint, let name = first.identifier { columns[name.foldedName] = column }
  }

  /// Reads what begins at a piece, and returns where the next begins.
  private mutating func readClause(
    _ pieces: [SQLPiece], at index: Int, _ column: inout Column
  ) -> Int {
    let piece = pieces[index]
    let next = index + 1 < pieces.count ? pieces[index + 1] : nil
    if piece.isWord("constraint") { return index + 2 }
    if piece.isWord("collate") {
      column.collation = next?.identifier
      return index + 2
    }
    if piece.isWord("references") { areDeferred.append(false) }
    if piece.isWord("initially"), next?.isWord("deferred") == true, !areDeferred.isEmpty {
      areDeferred[areDeferred.count - 1] = !isNotDeferrable(pieces, before: index)
      return index + 2
    }
    let opensGroup = next?.isSymbol("(") == true
    if opensGroup, piece.isWord("check") || piece.isWord("as"),
      let group = pieces.group(from: index)
    {
      if piece.isWord("check") { checks.append(group.pieces.text) }
      if piece.isWord("as") { column.generatedSQL = group.pieces.text }
      return group.end + 1
    }
    if piece.isSymbol("("), let group = pieces.group(from: index) { return group.end + 1 }
    return index + 1
  }

  /// NOT DEFERRABLE INITIALLY DEFERRED isn't.
  private func isNotDeferrable(_ pieces: [SQLPiece], before index: Int) -> Bool {
    index >= 2 && pieces[index - 1].isWord("deferrable") && pieces[index - 2].isWord("not")
  }
}
