import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let copy = Command(
    name: "copy", arguments: "FROM TO", argumentCount: 2...2,
    summary:
      "Copies tables with their rows into another database: of SQLite, PostgreSQL, or between both.",
    details: """
      FROM and TO are files, or servers: postgres://user@host/database, or "host=… user=… dbname=…"; a file that
      isn't there is made. Tables are made, rows copied from one snapshot, a transaction for each table, and
      compared with what has arrived by their number and a checksum of all values before that is committed;
      indexes and foreign keys come last. After Ctrl-C or an error --resume goes on: tables that are complete
      are compared, and the others copied.

      Values are compared by the rules of their type: 1.50 is the same numeric as 1.5, and a text in a column of
      timestamps with time zone that has none is UTC. What the other side would round, cut or read as something
      else is an error that names its row.

      All of a file to a file that isn't there is copied page by page, with all it has. Into a file that is there,
      or of some tables, tables are copied with their row ids, indexes and triggers; virtual tables, and what
      uses them, are left out, which is told.

      From SQLite: INTEGER becomes BIGINT, REAL DOUBLE PRECISION, TEXT TEXT COLLATE "C", BLOB BYTEA, BOOLEAN with 0
      and 1 BOOLEAN; of other types what is stored decides. A key that is the row id becomes an identity.
      From PostgreSQL: whole numbers and BOOLEAN become INTEGER, REAL (with the digits that it prints) and DOUBLE
      PRECISION REAL (whose -0.0 becomes 0.0), BYTEA BLOB, and all other types TEXT, as the server writes them, in
      STRICT tables. A value that has no place in its column, such as a text in an INTEGER column, NUL in a text, or
      NaN, is an error that names its row. What of the schema has no counterpart is told: views, triggers, CHECK
      constraints, expressions. Types, functions, materialized views and the lengths of texts aren't copied either, nor
      is the history of migrations between a file and a server: where the program makes its tables, have it do so
      first, and copy with --data-only.

      Example:
        larder copy cities.db postgres://app@db.example.org/cities
        larder copy postgres://app@db.example.org/cities backup.db --table city --table country
        larder copy cities.db postgres://app@db.example.org/cities --resume
      """,
    options: [
      Option("table", "NAME", "copy this table; may be given several times (all)"),
      Option("schema-only", nil, "make the tables, and copy no rows"),
      Option("data-only", nil, "copy rows into tables that are there, and empty"),
      Option("resume", nil, "go on with a copy that has not ended"),
    ]
  ) { invocation in
    var options = CopyRun.Options()
    options.schemaOnly = invocation.has("schema-only")
    options.dataOnly = invocation.has("data-only")
    options.resumes = invocation.has("resume")
    options.tables = invocation.texts("table")
    guard !options.schemaOnly || !options.dataOnly && !options.resumes else {
      throw Failure(.usage, "--schema-only excludes --data-only and --resume")
    }
    let report = try CopyCommand(invocation).run(options)
    if invocation.wantsJSON { return try Output.showJSON(report) }
    for sentence in report.leftOut { Output.note("left out: \(sentence.printable)") }
    for table in report.tables {
      let rows = "\(table.rows.grouped) \(table.rows == 1 ? "row" : "rows")"
      print("\(table.table.printable): \(rows)\(table.wasComplete ? ", complete already" : "")")
    }
    if report.tables.isEmpty {
      print(options.schemaOnly ? "The tables were made." : "There are no tables.")
    }
  }
}

/// Opens both databases.
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
        try target.connect { other in
          var run = CopyRun(from: db, source.name, to: other, target.name, options)
          defer { hasMadeTables = run.hasMadeTables }
          do {
            try run.run()
          } catch let error as DatabaseError {
            throw target.failure(error)
          }
          return run.report
        }
      }
    } catch {
      // What was copied of a new file can be gone on with.
      if isNew, !hasMadeTables { DatabaseFile.remove(to) }
      if hasMadeTables, !options.schemaOnly {
        Output.note("larder: tables that are complete stay; --resume goes on")
      }
      throw error
    }
  }
}

extension CopyCommand {
  /// Makes a file that is the same in all it has.
  fileprivate func copyPages(of file: DatabaseFile) throws -> CopyRun.Report {
    guard try file.isIntact() else {
      throw Failure(.database, "\(file.path): the database is damaged; nothing was copied")
    }
    try file.copyPages("copy") { progress in
      try file.connect { db in
        try Failure.naming(to, file) { try db.backup(to: to, progress: progress) }
      }
    }
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
  /// Whether nothing restricts what is copied.
  fileprivate var isOfAll: Bool { !schemaOnly && !dataOnly && !resumes && tables.isEmpty }
}

extension NamedDatabase {
  /// Calls a closure with a connection that writes, and checks no foreign keys of a file.
  fileprivate func connect<T>(_ body: (Database) throws -> T) throws -> T {
    switch self {
    case .server(let server): return try server.connect(body)
    case .file(let file):
      return try file.connect(writes: true) { db in
        try db.executeUpdate("PRAGMA foreign_keys = OFF")
        return try body(db)
      }
    }
  }
}
