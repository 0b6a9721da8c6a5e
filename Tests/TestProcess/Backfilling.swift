import Larder
import TestSupport

/// Adds 1 to each row of a table, in batches.
enum Backfilling {
  static func run(path: String) throws {
    let queue = try DatabaseQueue(path: path)
    Parent.tell("ready")
    try Migrator([Migration("fill", .backfill("n", of: "word", with: "n + 1", rows: 3))])
      .migrate(queue)
    Parent.tell("done")
  }
}
