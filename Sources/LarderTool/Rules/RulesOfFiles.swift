import Larder
import LarderTerminal

// Rules about the file: its log, pages and encoding.

let rulesOfFiles: [Rule] = [
  Rule(
    "large-log", .warning,
    "A log much larger than its database slows down reads: a long read keeps it from being emptied.",
    file: { checked in
      let size = checked.file.size(ofSuffix: "-wal") ?? 0
      guard size >= 4 << 20, size / 4 >= checked.file.size else { return nil }
      return Evidence(
        found:
          "the log has \(size.byteCount), but the database only \(checked.file.size.byteCount)",
        advice: "End long read transactions, and empty the log.",
        sql: ["PRAGMA wal_checkpoint(TRUNCATE)"])
    }),
  Rule(
    "wal-reset-bug", .note,
    "SQLite before 3.51.3 can damage a file with a write-ahead log if a checkpoint coincides with a commit.",
    file: { checked in
      guard SQLiteLibrary.hasWALResetBug, checked.file.size(ofSuffix: "-wal") ?? 0 > 0 else {
        return nil
      }
      return Evidence(
        found:
          "the file is used with a log, and the SQLite here, \(SQLiteLibrary.version), has the bug",
        advice: """
          Have programs that write to it, other than by Larder, use SQLite 3.51.3 or newer, or make no checkpoints \
          while others write.
          """,
        sql: ["PRAGMA wal_autocheckpoint = 0"])
    }),
  Rule(
    "free-pages", .note,
    "Unused pages make the file, its backups and its copies larger.",
    file: { checked in
      let free = try checked.db.pragma("freelist_count")
      let pages = try checked.db.pragma("page_count")
      let isIncremental = try checked.db.pragma("auto_vacuum") == 2
      guard free >= 100, free >= (pages - free) / 3 else { return nil }
      return Evidence(
        found: "\(free.grouped) of \(pages.grouped) pages are free"
          + " (\(free * 100 / max(1, pages)) %)",
        advice: isIncremental ? "Release them." : "Rewrite the file, unless it will grow again.",
        sql: [isIncremental ? "PRAGMA incremental_vacuum" : "VACUUM"])
    }),
  Rule(
    "small-pages", .note,
    "A row that doesn't fit on a page continues on a chain of pages, each of which is read by itself.",
    file: { checked in
      let size = try checked.db.pragma("page_size")
      guard size < 4096,
        let (all, overflow) = try checked.within(
          "the sizes of rows", { try checked.pageCounts() }),
        all >= 64, overflow > all / 4
      else { return nil }
      return Evidence(
        found: "pages have \(size) bytes, and \(overflow.grouped) of \(all.grouped) continue rows",
        advice: "Rewrite the file with larger pages (not while its journal mode is wal).",
        sql: ["PRAGMA page_size = 4096", "VACUUM"])
    }),
  Rule(
    "missing-module", .note,
    "A virtual table can't be read, written or dropped without the module that it is made by.",
    find: { checked in
      let known = Set(
        try checked.db.executeQuery("SELECT lower(name) FROM pragma_module_list").map {
          try $0.get(at: 0, as: String.self)
        })
      return checked.entries.compactMap { entry in
        guard entry.isVirtualTable, let module = entry.module, !known.contains(module.lowercased())
        else { return nil }
        return Evidence(
          table: entry.name,
          found: "the SQLite here, \(SQLiteLibrary.version), has no module “\(module)”",
          advice:
            "Use the file with programs that have it; leave the table out of copies for others."
        )
      }
    }),
  Rule(
    "utf-16", .note,
    "In UTF-16 most text takes twice the space, and is converted for programs that use UTF-8.",
    file: { checked in
      let encoding = try checked.db.value("PRAGMA encoding", as: String.self) ?? ""
      guard encoding.hasPrefix("UTF-16") else { return nil }
      return Evidence(
        found: "the encoding is \(encoding)",
        advice: "It can't be changed: export the rows into a new database.")
    }),
]

extension SchemaEntry {
  /// The module of a virtual table.
  fileprivate var module: String? {
    let tokens = (sql ?? "").sqlTokens
    guard let using = tokens.firstIndex(where: { $0.isWord("using") }) else { return nil }
    return tokens.dropFirst(using + 1).first?.name
  }
}

extension CheckedDatabase {
  /// The number of all pages of tables and indexes, and of overflow pages; zeros if SQLite was built without
  /// dbstat.
  fileprivate func pageCounts() throws -> (all: Int, overflow: Int) {
    do {
      let rows = try db.executeQuery(
        "SELECT count(*), total(pagetype = 'overflow') FROM main.dbstat")
      guard try rows.next() else { return (0, 0) }
      return (try rows.get(at: 0), Int(try rows.get(at: 1, as: Double.self)))
    } catch let error as DatabaseError where error.code == .error {
      return (0, 0)
    }
  }
}
