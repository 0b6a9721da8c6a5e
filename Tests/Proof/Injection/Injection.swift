import Foundation
import Larder
import ProofSupport
import TestSupport

/// Hostile texts in every place that takes a text: they are values and names, or refused, and change
/// nothing else.
enum Injection: ProofRow {
  static let name = "injection"
  static let number = 7
  static let unit = "texts in places"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let db = try Database()
    try Treasury.create(db)
    let treasury = try Treasury(db)
    let entries =
      InjectionEntry.values + InjectionEntry.patterns + InjectionEntry.json
      + InjectionEntry.fullText + InjectionEntry.names
      + InjectionEntry.paths(in: folder)
    var refused = 0
    for entry in entries {
      for text in Payloads.all where options.goesOn(after: result.tried) {
        do {
          if try !isTaken(text, by: entry, db, treasury) { refused += 1 }
        } catch {
          result.failures.append("\(entry.name) with \(text.prefix(60).debugDescription): \(error)")
        }
        result.tried += 1
      }
    }
    result.details = [
      "\(Payloads.all.count) texts", "\(entries.count) places", "refused with an error: \(refused)",
    ]
    return result
  }

  /// False if it is refused.
  private static func isTaken(
    _ text: String, by entry: InjectionEntry, _ db: Database, _ treasury: Treasury
  ) throws -> Bool {
    var isTaken = true
    func run() throws {
      do {
        try entry.run(db, text)
      } catch  where WrongAnswer.isTyped(error) {
        // What isn't taken for SQL can't be wrong SQL.
        let message = (error as? DatabaseError)?.message ?? ""
        if message.hasPrefix("near ") || message.hasPrefix("unrecognized token") {
          throw WrongAnswer(description: "it is read as SQL: \(error)")
        }
        isTaken = false
      }
      try treasury.check(db, more: entry.makes)
    }
    if entry.isAlone {
      try run()
    } else {
      try db.inTransaction { db in
        try run()
        db.setRollbackOnly()
      }
    }
    try treasury.check(db, more: 0)
    try WrongAnswer.check(try InjectedTown.all.fetchCount(db), 1, "the number of rows afterwards")
    return isTaken
  }
}
