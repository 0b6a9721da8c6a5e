import Larder
import ProofSupport
import TestSupport

/// Records over tables that other programs could have made: each operation does what is declared, compared with what
/// SQL by hand then finds, or throws and leaves everything as it is.
enum ForeignTables: ProofRow {
  static let name = "foreign-tables"
  static let number = 25
  static let unit = "tables"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    var tally = ForeignTally()
    let count = options.count ?? 1000
    var db = try Database()
    while result.tried < count, options.goesOn(after: result.tried) {
      let seed = options.seed &+ UInt64(result.tried)
      // A connection sees one table after the other under the same name, as where a schema changes.
      if result.tried % 50 == 0 { db = try Self.database(seed) }
      var random = SeededGenerator(seed: seed)
      do {
        switch seed % 4 {
        case 0: try ForeignTrial<ChosenKey>.run(db, &random, &tally)
        case 1: try ForeignTrial<GivenKey>.run(db, &random, &tally)
        case 2: try ForeignTrial<TextKey>.run(db, &random, &tally)
        default: try ForeignTrial<PairKey>.run(db, &random, &tally)
        }
      } catch {
        result.failures.append("seed \(seed): \(error)")
        if result.failures.count > 40 { break }
      }
      result.tried += 1
    }
    result.details = [
      "done: \(tally.done)", "refused: \(tally.refused)", "tables without fault: \(tally.plain)",
    ]
    return result
  }

  /// Two of three are in UTF-16.
  private static func database(_ seed: UInt64) throws -> Database {
    let db = try Database()
    switch seed / 50 % 3 {
    case 1: try db.executeUpdate("PRAGMA encoding = 'UTF-16le'")
    case 2: try db.executeUpdate("PRAGMA encoding = 'UTF-16be'")
    default: break
    }
    // What triggers of the tables write to.
    try db.executeUpdate("CREATE TABLE log (nr INTEGER PRIMARY KEY, line TEXT)")
    return db
  }
}

struct ForeignTally {
  var done = 0
  var refused = 0
  var plain = 0
}
