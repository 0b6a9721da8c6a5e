import FoundationEssentials
import Larder
import LarderReplication
import LarderTerminal

extension Command {
  static let backup = Command(
    name: "backup", arguments: "FILE COPY", argumentCount: 2...2,
    summary: "Writes a copy of a database while others may use it.",
    details: """
      The copy is a snapshot of the database, and appears only once it is complete. An existing file is
      refused, unless --replace is given: then it holds the copy, or stays as it was. A damaged database
      is copied, but that is an error.

      Example:
        larder backup cities.db cities-backup.db
      """,
    options: [Option("replace", nil, "replace COPY if it exists")]
  ) { invocation in
    let copy = invocation.arguments[1]
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    try file.checkIsOther(copy)
    if FileManager.default.fileExists(atPath: copy), !invocation.has("replace") {
      throw Failure("\(copy): the file exists already; use --replace to replace it")
    }
    let pages = try file.copyPages("backup") { try file.backup(to: copy, progress: $0) }
    guard try DatabaseFile(copy, invocation).isIntact() else {
      throw Failure(.database, "\(copy): the copy was made, but is damaged, like \(file.path)")
    }
    try CopiedFile(file: copy, pages: pages).show(invocation)
  }

  static let restore = Command(
    name: "restore", arguments: "FILE COPY", argumentCount: 2...2,
    summary: "Replaces the contents of a database with those of a copy, or of a moment of a log.",
    details: """
      For programs that use the database meanwhile, this is one transaction: if it fails, the database stays
      as it was. COPY isn't changed, and is refused if it is damaged.

      If COPY is a folder, it is taken for a log (see “larder log”), and FILE may be a new one.

      Example:
        larder restore cities.db cities-backup.db
        larder restore cities.db /mnt/backup --at 2026-11-27T12:00:00Z
        larder restore cities.db /mnt/backup --before "remove old cities"
      """,
    options: [
      Option("at", "MOMENT", "of a log: a time, or a position as “larder log” shows it"),
      Option("before", "MIGRATION", "of a log: the last moment before a migration"),
      Option("name", "NAME", "of a log: the database, if there are several"),
    ]
  ) { invocation in
    if LogFolder.isFolder(invocation.arguments[1]) {
      let sink = try LogFolder.open(invocation, argument: 1)
      let position = try LogFolder.failing(invocation, argument: 1) {
        try ReplicatedDatabase.restore(
          from: sink, name: invocation.text("name"), to: invocation.arguments[0],
          at: invocation.text("before").map { .before(migration: $0) }
            ?? LogFolder.moment(invocation))
      }
      return try RestoredMoment(position: "\(position)").show(invocation)
    }
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let copy = try DatabaseFile(invocation.arguments[1], invocation)
    try file.checkIsOther(copy.path)
    guard try copy.isIntact() else {
      throw Failure(.database, "\(copy.path): the copy is damaged; \(file.path) stays as it was")
    }
    let pages = try file.copyPages("restore") { progress in
      try copy.connect { source in
        try source.useSmallCache()
        try file.connect(writes: true) { db in try db.restore(from: source, progress: progress) }
      }
    }
    try CopiedFile(file: file.path, pages: pages).show(invocation)
  }
}

/// The printed result: the file that was written, and its size in pages.
private struct CopiedFile: Encodable {
  let file: String
  let pages: Int

  func show(_ invocation: Invocation) throws {
    try invocation.show(self, ["\(file.printable): \(pages.counted("page"))"])
  }
}

extension DatabaseFile {
  typealias Progress = (_ remaining: Int, _ total: Int) throws -> Void

  /// Calls a closure that copies pages, and returns their number. The closure reports its progress to a
  /// callback, which shows it and throws after Ctrl-C.
  @discardableResult
  func copyPages(_ title: String, _ copy: (@escaping Progress) throws -> Void) throws
    -> Int
  {
    var bar = ProgressBar(title)
    var pages = 0
    defer { bar.clear() }
    try copy { remaining, total in
      try Interruption.check()
      pages = total
      bar.show(1 - Double(remaining) / Double(max(1, total)))
    }
    return pages
  }

  /// Writes a copy into a file at another path. Errors of that file name it.
  func backup(to copy: String, progress: @escaping Progress) throws {
    try connect { db in
      try db.useSmallCache()
      try Failure.naming(copy, self) { try db.backup(to: copy, progress: progress) }
    }
  }

  /// Whether SQLite finds no damage. Indexes aren't compared with their tables.
  func isIntact() throws -> Bool {
    try connect { db in
      try IntegrityCheck(db, isQuick: true, mostLines: 1).lines.allSatisfy { $0 == "ok" }
    }
  }
}

extension Failure {
  /// Calls a closure, and makes its errors name the file at `path`: they don't concern the one that is read.
  static func naming<T>(_ path: String, _ source: DatabaseFile, _ body: () throws -> T) throws -> T
  {
    do {
      return try body()
    } catch let error as DatabaseError
      where !error.isInterrupt && error.code != .corrupt && !error.isOfOtherProgram
    {
      throw Failure(describing: error, database: path)
    }
  }
}

extension Database {
  /// Keeps fewer pages in memory, for work that reads or writes most pages once: two databases, and what
  /// sorts an index's entries, use as much as a cache each.
  func useSmallCache() throws { try executeUpdate("PRAGMA main.cache_size = -4096") }
}
