import FoundationEssentials
import Glibc
import Larder
import LarderTerminal

extension Command {
  static let `import` = Command(
    name: "import", arguments: "FILE TABLE [INPUT]", argumentCount: 2...3,
    summary: "Writes the rows of a file of CSV, or of lines of JSON, into a table.",
    details: """
      INPUT is a file; without it, or for “-”, the standard input is read. The import is one transaction: a
      bad line, which is reported with its number, or Ctrl-C leaves the table as it was. The first line of
      CSV names the columns; in lines of JSON the names are those of the first object. The column's
      declaration decides the type of a field: see “larder export --help” for NULL, blobs and infinities. A
      field without quotes that isn't a number is an error in a column that is declared for numbers. Foreign
      keys have to hold at the end.

      With --on-conflict replace, an existing row with the same key takes the fields' values; its other
      columns, and the rows that refer to it, stay.

      --create creates the table and the database if they don't exist, with types that fit the first 1,000
      records. A later value that such a type would change, such as 007 in a column of integers, or "7" in
      lines of JSON, is an error; JSON's true and false become 1 and 0.

      Example:
        larder import cities.db city city.csv
        larder import cities.db city city.jsonl --on-conflict replace --skip-errors 10
        larder export a.db city | larder import b.db city --create
      """,
    options: [
      Option("create", nil, "create the table if it doesn't exist"),
      Option("columns", "NAMES", "the columns of the fields, separated by commas"),
      Option(
        "on-conflict", "WHAT", "abort, ignore or replace, if a row breaks a constraint (abort)"),
      Option("skip-errors", "N", "leave out up to this many bad lines, and report each (0)"),
    ] + RowFormat.options
  ) { invocation in
    Interruption.catchSignals()
    let path = invocation.arguments.count > 2 ? invocation.arguments[2] : "-"
    let plan = try ImportPlan(invocation, path: path)
    let location = invocation.arguments[0]
    let isNew = try plan.creates && DatabaseFile.create(location)
    do {
      let file = try DatabaseFile(location, invocation)
      if path != "-" { try file.checkIsOther(path) }
      let report = try plan.run(file, table: invocation.arguments[1])
      try invocation.show(report, [report.text])
    } catch {
      if isNew { DatabaseFile.remove(location) }
      throw error
    }
  }
}

/// The settings of an import: the source's format, the columns, and the handling of conflicts and errors.
private struct ImportPlan {
  private let source: RowSource
  private let path: String
  private let format: RowFormat
  private let names: [String]?
  private let chosen: [String]?
  private let policy: RowImport.ConflictPolicy
  private let mostSkipped: Int
  let creates: Bool

  init(_ invocation: Invocation, path: String) throws {
    self.path = path
    format = try RowFormat(invocation, path: path)
    let word = invocation.text("on-conflict") ?? "abort"
    guard let policy = RowImport.ConflictPolicy(rawValue: word) else {
      throw Failure(.usage, "--on-conflict has to be abort, ignore or replace, not “\(word)”")
    }
    self.policy = policy
    mostSkipped = try invocation.integer("skip-errors", in: 0...Int.max) ?? 0
    creates = invocation.has("create")
    chosen = try invocation.text("columns").map { try ColumnList.names($0) }
    source = try RowSource(path: path, format)
    let hasHeader = !invocation.has("no-header")
    do {
      let first = try source.names(hasHeader: hasHeader)
      names = first?.names
      if let first { try Self.check(first.names, chosen, format, line: first.line) }
      if first == nil, hasHeader, case .csv = format {
        throw BadLine(line: 1, problem: "the file is empty: it has no column names")
      }
    } catch let bad as BadLine {
      throw Self.failure(bad, path)
    }
  }

  private static func failure(_ bad: BadLine, _ path: String) -> Failure {
    Failure("\(path == "-" ? "standard input" : path):\(bad.line): \(bad.problem)")
  }

  private static func check(
    _ names: [String], _ chosen: [String]?, _ format: RowFormat, line: Int
  ) throws {
    if let name = names.firstRepeated {
      throw BadLine(line: line, problem: "the name “\(name)” occurs twice")
    }
    guard !names.contains(where: { $0.utf8.contains(0) }) else {
      throw BadLine(line: line, problem: "a column name contains a NUL")
    }
    guard let chosen, case .csv = format, names.count != chosen.count else { return }
    throw BadLine(
      line: line,
      problem: "there are \(names.count) column names, but \(chosen.count) in --columns")
  }

  func run(_ file: DatabaseFile, table name: String) throws -> ImportReport {
    try file.connect(writes: true) { db in
      do {
        return try db.inTransaction(.immediate) { db in
          // Rows may refer to later rows.
          try db.executeUpdate("PRAGMA defer_foreign_keys = ON")
          var work = RowImport(
            source, path: path, into: name, try columns(of: name, db, file),
            takesSome: chosen != nil, policy, mostSkipped: mostSkipped)
          try work.run(db)
          try Interruption.check()
          return work.report
        }
      } catch let error as DatabaseError where error.extendedCode == .constraintForeignKey {
        throw Failure(
          "rows of “\(name)” refer to missing rows; nothing was imported")
      } catch let bad as BadLine {
        throw Self.failure(bad, path)
      }
    }
  }

  /// The table's columns that receive the fields. Creates the table if `--create` asks for it.
  private func columns(
    of name: String, _ db: Database, _ file: DatabaseFile
  ) throws -> [ImportedColumn] {
    let isNew = try creates && ReadableTable(name, db) == nil
    if isNew { try create(name, db) }
    guard let table = try ReadableTable(name, db) else {
      throw Failure("\(file.path): there is no table “\(name)”; --create creates it")
    }
    guard table.isTable else {
      throw Failure("\(file.path): “\(name)” isn't an ordinary table, so it can't import rows")
    }
    guard let wanted = chosen ?? names else {
      return table.columns.filter { $0.generated == nil }
        .map { ImportedColumn($0, isStrict: table.isStrict, isGuessed: isNew) }
    }
    return try wanted.map { wanted in
      let column = try table.column(wanted)
      guard column.generated == nil else {
        throw Failure(
          "the column “\(wanted)” of “\(table.name)” is generated, so it takes no values")
      }
      return ImportedColumn(column, isStrict: table.isStrict, isGuessed: isNew)
    }
  }

  private func create(_ name: String, _ db: Database) throws {
    let guesses = try ColumnGuess.guesses(source, chosen ?? names)
    guard !guesses.isEmpty else {
      throw Failure("“\(name)” can't be created from an empty file: nothing names its columns")
    }
    let list = guesses.map { "\($0.name.quotedIdentifier) \($0.type)" }.joined(separator: ", ")
    try db.executeUpdate(SQL(raw: "CREATE TABLE main.\(name.quotedIdentifier) (\(list))"))
  }
}

extension DatabaseFile {
  /// Creates a database without tables if there is no file, and returns whether it did.
  static func create(_ path: String) throws -> Bool {
    guard !path.isEmpty, !FileManager.default.fileExists(atPath: path) else { return false }
    var configuration = Configuration()
    configuration.journalMode = nil
    do {
      let db = try Database(path: path, configuration: configuration)
      // Writing the version, even unchanged, makes SQLite write the file's header.
      try db.setUserVersion(0)
      try db.close()
      return true
    } catch let error as DatabaseError {
      remove(path)
      throw Failure(describing: error, database: path)
    }
  }

  static func remove(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
  }
}
