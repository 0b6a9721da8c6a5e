import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let vacuum = Command(
    name: "vacuum", arguments: "FILE", argumentCount: 1...1,
    summary: "Writes a database anew, without the room that deleted rows have left.",
    details: """
      It takes up to twice the database's size on the disk meanwhile. With --into the database itself is
      only read.

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
        throw Failure("\(copy): there is a file already")
      }
      try file.connect { db in
        try Failure.naming(copy, file) {
          do {
            try db.vacuum(into: copy)
          } catch {
            // It wasn't there before, and isn't whole.
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
    if invocation.wantsJSON { return try Output.showJSON(report) }
    print("\(report.file.printable): \(after.byteCount), from \(file.size.byteCount)")
  }

  static let optimize = Command(
    name: "optimize", arguments: "FILE", argumentCount: 1...1,
    summary: "Writes the statistics that SQLite's planner lacks into a database.",
    details: """
      Tables that have changed much are looked at, of each index 400 rows: a moment, whatever the size.
      --all looks at all tables and all rows.

      Example:
        larder optimize cities.db
      """,
    options: [Option("all", nil, "gather all statistics anew, of all rows")]
  ) { invocation in
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let tables = try file.connect(writes: true) { db in
      if invocation.has("all") { try db.executeUpdate("ANALYZE") } else { try db.optimize() }
      return try db.tableStatistics()
    }
    let report = Optimized(file: file.path, tables: tables)
    if invocation.wantsJSON { return try Output.showJSON(report) }
    print(
      "\(file.path.printable): there are statistics of \(tables.count) \(tables.count == 1 ? "table" : "tables")"
    )
  }
}

private struct Vacuumed: Encodable {
  let file: String
  /// In bytes.
  let before: Int
  let after: Int
}

private struct Optimized: Encodable {
  let file: String
  /// The rows of each table of which there are statistics, as these say.
  let tables: [String: Int]
}
