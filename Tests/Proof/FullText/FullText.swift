import Dispatch
import Foundation
import Larder
import ProofSupport

/// Patterns of random texts, by every tokenizer: each runs without an error of syntax, and finds what a scan of all
/// rows finds, whose terms are those that the tokenizer itself makes; while the rows change.
///
/// What some tokenizers make is computed in Swift besides, by ``TermRule``.
enum FullText: ProofRow {
  static let name = "fulltext"
  static let number = 6
  static let unit = "random texts in full-text patterns"

  /// Two at a time, however many cores there are: so a seed means the same everywhere.
  private static let parts = 2

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let count = options.count ?? 10_000
    let outcomes = Lock<[Result<FullTextTrials, any Error>]>([])
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      let outcome = Result {
        var trials = try FullTextTrials(seed: options.seed &+ UInt64(part) << 32)
        try trials.run((count + parts - 1) / parts, options)
        return trials
      }
      outcomes.withLock { $0.append(outcome) }
    }
    var result = ProofResult()
    var (patterns, matches, tokenizers) = (0, 0, 0)
    for trials in try outcomes.withLock({ $0 }).map({ try $0.get() }) {
      result.tried += trials.tried
      result.failures += trials.failures
      patterns += trials.patterns
      matches += trials.matches
      tokenizers = trials.indexes.count
    }
    result.details = ["\(patterns) patterns", "\(tokenizers) indexes", "rows found: \(matches)"]
    return result
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
}
