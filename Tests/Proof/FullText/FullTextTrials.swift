import Larder
import ProofSupport

/// Rounds of texts that are looked for in one database, whose rows change meanwhile.
struct FullTextTrials {
  private(set) var tried = 0
  private(set) var patterns = 0
  private(set) var matches = 0
  private(set) var failures: [String] = []
  let indexes: [ScannedIndex]
  private let seed: UInt64
  private let db: Database
  private var sampler: TextSampler

  init(seed: UInt64) throws {
    self.seed = seed
    let db = try Database()
    try TermRule.register(db)
    try Note.table.create(db)
    indexes = try ScannedIndex.all.map { try $0.create(db) }
    sampler = TextSampler(seed: seed)
    self.db = db
    for id in 1...Note.count { _ = try sampler.note(Int64(id)).inserted(db) }
  }

  /// How many texts are parted at once.
  private static let roundSize = 50

  mutating func run(_ count: Int, _ options: ProofOptions) throws {
    while tried < count, options.goesOn(after: tried), failures.count <= 20 {
      do {
        try WrongAnswer.at("seed \(seed), text \(tried)") { try round() }
      } catch {
        failures.append("\(error)")
      }
      tried += Self.roundSize
    }
    for index in indexes {
      do { try index.index.verify(db) } catch { failures.append("\(index.name): \(error)") }
    }
  }

  private mutating func round() throws {
    try sampler.note(Int64.random(in: 1...Int64(Note.count), using: &sampler.random)).update(db)
    let texts = (0..<Self.roundSize).map { _ in sampler.text() }
    let index = indexes[Int.random(in: 0..<indexes.count, using: &sampler.random)]
    var numbers = TermNumbers()
    let notes = try index.notes(&numbers, db)
    let terms = try index.terms(of: texts, &numbers, db)
    for text in texts {
      for (pattern, scan) in index.patterns(text, terms, &sampler.random) {
        try check(pattern, scan, index, notes, numbers, text)
        patterns += 1
      }
    }
  }

  /// The rows that are found have to be those of a scan, in one of three ways of asking.
  private mutating func check(
    _ pattern: FullTextPattern, _ scan: Scan, _ index: ScannedIndex, _ notes: [ScannedNote],
    _ numbers: TermNumbers, _ text: String
  ) throws {
    let expected = notes.filter { scan.matches($0, numbers) }.map(\.id)
    matches += expected.count
    let found: [Int64]
    switch Int.random(in: 0..<3, using: &sampler.random) {
    case 0:
      found = try Note.matching(index.index, pattern).order { $0.id }.select { $0.id }
        .fetchAll(db).compactMap(\.self)
    case 1 where index.storage != .contentless:
      found = try ranked(
        pattern, index, Bool.random(using: &sampler.random) ? text.replacing("\0", with: " ") : "")
    default:
      found = try Note.filter { $0.matching(index.index, pattern) }.order { $0.id }
        .select { $0.id }.fetchAll(db).compactMap(\.self)
    }
    guard found == expected else {
      throw WrongAnswer(
        description: "\(index.name): \(pattern) finds \(found) instead of \(expected)")
    }
  }

  /// Those found by rank, each with what was found marked, of which the rest is the text.
  private func ranked(
    _ pattern: FullTextPattern, _ index: ScannedIndex, _ mark: String
  ) throws -> [Int64] {
    let hits = try Note.matching(index.index, pattern).order { $0.rank }
      .select { ($0, $0.highlight(\.title, mark: mark, mark), $0.rank) }.fetchAll(db)
    guard zip(hits, hits.dropFirst()).allSatisfy({ $0.2 <= $1.2 }) else {
      throw WrongAnswer(description: "\(index.name): \(pattern) isn't in the order of the rank")
    }
    // FTS5 leaves out what is between a NUL and the next mark.
    for (note, title, _) in hits
    where mark.isEmpty && (index.isMarkedByLarder || !note.title.utf8.contains(0)) {
      guard title.utf8.elementsEqual(note.title.utf8) else {
        throw WrongAnswer(
          description: "\(index.name): \(pattern) shows \(title.debugDescription) of \(note)")
      }
    }
    return hits.compactMap(\.0.id).sorted()
  }
}
