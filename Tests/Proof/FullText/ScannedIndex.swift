import Larder
import ProofSupport

/// An index, and what its tokenizer makes of texts: FTS5 tells the terms of what is in a table, and some rules
/// are known to Swift.
struct ScannedIndex {
  let name: String
  let storage: FullTextStorage
  let index: FullTextIndex<Note>
  private let tokenizer: FullTextTokenizer
  private let rule: TermRule?

  private init(
    _ name: String, _ tokenizer: FullTextTokenizer, _ rule: TermRule? = nil, prefixes: [Int] = [],
    storage: FullTextStorage = .table, sizes: Bool = true
  ) {
    (self.name, self.tokenizer, self.rule, self.storage) = (name, tokenizer, rule, storage)
    index = FullTextIndex(
      of: Note.self, \.title, \.body, named: name, tokenizer: tokenizer, prefixes: prefixes,
      weights: prefixes.isEmpty ? [] : [3, 1], storage: storage, sizes: sizes)
  }

  static var all: [ScannedIndex] {
    [
      ScannedIndex("plain", .unicode61(), prefixes: [1, 3]),
      ScannedIndex("letters", .unicode61(alsoLetters: "'"), storage: .contentless),
      ScannedIndex("exact", .unicode61(removingDiacritics: false, alsoLetters: "-_'")),
      ScannedIndex("stems", .porter(), storage: .copied),
      ScannedIndex("exact_stems", .porter(removingDiacritics: false, alsoLetters: "_")),
      ScannedIndex("ascii", .ascii, .ascii, sizes: false),
      ScannedIndex("parts", .trigram()),
      ScannedIndex("exact_parts", .trigram(caseSensitive: true), .trigrams, prefixes: [2]),
      ScannedIndex("pairs", .bigram, prefixes: [1]),
      ScannedIndex("words", "words", .words),
    ]
  }

  private var probe: String { "\(name)_probe" }

  /// Makes the index, and what tells its terms.
  func create(_ db: Database) throws -> ScannedIndex {
    try index.create(db)
    let probe = FullTextIndex(
      of: Probe.self, \.text, named: probe, tokenizer: tokenizer, storage: .contentless)
    try probe.schema()[1].create(db)
    for table in [name, self.probe] {
      try db.executeStatements(
        SQL(
          raw: "CREATE VIRTUAL TABLE temp.\(table)_terms USING fts5vocab(main, \(table), instance)")
      )
    }
    return self
  }

  /// The terms of all rows. Throws ``WrongAnswer`` where they aren't those of the rule.
  func notes(_ numbers: inout TermNumbers, _ db: Database) throws -> [ScannedNote] {
    let records = try Note.order { $0.id }.fetchAll(db)
    var notes = records.map { ScannedNote(id: $0.id ?? 0) }
    // The keys are 1, 2, 3 …
    let rows = try db.executeQuery(
      SQL(raw: "SELECT doc, col, offset, CAST(term AS BLOB) FROM temp.\(name)_terms"))
    try rows.forEach { row in
      let note = try row.get(at: 0, as: Int.self) - 1
      let column = try row.get(at: 1, as: String.self) == "title" ? 0 : 1
      let place = try row.get(at: 2, as: Int.self)
      let missing = place + 1 - notes[note].columns[column].count
      if missing > 0 { notes[note].columns[column] += Array(repeating: [], count: missing) }
      notes[note].columns[column][place].append(
        numbers.number(of: try row.get(at: 3, as: [UInt8].self)))
    }
    for (record, note) in zip(records, notes) {
      try check(record.title, note.columns[0], &numbers)
      try check(record.body ?? "", note.columns[1], &numbers)
    }
    return notes
  }

  private func check(_ text: String, _ found: [[Int32]], _ numbers: inout TermNumbers) throws {
    guard let rule, rule.isSure(of: text) else { return }
    let expected = rule.terms(of: text, isQuery: false).map { terms in
      Set(terms.map { numbers.number(of: Array($0.utf8)) })
    }
    guard found.map(Set.init) == expected else {
      throw WrongAnswer(description: "\(name): other terms of \(text.debugDescription)")
    }
  }

  /// The terms of texts, and of their words, that are looked for.
  func terms(
    of texts: [String], _ numbers: inout TermNumbers, _ db: Database
  ) throws -> [TextBytes: [Int32]] {
    let parts = Array(
      Set(texts.flatMap { [$0.withoutNUL] + $0.words.map(\.withoutNUL) }.map(TextBytes.init)))
    var terms: [TextBytes: [Int32]] = [:]
    if let rule {
      for part in parts {
        terms[part] = rule.terms(of: part.text, isQuery: true).map {
          numbers.number(of: Array($0[0].utf8))
        }
      }
      return terms
    }
    for (part, places) in zip(parts, try probed(parts, db)) {
      terms[part] = wanted(places).map { numbers.number(of: $0) }
    }
    return terms
  }

  /// What FTS5 makes of texts, in a table that is empty again afterwards.
  private func probed(_ parts: [TextBytes], _ db: Database) throws -> [[[[UInt8]]]] {
    var places: [[[[UInt8]]]] = Array(repeating: [], count: parts.count)
    let probe = SQL(raw: probe)
    try db.inTransaction { db in
      for (id, part) in parts.enumerated() {
        try db.executeUpdate("INSERT INTO \(probe) (rowid, text) VALUES (\(id), \(part.text))")
      }
      let rows = try db.executeQuery(
        "SELECT doc, offset, CAST(term AS BLOB) FROM temp.\(probe)_terms")
      try rows.forEach { row in
        let (id, place) = (try row.get(at: 0, as: Int.self), try row.get(at: 1, as: Int.self))
        while places[id].count <= place { places[id].append([]) }
        places[id][place].append(try row.get(at: 2, as: [UInt8].self))
      }
      db.setRollbackOnly()
    }
    return places
  }

  /// Of pairs and single characters, what is looked for: a character alone, or all pairs of a run.
  private func wanted(_ places: [[[UInt8]]]) -> [[UInt8]] {
    places.indices.compactMap { place in
      let longest = places[place].max { $0.count < $1.count }
      let before = place > 0 ? places[place - 1].count : 0
      return places[place].count == 1 && before == 2 ? nil : longest
    }
  }

  /// Whether its terms may have characters in common, which FTS5's functions make a wrong text of.
  var isMarkedByLarder: Bool { ["parts", "exact_parts", "pairs", "words"].contains(name) }

  /// Patterns of a text, and what they mean.
  func patterns(
    _ text: String, _ terms: [TextBytes: [Int32]], _ random: inout some RandomNumberGenerator
  ) -> [(FullTextPattern, Scan)] {
    func phrase(_ part: String) -> ScannedPhrase {
      ScannedPhrase(terms: terms[TextBytes(part.withoutNUL)] ?? [], text: part)
    }
    func begun(_ phrase: ScannedPhrase) -> ScannedPhrase {
      ScannedPhrase(terms: phrase.terms, isPrefix: true, text: phrase.text)
    }
    let words = text.words
    let phrases = words.map(phrase)
    let one = phrase(text)
    let distance = Int.random(in: 0...4, using: &random)
    let all = (FullTextPattern.all(of: text), Scan.all(phrases))
    let begins = (FullTextPattern.allPrefixes(of: text), Scan.all(phrases.map(begun)))
    let whole = (FullTextPattern.phrase(text), Scan.all([one]))
    var patterns = [
      all, begins, whole, (.any(of: text), .any(phrases)),
      (.phrase(text, prefix: true), .all([begun(one)])),
      (all.0.in(Note.columns.body), .column(1, all.1)),
      (begins.0.in(Note.columns.title).or(whole.0), .or(.column(0, begins.1), whole.1)),
      (all.0.and(begins.0.in(Note.columns.title, Note.columns.body)), .and(all.1, begins.1)),
    ]
    if words.count > 1 {
      patterns.append(
        (
          .near(words[0], words[words.count - 1], distance: distance),
          .near([phrases[0], phrases[words.count - 1]], distance)
        ))
    }
    return patterns
  }
}

/// A text by its bytes: Swift takes several spellings for equal.
struct TextBytes: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: TextBytes, right: TextBytes) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
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
