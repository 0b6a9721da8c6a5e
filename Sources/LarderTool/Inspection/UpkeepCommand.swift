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
      do {
        try file.vacuum(into: copy, writes: false)
      } catch let failure as Failure where failure.message.contains("vacuum_db.") {
        // A connection that only reads leaves out CHECK constraints, and SQLite's VACUUM INTO then copies
        // computed columns into a table that can't take them. One that may write changes nothing either.
        try file.vacuum(into: copy, writes: true)
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

extension DatabaseFile {
  /// Writes a compact copy into a new file, which is removed if that fails.
  fileprivate func vacuum(into copy: String, writes: Bool) throws {
    try connect(writes: writes, makesIndexes: true) { db in
      try Failure.naming(copy, self) {
        do {
          try db.vacuum(into: copy)
        } catch {
          try? FileManager.default.removeItem(atPath: copy)
          throw error
        }
      }
    }
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
