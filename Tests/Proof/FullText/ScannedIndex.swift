import Larder

/// An index, and what its tokenizer makes of texts: FTS5 tells the terms of what is in a table.
struct ScannedIndex {
  let name: String
  let index: FullTextIndex<Note>
  private let tokenizer: FullTextTokenizer

  init(_ named: (name: String, tokenizer: FullTextTokenizer), _ db: Database) throws {
    name = named.name
    tokenizer = named.tokenizer
    index = FullTextIndex(
      of: Note.self, \.title, \.body, named: named.name, tokenizer: named.tokenizer,
      prefixes: name == "plain" ? [1, 3] : [])
    try index.create(db)
    let probe = FullTextIndex(
      of: Probe.self, \.text, named: "\(name)_probe", tokenizer: tokenizer, storage: .copied)
    let sql = try probe.schema()[0]
    try sql.create(db)
    for table in [name, "\(name)_probe"] {
      try db.executeStatements(
        SQL(
          raw: "CREATE VIRTUAL TABLE temp.\(table)_terms USING fts5vocab(main, \(table), instance)")
      )
    }
  }

  /// The terms of all rows.
  func notes(_ db: Database) throws -> [Int64: ScannedNote] {
    var notes: [Int64: ScannedNote] = [:]
    for note in try Note.fetchAll(db) { notes[note.id ?? 0] = ScannedNote() }
    let rows = try db.executeQuery(
      SQL(raw: "SELECT doc, col, offset, CAST(term AS BLOB) FROM temp.\(name)_terms"))
    try rows.forEach { row in
      let column = try row.get(at: 1, as: String.self) == "title" ? 0 : 1
      let place = try row.get(at: 2, as: Int.self)
      var note = notes[try row.get(at: 0, as: Int64.self)] ?? ScannedNote()
      while note.columns[column].count <= place { note.columns[column].append([]) }
      note.columns[column][place].insert(try row.get(at: 3, as: [UInt8].self))
      notes[try row.get(at: 0, as: Int64.self)] = note
    }
    return notes
  }

  /// The terms of texts, and of their words, that are looked for.
  func terms(of texts: [String], _ db: Database) throws -> [String: [[UInt8]]] {
    let parts = Array(
      Set(texts.flatMap { [$0.withoutNUL] + $0.words.map(\.withoutNUL) }.map(Key.init)))
    var places: [[Set<[UInt8]>]] = Array(repeating: [], count: parts.count)
    let probe = SQL(raw: "\(name)_probe")
    for (id, part) in parts.enumerated() {
      try db.executeUpdate("INSERT INTO \(probe) (rowid, text) VALUES (\(id), \(part.text))")
    }
    let rows = try db.executeQuery(
      "SELECT doc, offset, CAST(term AS BLOB) FROM temp.\(probe)_terms")
    try rows.forEach { row in
      let (id, place) = (try row.get(at: 0, as: Int.self), try row.get(at: 1, as: Int.self))
      while places[id].count <= place { places[id].append([]) }
      places[id][place].insert(try row.get(at: 2, as: [UInt8].self))
    }
    try db.executeUpdate("DELETE FROM \(probe)")
    var terms: [String: [[UInt8]]] = [:]
    for (part, places) in zip(parts, places) { terms[part.bytes] = wanted(places) }
    return terms
  }

  /// Of pairs and single characters, what is looked for: a character alone, or all pairs of a run.
  private func wanted(_ places: [Set<[UInt8]>]) -> [[UInt8]] {
    places.indices.compactMap { place in
      let longest = places[place].max { $0.count < $1.count }
      let before = place > 0 ? places[place - 1].count : 0
      return places[place].count == 1 && before == 2 ? nil : longest
    }
  }

  func refuses(_ scan: Scan) -> Bool {
    name == "parts" && scan.phrases.contains { $0.text.unicodeScalars.count < 3 }
  }

  /// Patterns of a text, and what they mean.
  func patterns(
    _ text: String, _ terms: [String: [[UInt8]]], _ random: inout some RandomNumberGenerator
  ) -> [(FullTextPattern, Scan)] {
    func phrase(_ part: String, prefix: Bool = false) -> ScannedPhrase {
      ScannedPhrase(
        terms: terms[Key(part.withoutNUL).bytes] ?? [], isPrefix: prefix, text: part)
    }
    let words = text.words
    let distance = Int.random(in: 0...4, using: &random)
    let all = (FullTextPattern.all(of: text), Scan.all(words.map { phrase($0) }))
    let begins = (
      FullTextPattern.allPrefixes(of: text), Scan.all(words.map { phrase($0, prefix: true) })
    )
    let whole = (FullTextPattern.phrase(text), Scan.all([phrase(text)]))
    var patterns = [
      all, begins, whole, (.any(of: text), .any(words.map { phrase($0) })),
      (.phrase(text, prefix: true), .all([phrase(text, prefix: true)])),
      (all.0.in(Note.columns.body), .column(1, all.1)),
      (begins.0.in(Note.columns.title).or(whole.0), .or(.column(0, begins.1), whole.1)),
      (all.0.and(begins.0.in(Note.columns.title, Note.columns.body)), .and(all.1, begins.1)),
    ]
    if words.count > 1 {
      patterns.append(
        (
          .near(words[0], words[words.count - 1], distance: distance),
          .near([phrase(words[0]), phrase(words[words.count - 1])], distance)
        ))
    }
    return patterns
  }

  /// A text by its bytes: Swift takes several spellings for equal.
  private struct Key: Hashable {
    let text: String
    let bytes: String

    init(_ text: String) {
      self.text = text
      bytes = text.utf8.map { String($0, radix: 16) }.joined(separator: " ")
    }

    static func == (left: Key, right: Key) -> Bool { left.bytes == right.bytes }
    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }
}

extension String {
  fileprivate var withoutNUL: String { replacing("\0", with: " ") }

  /// The parts between spaces and control characters.
  fileprivate var words: [String] {
    unicodeScalars.split { $0.properties.isWhitespace || $0.value < 0x20 }.map { String($0) }
  }
}

private struct Probe: Record {
  var id: Int64?
  var text: String

  struct Columns: Sendable {
    let id = Column("id", \Probe.id, .primaryKey)
    let text = Column("text", \Probe.text)
  }
  static let columns = Columns()
  static let table = Table("probe", Probe.init, columns.id, columns.text)
}
