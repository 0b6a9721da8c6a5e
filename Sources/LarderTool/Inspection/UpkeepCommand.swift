import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let vacuum = Command(
    name: "vacuum", arguments: "FILE", argumentCount: 1...1,
    summary: "Rewrites a database without the space that deleted rows left.",
    details: """
      This temporarily takes up to twice the database's size on disk. With --into the database itself is only
      read.

      Example:
        larder vacuum cities.db
        larder vacuum cities.db --into compact.db
      """,
    options: [Option("into", "COPY", "write into a new file, and leave the database as it is")]
  ) { invocation in
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let copy = invocation.text("into")
    if let copy {
      try file.checkIsOther(copy)
      guard !FileManager.default.fileExists(atPath: copy) else {
        throw Failure("\(copy): the file exists already")
      }
      try file.connect { db in
        try Failure.naming(copy, file) {
          do {
            try db.vacuum(into: copy)
          } catch {
            // Removes the new file, which is incomplete.
            try? FileManager.default.removeItem(atPath: copy)
            throw error
          }
        }
      }
    } else {
      try file.connect(writes: true) { db in
        try db.vacuum()
        _ = try? db.checkpoint(.truncate)
      }
    }
    let after = try DatabaseFile(copy ?? file.path, invocation).size
    let report = Vacuumed(file: copy ?? file.path, before: file.size, after: after)
    try invocation.show(
      report, ["\(report.file.printable): \(after.byteCount), from \(file.size.byteCount)"])
  }

  static let optimize = Command(
    name: "optimize", arguments: "FILE", argumentCount: 1...1,
    summary: "Adds the statistics that SQLite's query planner needs to a database.",
    details: """
      For tables that have changed a lot, 400 rows of each index are read, which takes a moment, whatever the
      size. --all reads all rows of all tables.

      Example:
        larder optimize cities.db
      """,
    options: [Option("all", nil, "gather all statistics again, from all rows")]
  ) { invocation in
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let tables = try file.connect(writes: true) { db in
      if invocation.has("all") { try db.executeUpdate("ANALYZE") } else { try db.optimize() }
      return try db.tableStatistics()
    }
    let report = Optimized(file: file.path, tables: tables)
    let noun = tables.count == 1 ? "table" : "tables"
    try invocation.show(
      report, ["\(file.path.printable): there are statistics of \(tables.count) \(noun)"])
  }
}

private struct Vacuumed: Encodable {
  let file: String
  /// The file's size before, in bytes.
  let before: Int
  let after: Int
}

private struct Optimized: Encodable {
  let file: String
  /// The number of rows by the statistics, for each table that has any.
  let tables: [String: Int]
}
