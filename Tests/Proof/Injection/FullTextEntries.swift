import Larder
import ProofSupport

// Full-text search, by patterns, names and tokenizers that are texts.

extension InjectionEntry {
  static let fullText: [InjectionEntry] = [
    InjectionEntry("full-text pattern") { db, text in
      try search(Hoard.words, db) { index in
        for pattern in patterns(text) {
          let hits = try Hoard.matching(index, pattern).order { $0.rank }
            .select { ($0, $0.snippet(\.owner, mark: text, text, ellipsis: text), $0.rank) }
            .fetchAll(db)
          let filtered = Hoard.filter { $0.matching(index, pattern) }
          try WrongAnswer.check(try filtered.fetchCount(db), hits.count, "the rows of a condition")
        }
        let marked = Hoard.matching(index, .all(of: "oslo"))
          .select { $0.highlight(\.owner, mark: text, "/" + text) }
        let expected = "\(text)Oslo/\(text)"
        if !text.utf8.contains(0) {
          try WrongAnswer.check(try marked.fetchAll(db).first, expected, text: "the marked text")
        }
        let found = Hoard.matching(index, .all(of: "oslo \(text)").or(.phrase("oslo")))
        try WrongAnswer.check(try found.fetchCount(db), 1, "the rows with Oslo")
      }
    },
    InjectionEntry("text in a full-text index") { db, text in
      for tokenizer in [FullTextTokenizer.bigram, .trigram(), .porter(), .ascii] {
        let index = FullTextIndex(of: Hoard.self, \.owner, tokenizer: tokenizer)
        try search(index, db) { index in
          var hoard = Hoard(id: 7, gold: 1, owner: "xyzzy \(text)")
          try hoard.insert(db)
          let marked = try Hoard.matching(index, .all(of: "xyzzy"))
            .select { $0.highlight(\.owner, mark: "", "") }.fetchAll(db)
          try WrongAnswer.check(marked.first?.hasPrefix("xyzzy"), true, "whether it is found")
          hoard.owner = text
          try hoard.update(db)
          try index.verify(db)
          _ = try hoard.delete(db)
          try index.verify(db)
        }
      }
    },
    InjectionEntry("name and letters of a full-text index") { db, text in
      let index = FullTextIndex(
        of: Hoard.self, \.owner, named: text, tokenizer: .unicode61(alsoLetters: text))
      try search(index, db) { index in
        try index.rebuild(db)
        try WrongAnswer.check(try index.differences(db), [], "the differences")
        try index.optimize(db)
        try index.verify(db)
        _ = try Hoard.matching(index, .all(of: "oslo")).fetchAll(db)
      }
    },
    InjectionEntry("pattern in FTS5's syntax") { db, text in
      try search(Hoard.words, db) { index in
        // An error of its syntax is what it says.
        do {
          _ = try Hoard.matching(index, FullTextPattern(raw: text)).fetchAll(db)
        } catch let error as DatabaseError where error.code == .error {}
      }
    },
    InjectionEntry("tokenizer") { db, text in
      try db.createTokenizer(text) { found, _ in [(found, 0..<found.utf8.count)] }
      let index = FullTextIndex(
        of: Hoard.self, \.owner, named: "words", tokenizer: FullTextTokenizer(stringLiteral: text))
      try search(index, db) { index in
        let hits = try Hoard.matching(index, .phrase("Oslo")).fetchCount(db)
        try WrongAnswer.check(hits, 1, "the rows that are Oslo")
      }
    },
    InjectionEntry("tokenizer that isn't there") { db, text in
      let index = FullTextIndex(
        of: Hoard.self, \.owner, named: "words", tokenizer: FullTextTokenizer(stringLiteral: text))
      try search(index, db) { index in _ = try Hoard.matching(index, .all(of: "oslo")).fetchAll(db)
      }
    },
  ]

  private static func patterns(_ text: String) -> [FullTextPattern] {
    [
      .all(of: text), .any(of: text), .allPrefixes(of: text), .phrase(text),
      .phrase(text, prefix: true), .near(text, text, distance: 3),
      .all(of: text).in(Hoard.columns.owner), .phrase(text).and(.all(of: text)).or(.any(of: text)),
    ]
  }

  /// With an index that is made, and gone again.
  private static func search(
    _ index: FullTextIndex<Hoard>, _ db: Database, _ body: (FullTextIndex<Hoard>) throws -> Void
  ) throws {
    try db.inSavepoint { db in
      try index.create(db)
      try body(index)
      db.setRollbackOnly()
    }
  }

  /// The treasury.
  private struct Hoard: Record {
    var id: Int64?
    var gold: Int
    var owner: String

    struct Columns: Sendable {
      let id = Column("id", \Hoard.id, .primaryKey)
      let gold = Column("gold", \Hoard.gold)
      let owner = Column("owner", \Hoard.owner)
    }
    static let columns = Columns()
    static let table = Table("treasury", Hoard.init, columns.id, columns.gold, columns.owner)
    static let words = FullTextIndex(of: Hoard.self, \.owner)
  }
}
