import Larder
import LarderSQLite

// Full text by text search vectors instead of FTS5: a column that the server computes, with an inverted
// index. See [Full Text Search](https://www.postgresql.org/docs/15/textsearch.html).

extension FullTextDefinition {
  /// The error if the engine doesn't support the index; nil if it does.
  var vectorRefusal: UnsupportedByEngine? {
    switch tokenizer.kind {
    case .unicode61, .ascii, .bigram: nil
    case .trigram, .custom:
      PostgresDefinitions.unsupported("the full-text tokenizer “\(tokenizer.words[0])”")
    }
  }

  /// The text search configuration: `english` has stems and stop words, `simple` has neither.
  fileprivate var configuration: SQLFragment {
    if case .unicode61(_, stems: true) = tokenizer.kind { "'english'" } else { "'simple'" }
  }

  /// The characters of Chinese, Japanese and Korean, each of which is a word of `.bigram`.
  fileprivate static var characters: String {
    "[\\u3005-\\u3007\\u3040-\\u312f\\u3400-\\u9fff\\uac00-\\ud7ff\\uf900-\\ufaff]"
  }

  /// A text reduced to its words, in small letters and between spaces.
  fileprivate func normalized(_ text: SQLFragment) -> SQLFragment {
    var text = text
    switch tokenizer.kind {
    case .unicode61(removesDiacritics: true, _), .bigram:
      text = "regexp_replace(normalize(\(text), NFKD), '[\\u0300-\\u036f]', '', 'g')"
    default: break
    }
    if tokenizer.kind == .bigram {
      // Each character becomes a word: parts of a run are phrases.
      text =
        "regexp_replace(normalize(\(text), NFC), '(\(text: Self.characters))', ' \\1 ', 'g')"
    }
    return """
      regexp_replace(lower(\(text) COLLATE "und-x-icu"), '[^[:alnum:]]+', ' ', 'g')
      """
  }

  /// The definition of the vector column: the words of each column, marked by its letter from A to D.
  fileprivate var vector: SQLFragment {
    let parts = columns.map { column -> SQLFragment in
      let text = normalized("coalesce(\(name: column), '')")
      return "setweight(to_tsvector(\(configuration), \(text)), '\(text: letter(of: column))')"
    }
    return .list(parts, separator: " || ")
  }

  fileprivate func letter(of column: String) -> String {
    ["A", "B", "C", "D"][min(columns.firstIndex(of: column) ?? 0, 3)]
  }

}

extension PostgresDefinitions {
  func create(_ index: FullTextDefinition, _ db: Database) throws {
    if let refusal = index.vectorRefusal { throw refusal }
    try db.executeUpdate(
      SQL(
        raw: """
          ALTER TABLE \(index.quotedTable) ADD COLUMN \(index.quotedName) tsvector \
          GENERATED ALWAYS AS (\(index.vector.sql().text)) STORED
          """))
    try db.executeUpdate(
      SQL(
        raw: """
          CREATE INDEX \("\(index.name)_index".quotedIdentifier) ON \(index.quotedTable) \
          USING gin (\(index.quotedName))
          """))
  }

  func drop(_ index: FullTextDefinition, ifExists: Bool, _ db: Database) throws {
    try db.executeUpdate(
      SQL(
        raw: """
          ALTER TABLE \(index.quotedTable) \
          DROP COLUMN \(ifExists ? "IF EXISTS " : "")\(index.quotedName)
          """))
  }

  func indexes(of table: TableSchema, _ db: Database) throws -> [(name: String, sql: String)] {
    try db.executeQuery(
      """
      SELECT a.attname::text, pg_get_expr(d.adbin, d.adrelid)
      FROM pg_attribute AS a JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = \(table.quotedName)::text::regclass AND a.attgenerated = 's'
        AND a.atttypid = 'tsvector'::regtype AND NOT a.attisdropped
      ORDER BY a.attnum
      """
    ).map { (try $0.get(at: 0), try $0.get(at: 1)) }
  }

  func differences(of index: FullTextDefinition, _ db: Database) throws -> [TableDifference] {
    if let refusal = index.vectorRefusal { throw refusal }
    if try db.columnExists(index.name, in: index.table, of: index.schema) { return [] }
    return [
      TableDifference(
        kind: .column, table: index.table, column: index.name, declared: index.vector.sql().text,
        found: nil)
    ]
  }
}

extension FullTextSearch {
  /// A part of the search, in place of a fragment of FTS5's.
  func vectors(_ part: Part.Kind, _ original: SQLFragment) -> SQLFragment {
    if part != .table, let error = refusal ?? index.vectorRefusal { return .refused(error) }
    switch part {
    case .table: return original
    case .matches: return matches(pattern, nil)
    case .rank(let weights): return vectorRank(weights)
    case .marked(let column, let start, let end, let tokens):
      var options = "StartSel=\(quoted(start)), StopSel=\(quoted(end))"
      options +=
        tokens.map { ", MaxWords=\(max($0, 2)), MinWords=\(max($0 - 1, 1)), ShortWord=0" }
        ?? ", HighlightAll=true"
      return marked(column, start, end, options)
    }
  }

  /// A column's text with marks. For `.bigram`, a control character separates the characters that are words, since
  /// the server would take a run of them for one word: it would find nothing in it, and cut nothing off it.
  private func marked(
    _ column: String, _ start: String, _ end: String, _ options: String
  ) -> SQLFragment {
    var text: SQLFragment = "coalesce(\(self.column(column)), '')"
    let isSeparated = index.tokenizer.kind == .bigram
    if isSeparated {
      text = """
        regexp_replace(\(text), '(\(text: FullTextDefinition.characters))', \
        chr(1) || '\\1' || chr(1), 'g')
        """
    }
    let marked: SQLFragment = """
      ts_headline(\(index.configuration), \(text), \(query(pattern, nil)), \
      \(SQLFragment(value: options)))
      """
    guard isSeparated else { return marked }
    // Marks of characters beside each other become one.
    let (start, end) = (SQLFragment(value: start), SQLFragment(value: end))
    return """
      replace(replace(\(marked), CAST(\(end) AS text) || chr(1) || chr(1) || CAST(\(start) AS text), ''), \
      chr(1), '')
      """
  }

  private func quoted(_ mark: String) -> String { mark.quoted(by: UInt8(ascii: "\"")) }

  private var vector: SQLFragment { column(index.name) }

  /// The negated rank, since in FTS5, too, lower is better.
  private func vectorRank(_ weights: [Double]) -> SQLFragment {
    // The last letter stands for all further columns.
    var weights = Array((weights + [1, 1, 1, 1]).prefix(4))
    let largest = weights.max() ?? 1
    guard largest > 0, weights.allSatisfy({ $0 >= 0 }) else {
      return .unsupported("negative weights in a rank")
    }
    weights = weights.map { $0 / largest }
    let list = weights.reversed().map { "\(Float($0))" }.joined(separator: ",")
    return """
      CAST(-ts_rank('{\(text: list)}', \(vector), \(query(pattern, nil))) AS DOUBLE PRECISION)
      """
  }

  /// - Parameter letters: the letters of the columns to search in; nil for all.
  func matches(_ node: FullTextPattern.Node, _ letters: Set<String>?) -> SQLFragment {
    switch node {
    case .and(let nodes): joined(nodes.map { matches($0, letters) }, by: " AND ")
    case .or(let nodes): joined(nodes.map { matches($0, letters) }, by: " OR ")
    case .columns(let names, let node): matches(node, narrowed(letters, names))
    case .words, .phrase, .near, .raw, .tooDeep: "(\(vector) @@ \(query(node, letters)))"
    }
  }

  private func joined(_ parts: [SQLFragment], by operation: StaticString) -> SQLFragment {
    "(\(.list(parts, separator: operation)))"
  }

  private func narrowed(_ letters: Set<String>?, _ names: [String]) -> Set<String> {
    let own = Set(names.map { index.letter(of: $0) })
    return letters.map(own.intersection) ?? own
  }

  private func query(_ node: FullTextPattern.Node, _ letters: Set<String>?) -> SQLFragment {
    switch node {
    case .words(let words, let isAny, let isPrefix):
      return self.words(words, isAny, isPrefix, letters)
    case .phrase(let text, let isPrefix): return phrase(text, isPrefix, letters)
    case .and(let nodes): return joined(nodes.map { query($0, letters) }, by: " && ")
    case .or(let nodes): return joined(nodes.map { query($0, letters) }, by: " || ")
    case .columns(let names, let node):
      guard index.columns.count <= 4 else {
        return .unsupported("searching some of the columns of an index that has more than four")
      }
      return query(node, narrowed(letters, names))
    case .near: return .unsupported("searching for phrases near each other")
    case .raw: return .unsupported("FTS5's syntax")
    case .tooDeep: return nothing
    }
  }

  private var nothing: SQLFragment { "CAST('' AS tsquery)" }

  private func phrase(_ text: String, _ isPrefix: Bool, _ letters: Set<String>?) -> SQLFragment {
    if letters?.isEmpty == true { return nothing }
    let text = SQLFragment(value: text.replacing("\0", with: " "))
    return "CAST(\(words(of: text, isPrefix, letters)) AS tsquery)"
  }

  /// A query for the words of a list, which is one value, except those without a letter or digit.
  private func words(
    _ words: [String], _ isAny: Bool, _ isPrefix: Bool, _ letters: Set<String>?
  ) -> SQLFragment {
    if letters?.isEmpty == true { return nothing }
    let list = SQLFragment(value: words.joined(separator: " "))
    let sign: SQLFragment = isAny ? "' | '" : "' & '"
    return """
      (SELECT CAST(coalesce(string_agg('(' || words || ')', \(sign)), '') AS tsquery) \
      FROM (SELECT \(self.words(of: "word", isPrefix, letters)) AS words \
      FROM regexp_split_to_table(\(list), ' ') AS word) AS query WHERE words <> '')
      """
  }

  /// A query for the words of a text one after the other, as text. Each word stands in quotes, behind which
  /// the sign of a prefix and the columns' letters are added.
  private func words(
    of text: SQLFragment, _ isPrefix: Bool, _ letters: Set<String>?
  ) -> SQLFragment {
    var words: SQLFragment =
      "CAST(phraseto_tsquery(\(index.configuration), \(index.normalized(text))) AS TEXT)"
    if let letters {
      let list = letters.sorted().joined()
      words = "regexp_replace(\(words), '''([^'']+)''', '''\\1'':\(text: list)', 'g')"
      if isPrefix { words = "regexp_replace(\(words), '(.)$', '\\1*')" }
    } else if isPrefix {
      words = "regexp_replace(\(words), '''$', ''':*')"
    }
    return words
  }
}
