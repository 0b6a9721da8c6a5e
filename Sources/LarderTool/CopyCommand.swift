import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let copy = Command(
    name: "copy", arguments: "FROM TO", argumentCount: 2...2,
    summary:
      "Copies tables with their rows into another database: of SQLite, PostgreSQL, or between both.",
    details: """
      FROM and TO are files, or servers: postgres://user@host/database, or "host=… user=… dbname=…"; a
      missing file is created. Tables are created, and rows are copied from one snapshot, in a transaction
      for each table. Before each commit the number of rows and a checksum of all values are compared;
      indexes and foreign keys come last. After Ctrl-C or an error --resume goes on: it compares complete
      tables, and copies the others.

      Values are compared by the rules of their type: 1.50 is the same numeric as 1.5, and in a column of
      timestamps with time zone, a text without a zone is UTC. A value that the other side would round, cut or
      read differently is an error that names its row.

      A whole file is copied to a new file page by page, with all its contents. Into an existing file, or
      with --table, tables are copied with their row ids, indexes and triggers; virtual tables, and objects
      that use them, are left out and listed.

      Into existing columns of a server, dates come in every form that Larder writes: as seconds since 1970,
      milliseconds (integers), Julian days, and texts; UUIDs as blobs of 16 bytes, and texts. Numbers that may
      be dates in several forms are refused without --dates.

      From SQLite: INTEGER becomes BIGINT, REAL DOUBLE PRECISION, TEXT TEXT COLLATE "C", BLOB BYTEA, BOOLEAN with 0
      and 1 BOOLEAN; for other types, and for a BLOB without any blob, the stored values decide. A key that
      is the row id becomes an identity, and a foreign key's column has the type of its key.
      From PostgreSQL: whole numbers and BOOLEAN become INTEGER, REAL (with the digits that it prints) and DOUBLE
      PRECISION REAL (whose -0.0 becomes 0.0), BYTEA BLOB, and all other types TEXT, as the server writes them, in
      STRICT tables. A value that doesn't fit its column, such as a text in an INTEGER column, NUL in a text,
      or NaN, is an error that names its row. Parts of the schema without a counterpart are listed: views,
      triggers, CHECK constraints, expressions. Types, functions and the lengths of texts
      aren't copied either, nor is the history of migrations between a file and a server: if a program
      creates its own tables, let it do so first, and copy with --data-only.

      Example:
        larder copy cities.db postgres://app@db.example.org/cities
        larder copy postgres://app@db.example.org/cities backup.db --table city --table country
        larder copy cities.db postgres://app@db.example.org/cities --resume
      """,
    options: [
      Option("table", "NAME", "copy this table; may be given several times (all)"),
      Option("schema-only", nil, "create the tables, and copy no rows"),
      Option("data-only", nil, "copy rows into existing, empty tables"),
      Option("resume", nil, "go on with an unfinished copy"),
      Option(
        "dates", "FORM",
        "numbers of dates that may be several forms: seconds, milliseconds, julian-days"),
      .schema,
    ]
  ) { invocation in
    let options = CopyRun.Options(
      schemaOnly: invocation.has("schema-only"), dataOnly: invocation.has("data-only"),
      resumes: invocation.has("resume"), tables: invocation.texts("table"),
      dates: try invocation.text("dates").map(DateFormat.init(optionValue:)))
    guard !options.schemaOnly || !options.dataOnly && !options.resumes else {
      throw Failure(.usage, "--schema-only excludes --data-only and --resume")
    }
    let report = try CopyCommand(invocation).run(options)
    if invocation.wantsJSON { return try Output.showJSON(report) }
    for sentence in report.guesses { Output.note(sentence.printable) }
    for sentence in report.leftOut { Output.note("left out: \(sentence.printable)") }
    for table in report.tables {
      let rest = table.wasComplete ? ", complete already" : ""
      print("\(table.table.printable): \(table.rows.counted("row"))\(rest)")
    }
    if report.tables.isEmpty {
      print(options.schemaOnly ? "The tables were created." : "There are no tables.")
    }
  }
}

/// Opens both databases, and copies one to the other.
private struct CopyCommand {
  private let invocation: Invocation
  private let from: String
  private let to: String

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    from = invocation.arguments[0]
    to = invocation.arguments[1]
    guard !ServerDatabase.isAddress(from) || !ServerDatabase.isAddress(to) else {
      throw Failure(.usage, "pg_dump and pg_restore copy from one server to another")
    }
    guard !invocation.has("dates") || ServerDatabase.isAddress(to) else {
      throw Failure(.usage, "--dates is for copies from a file to a server")
    }
  }

  func run(_ options: CopyRun.Options) throws -> CopyRun.Report {
    let source = try NamedDatabase(from, invocation)
    if case .file(let file) = source {
      try file.checkIsOther(to)
      if options.isOfAll, !ServerDatabase.isAddress(to), !FileManager.default.fileExists(atPath: to)
      {
        return try copyPages(of: file)
      }
    }
    let isNew = try !ServerDatabase.isAddress(to) && !options.dataOnly && DatabaseFile.create(to)
    var hasMadeTables = false
    do {
      let target = try NamedDatabase(to, invocation)
      return try source.read { db in
        try source.noteOtherSchemas(db)
        if db.engine == nil { try db.useSmallCache() }
        return try target.connect { other in
          var run = CopyRun(from: db, source.name, to: other, target.name, options)
          defer { hasMadeTables = run.hasMadeTables }
          do {
            try run.run()
          } catch let error as DatabaseError {
            throw error.isOfOtherProgram ? source.failure(error) : target.failure(error)
          }
          return run.report
        }
      }
    } catch {
      // A new file that has tables already is kept, for `--resume`.
      if isNew, !hasMadeTables { DatabaseFile.remove(to) }
      if hasMadeTables, !options.schemaOnly {
        Output.note("larder: tables that are complete stay; --resume goes on")
      }
      throw error
    }
  }
}

extension CopyCommand {
  /// Copies the whole file, page by page.
  fileprivate func copyPages(of file: DatabaseFile) throws -> CopyRun.Report {
    guard try file.isIntact() else {
      throw Failure(.database, "\(file.path): the database is damaged; nothing was copied")
    }
    try file.copyPages("copy") { try file.backup(to: to, progress: $0) }
    var report = CopyRun.Report()
    try DatabaseFile(to, invocation).read { db in
      for table in try Schema(db).tables {
        let sql = "SELECT count(*) FROM main.\(table.name.quotedIdentifier)"
        let rows = try db.value(SQL(raw: sql), as: Int.self) ?? 0
        report.tables.append(.init(table: table.name, rows: rows, wasComplete: false))
      }
    }
    return report
  }
}

extension CopyRun.Options {
  /// Whether no option restricts what is copied.
  fileprivate var isOfAll: Bool { !schemaOnly && !dataOnly && !resumes && tables.isEmpty }
}

extension NamedDatabase {
  /// Calls a closure with a connection that can write. A file's foreign keys aren't enforced.
  fileprivate func connect<T>(_ body: (Database) throws -> T) throws -> T {
    switch self {
    case .server(let server): return try server.connect(body)
    case .file(let file):
      return try file.connect(writes: true) { db in
        try db.executeUpdate("PRAGMA foreign_keys = OFF")
        try db.useSmallCache()
        return try body(db)
      }
    }
  }
}
