import Foundation
import Larder

/// Patterns of random texts, by every tokenizer: each runs without an error of syntax, and finds what a scan of all
/// rows finds, whose terms are those that the tokenizer itself makes; while the rows change.
enum FullText: ProofRow {
  static let name = "fulltext"
  static let number = 6
  static let unit = "random texts in full-text patterns"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let db = try Database()
    try Note.table.create(db)
    let indexes = try Note.indexes.map { try ScannedIndex($0, db) }
    var sampler = TextSampler(seed: options.seed)
    for id in 1...Note.count { _ = try sampler.note(Int64(id)).inserted(db) }
    let count = options.count ?? 10_000
    var patterns = 0
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      sampler.restart(seed: seed)
      do {
        patterns += try WrongAnswer.at("seed \(seed)") { try round(&sampler, indexes, db) }
      } catch {
        result.failures.append("\(error)")
        if result.failures.count > 20 { break }
      }
      result.tried += roundSize
    }
    for index in indexes {
      do { try index.index.verify(db) } catch { result.failures.append("\(error)") }
    }
    result.details = ["\(patterns) patterns", "\(indexes.count) tokenizers"]
    return result
  }

  /// How many texts are parted at once.
  private static let roundSize = 20

  private static func round(
    _ sampler: inout TextSampler, _ indexes: [ScannedIndex], _ db: Database
  ) throws -> Int {
    try sampler.note(Int64.random(in: 1...Int64(Note.count), using: &sampler.random)).update(db)
    let texts = (0..<roundSize).map { _ in sampler.text() }
    let index = indexes[Int.random(in: 0..<indexes.count, using: &sampler.random)]
    let notes = try index.notes(db)
    let terms = try index.terms(of: texts, db)
    var patterns = 0
    for text in texts {
      for (pattern, scan) in index.patterns(text, terms, &sampler.random) {
        try check(pattern, scan, index, notes, text, db)
        patterns += 1
      }
    }
    return patterns
  }

  private static func check(
    _ pattern: FullTextPattern, _ scan: Scan, _ index: ScannedIndex, _ notes: [Int64: ScannedNote],
    _ text: String, _ db: Database
  ) throws {
    let query = Note.matching(index.index, pattern).order { $0.id }.select { $0.id }
    let expected = notes.filter { scan.matches($0.value) }.map(\.key).sorted()
    do {
      let found = try query.fetchAll(db).compactMap(\.self)
      guard found == expected else {
        throw WrongAnswer(
          description: "\(index.name): \(pattern) finds \(found) instead of \(expected)")
      }
      guard !index.refuses(scan) else {
        throw WrongAnswer(description: "\(index.name): \(pattern) isn't refused")
      }
    } catch let error as DatabaseError {
      guard error.code == .misuse, index.refuses(scan) else { throw error }
      return
    }
    guard !expected.isEmpty else { return }
    let hits = try Note.matching(index.index, pattern).order { $0.rank }
      .select { ($0, $0.highlight(\.title, mark: text, text), $0.rank) }.fetchAll(db)
    guard hits.map(\.0.id).compactMap(\.self).sorted() == expected,
      zip(hits, hits.dropFirst()).allSatisfy({ $0.2 <= $1.2 })
    else { throw WrongAnswer(description: "\(index.name): \(pattern), by rank, finds others") }
    let filtered = Note.filter { $0.matching(index.index, pattern) }
    try WrongAnswer.check(try filtered.fetchCount(db), expected.count, "the rows of the condition")
  }
}

/// A row that is looked for.
struct Note: Record, Equatable {
  var id: Int64?
  var title: String
  var body: String?

  struct Columns: Sendable {
    let id = Column("id", \Note.id, .primaryKey)
    let title = Column("title", \Note.title)
    let body = Column("body", \Note.body)
  }
  static let columns = Columns()
  static let table = Table("note", Note.init, columns.id, columns.title, columns.body)

  static let count = 40

  static let indexes: [(String, FullTextTokenizer)] = [
    ("plain", .unicode61()), ("exact", .unicode61(removingDiacritics: false, alsoLetters: "-_'")),
    ("stems", .porter()), ("ascii", .ascii), ("parts", .trigram()), ("pairs", .bigram),
  ]
}
