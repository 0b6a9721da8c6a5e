import LarderSQLite

/// A pattern to search for in a ``FullTextIndex``.
///
/// ```swift
/// .allPrefixes(of: userInput)                       // what people type: any text, in any language
/// .phrase("new york").or(.phrase("nyc"))
/// .phrase("bern").in(City.columns.name).and(.all(of: "capital switzerland"))
/// ```
///
/// Texts have no syntax: no character has a special meaning, and no text is a syntax error. A pattern without
/// a word in it, such as `?!`, finds nothing. A pattern of more than 10,000 bytes, or with more than 20
/// levels of nested parts, throws ``LarderSQLite/DatabaseError`` (`ResultCode.tooBig`) when it is run.
public struct FullTextPattern: Hashable, Sendable {
  let node: Node

  package indirect enum Node: Hashable, Sendable {
    case words([String], isAny: Bool, isPrefix: Bool)
    case phrase(String, isPrefix: Bool)
    case near([String], Int)
    case columns([String], Node)
    case and([Node]), or([Node])
    case raw(String)
    /// A pattern that was nested too deeply.
    case tooDeep
  }

  /// The greatest number of levels, for which FTS5's parser has room.
  static let deepest = 20

  private init(_ node: Node) { self.node = node.depth > Self.deepest ? .tooDeep : node }

  /// Rows with every word of a text, which is split at spaces. A word that the index's tokenizer splits into
  /// several terms, such as `what's`, is a phrase.
  public static func all(of text: String) -> FullTextPattern {
    FullTextPattern(.words(words(text), isAny: false, isPrefix: false))
  }

  /// Rows with at least one word of a text.
  public static func any(of text: String) -> FullTextPattern {
    FullTextPattern(.words(words(text), isAny: true, isPrefix: false))
  }

  /// Rows that have, for each word of a text, a word that begins with it: for search as you type. See
  /// `prefixes` of ``FullTextIndex/init(of:_:named:tokenizer:prefixes:weights:storage:detail:sizes:)``.
  public static func allPrefixes(of text: String) -> FullTextPattern {
    FullTextPattern(.words(words(text), isAny: false, isPrefix: true))
  }

  /// Rows with the words of a text one after the other.
  ///
  /// - `prefix`: whether the last word is only the beginning of one.
  public static func phrase(_ text: String, prefix: Bool = false) -> FullTextPattern {
    FullTextPattern(.phrase(text, isPrefix: prefix))
  }

  /// Rows with several phrases near each other in one column, with no more than `distance` words between the
  /// first and the last. See [NEAR](https://www.sqlite.org/fts5.html#fts5_near_queries).
  public static func near(_ phrases: String..., distance: Int = 10) -> FullTextPattern {
    FullTextPattern(.near(phrases, max(0, distance)))
  }

  /// A pattern in FTS5's own [syntax](https://www.sqlite.org/fts5.html#full_text_query_syntax), not for
  /// users' text: a syntax error or a NUL throws ``LarderSQLite/DatabaseError`` when it is run.
  public init(raw text: String) { self.init(.raw(text)) }

  /// This pattern in some columns of the index only.
  public func `in`<R, each Value>(_ columns: repeat Column<R, each Value>) -> FullTextPattern {
    FullTextPattern(.columns(columnNames(repeat each columns), node))
  }

  // Methods, not operators: with these, the compiler would take seconds over a condition that is wrong.

  /// Rows that both patterns find.
  public func and(_ other: FullTextPattern) -> FullTextPattern {
    FullTextPattern(.and(node.conjuncts + other.node.conjuncts))
  }

  /// Rows that at least one of both patterns finds.
  public func or(_ other: FullTextPattern) -> FullTextPattern {
    FullTextPattern(.or(node.alternatives + other.node.alternatives))
  }

  /// The words between spaces and control characters, each once: searching for one twice costs twice.
  private static func words(_ text: String) -> [String] {
    var seen: Set<[UInt8]> = []
    return text.unicodeScalars.split { $0.properties.isWhitespace || $0.value < 0x20 }
      .map { String($0) }.filter { seen.insert(Array($0.utf8)).inserted }
  }
}

extension FullTextPattern.Node {
  /// The patterns that stand in parentheses inside of this one.
  private var parts: [Self] {
    switch self {
    case .words, .phrase, .near, .raw, .tooDeep: []
    case .columns(_, let node): [node]
    case .and(let nodes), .or(let nodes): nodes
    }
  }

  /// The texts in the pattern, from which terms are made.
  var texts: [String] {
    switch self {
    case .words(let texts, _, _), .near(let texts, _): texts
    case .phrase(let text, _), .raw(let text): [text]
    default: parts.flatMap(\.texts)
    }
  }

  var columns: [String] {
    let inner = parts.flatMap(\.columns)
    return if case .columns(let names, _) = self { names + inner } else { inner }
  }

  /// Whether a part in FTS5's syntax has a NUL, which FTS5 takes for the end.
  var hasRawNUL: Bool {
    if case .raw(let text) = self { return text.utf8.contains(0) }
    return parts.contains(where: \.hasRawNUL)
  }

  var depth: Int {
    if self == .tooDeep { return FullTextPattern.deepest + 1 }
    return parts.map { $0.depth + 1 }.max() ?? 0
  }

  fileprivate var conjuncts: [Self] { if case .and(let nodes) = self { nodes } else { [self] } }

  fileprivate var alternatives: [Self] { if case .or(let nodes) = self { nodes } else { [self] } }

  /// The pattern in FTS5's syntax, in which a text in quotes means only its terms.
  var expression: String {
    switch self {
    case .words([], _, _), .near([], _), .tooDeep: Self.phrase("")
    // Words side by side, not joined by AND: then one without a term is ignored.
    case .words(let words, let isAny, let isPrefix):
      words.map { Self.phrase($0, isPrefix) }.joined(separator: isAny ? " OR " : " ")
    case .phrase(let text, let isPrefix): Self.phrase(text, isPrefix)
    case .near(let phrases, let distance):
      "NEAR(\(phrases.map { Self.phrase($0) }.joined(separator: " ")), \(distance))"
    case .columns(let names, let node):
      "{\(names.map(\.quotedIdentifier).joined(separator: " "))} : (\(node.expression))"
    case .and(let nodes): nodes.map { "(\($0.expression))" }.joined(separator: " AND ")
    case .or(let nodes): nodes.map { "(\($0.expression))" }.joined(separator: " OR ")
    case .raw(let text): text
    }
  }

  private static func phrase(_ text: String, _ isPrefix: Bool = false) -> String {
    text.replacing("\0", with: " ").quotedIdentifier + (isPrefix ? "*" : "")
  }
}
