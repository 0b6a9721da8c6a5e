import FoundationEssentials
import Larder
import LarderTerminal
import Synchronization

/// Stand-ins for the collations, tokenizers and functions of the program that made a file, so that the file can
/// be read without it.
///
/// Texts are compared, or split, in the most usual way. That is right for reading rows, but an index in the
/// program's order may not be searched correctly, and must never be written: only connections that read
/// have stand-ins. Nothing can stand in for a function's results, so calling one is an error that names it.
final class StandIns: Sendable {
  private let used = Mutex<(names: [String], told: Int)>(([], 0))

  init() {}

  func install(on db: Database) throws {
    try db.createCollation { name in
      // In a file in UTF-16 SQLite asks for its own collations, too, and makes them itself if there are none.
      guard !Self.ownCollations.contains(name.lowercased()) else { return nil }
      self.used.withLock { if !$0.names.contains(name) { $0.names.append(name) } }
      return { Self.order($0.lowercased(), $1.lowercased()) }
    }
    // In a damaged file, the command itself will meet the error.
    let statements = try? db.executeQuery(
      "SELECT sql FROM main.sqlite_schema WHERE sql LIKE '%(%'"
    ).map { try $0.get(at: 0, as: String.self).sqlTokens }
    guard let statements else { return }
    let tokenizers = Set(statements.flatMap(Self.tokenizers))
    for name in tokenizers.sorted() { try db.createTokenizer(name, Self.words) }
    for name in try Self.functions(in: statements, db) {
      try db.createFunction(name, directOnly: false) { _ in
        throw DatabaseError(.error, "the function \(name) \(DatabaseError.isOnlyInProgram)")
      }
    }
  }

  /// A remark about the collations that statements have used since the last one; nil if there were none.
  var newRemark: String? {
    let names = used.withLock { used in
      defer { used.told = used.names.count }
      return used.names.dropFirst(used.told)
    }
    guard !names.isEmpty else { return nil }
    let list = names.map { "“\($0.printable)”" }.joined(separator: ", ")
    return
      "\(names.count == 1 ? "the collation \(list) belongs" : "the collations \(list) belong") to the program"
      + " that made the file: here texts are compared without regard to case instead"
  }

  /// SQLite's own collations.
  static let ownCollations = ["binary", "nocase", "rtrim"]

  private static func order(_ left: String, _ right: String) -> ComparisonResult {
    left == right
      ? .orderedSame
      : left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        ? .orderedAscending : .orderedDescending
  }

  // MARK: Functions

  /// The functions that the statements call, and SQLite doesn't have.
  private static func functions(
    in statements: [[SQLPiece]], _ db: Database
  ) throws -> [String] {
    let called = Set(statements.flatMap(\.calls).map { $0.lowercased() })
    guard !called.isEmpty else { return [] }
    let known: [String] = try db.executeQuery("SELECT DISTINCT name FROM pragma_function_list")
      .map { try $0.get(at: 0) }
    return called.subtracting(known.map { $0.lowercased() }).filter { name in
      // SQLite's limit for names of functions.
      (1...255).contains(name.utf8.count) && !name.utf8.contains(0)
    }.sorted()
  }

  // MARK: Tokenizers

  private static let builtIn = ["unicode61", "ascii", "porter", "trigram", "bigram"]

  /// The tokenizers of an FTS5 table's statement that SQLite doesn't have.
  private static func tokenizers(in tokens: [SQLPiece]) -> [String] {
    guard tokens.prefix(2).last?.isWord("virtual") == true,
      let using = tokens.firstIndex(where: { $0.isWord("using") }),
      using + 1 < tokens.count, tokens[using + 1].isWord("fts5"),
      let options = tokens.group(from: using)?.tokens.splitAtCommas(),
      let option = options.first(where: {
        $0.count >= 3 && $0[0].isWord("tokenize") && $0[1].isSymbol("=")
      })
    else { return [] }
    // The option is one text, such as 'porter unicode61', or several words.
    let words = option.dropFirst(2).compactMap(\.name).flatMap { $0.split(separator: " ") }
    let first = words.first.map { $0.lowercased() }
    let names = first == "porter" ? words.prefix(2) : words.prefix(1)
    return names.map(String.init).filter {
      !$0.isEmpty && !$0.utf8.contains(0) && !builtIn.contains($0.lowercased())
    }
  }

  @Sendable
  private static func words(
    of text: String, isQuery: Bool
  ) -> [(term: String, range: Range<Int>)] {
    let bytes = text.utf8
    return text.split { !$0.isLetter && !$0.isNumber }.map { word in
      let start = bytes.distance(from: bytes.startIndex, to: word.startIndex)
      return (word.lowercased(), start..<start + word.utf8.count)
    }
  }
}

extension [SQLPiece] {
  /// The names before a parenthesis that may be those of functions, and not of tables or types.
  fileprivate var calls: [String] {
    indices.dropLast().compactMap { index in
      guard self[index + 1].isSymbol("("), let name = self[index].identifier else { return nil }
      if index > 0, self[index - 1].name != nil {
        // A type or a table follows a name; a function follows a symbol or one of these words.
        guard Self.beforeExpressions.contains(where: { self[index - 1].isWord($0) }) else {
          return nil
        }
      }
      return Self.beforeParentheses.contains { self[index].isWord($0) } ? nil : name
    }
  }

  /// The words before an expression.
  private static let beforeExpressions = [
    "all", "and", "as", "between", "by", "case", "check", "distinct", "else", "escape", "from",
    "glob", "having", "is", "in", "join", "like", "limit", "match", "not", "offset", "on", "or",
    "regexp", "returning", "select", "set", "then", "values", "when", "where",
  ]
  /// The words before a parenthesis that are no functions.
  private static let beforeParentheses = [
    "all", "and", "as", "between", "by", "case", "check", "distinct", "else", "escape", "exists",
    "from", "having", "in", "is", "join", "limit", "not", "offset", "on", "or", "over", "filter",
    "returning", "select", "set", "then", "using", "values", "when", "where", "always", "key",
    "unique", "conflict", "materialized", "raise",
  ]
}

// MARK: What depends on the program

extension SchemaEntry {
  /// The collations that the statement names, and SQLite doesn't have.
  var foreignCollations: [String] {
    let tokens = sql?.sqlTokens ?? []
    return zip(tokens, tokens.dropFirst()).compactMap { word, name in
      guard word.isWord("collate"), let name = name.name,
        !StandIns.ownCollations.contains(name.lowercased())
      else { return nil }
      return name
    }
  }
}

extension TableSchema {
  /// The computed columns that can't be read, since they call a function that only another program has, with
  /// the reason. Stored ones can.
  func unreadableColumns(in db: Database) throws -> [(name: String, reason: String)] {
    let computed = columns.filter { $0.generated != nil && !$0.isStored }
    var found: [(name: String, reason: String)] = []
    var count = -1
    // A column may be computed from another such column: repeats until no more are found.
    while count < found.count {
      count = found.count
      for column in computed where !found.contains(where: { $0.name == column.name }) {
        let tokens = (column.generated ?? "").sqlTokens
        if let other = found.first(where: { other in
          tokens.contains { $0.name.map(other.name.isSameName) ?? false }
        }) {
          found.append((column.name, other.reason))
        } else if let reason = try db.reasonAgainst(callsIn: tokens) {
          found.append((column.name, reason))
        }
      }
    }
    return found
  }
}

extension Database {
  /// The reason why one of the functions that SQL calls can't be called; nil if all can.
  func reasonAgainst(callsIn tokens: [SQLPiece]) throws -> String? {
    for name in tokens.calls {
      if let reason = try reasonAgainst(name) { return reason }
    }
    return nil
  }

  /// The reason why a function can't be called; nil if it can, or fails only for its arguments.
  private func reasonAgainst(_ function: String) throws -> String? {
    do {
      _ = try value(SQL(raw: "SELECT \(function.quotedIdentifier)()"), as: DatabaseValue.self)
      return nil
    } catch let error as DatabaseError where !error.isInterrupt {
      return error.isOfOtherProgram ? error.message : nil
    } catch is ConversionError {
      return nil
    }
  }
}

extension DatabaseError {
  /// The end of a stand-in's message.
  fileprivate static let isOnlyInProgram = "is only in the program that made the file"

  /// Whether a statement can't run because it uses something that only another program has.
  var isOfOtherProgram: Bool {
    code == .error
      && [
        Self.isOnlyInProgram, "no such function", "unknown function", "no such collation",
        "no such module", "no such tokenizer", "unknown tokenizer", "unsafe use of",
      ].contains { message.contains($0) }
  }
}
