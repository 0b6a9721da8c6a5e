import FoundationEssentials
import Glibc
import Larder
import LarderSQLite
import LarderTerminal

extension Command {
  static let `import` = Command(
    name: "import", arguments: "FILE TABLE [INPUT]", argumentCount: 2...3,
    summary: "Writes the rows of a file of CSV, or of lines of JSON, into a table.",
    details: """
      INPUT is a file, or the standard input for “-” and without it. All of it is one transaction: a bad line,
      which is told with its number, or Ctrl-C leaves the table as it was. The first line of CSV names the
      columns; in lines of JSON the names are those of the first object. What is in a field is what the column's
      declaration makes of it: see “larder export --help” for NULL, blobs and infinities. A field without
      quotes that isn't the number its column is declared for is an error. Foreign keys have to hold at the end.

      With --on-conflict replace a row that has the same key takes the fields' values; its other columns, and the
      rows that refer to it, stay.

      --create makes the table, and the database, where there is none, with types that fit the first 1,000
      records. What such a type would change later, as 007 in a column of integers, or "7" in lines of JSON, is an
      error; of JSON's true and false it makes 1 and 0.

      Example:
        larder import cities.db city city.csv
        larder import cities.db city city.jsonl --on-conflict replace --skip-errors 10
        larder export a.db city | larder import b.db city --create
      """,
    options: [
      Option("create", nil, "make the table, if there is none of this name"),
      Option("columns", "NAMES", "the columns that the fields are for, with commas between"),
      Option(
        "on-conflict", "WHAT", "abort, ignore or replace, where a row breaks a constraint (abort)"),
      Option("skip-errors", "N", "leave out up to so many bad lines, and tell each (0)"),
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
      if invocation.wantsJSON { return try Output.showJSON(report) }
      print(report.text)
    } catch {
      if isNew { DatabaseFile.remove(location) }
      throw error
    }
  }
}

/// What a file is, and what is to become of its records.
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
      throw Failure(.usage, "--on-conflict is abort, ignore or replace, not “\(word)”")
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
        throw BadLine(line: 1, problem: "the file is empty: there are no names of columns")
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
      throw BadLine(line: line, problem: "the name “\(name)” is there twice")
    }
    guard !names.contains(where: { $0.utf8.contains(0) }) else {
      throw BadLine(line: line, problem: "there is a NUL in the name of a column")
    }
    guard let chosen, case .csv = format, names.count != chosen.count else { return }
    throw BadLine(
      line: line,
      problem: "there are \(names.count) names of columns, and \(chosen.count) in --columns")
  }

  func run(_ file: DatabaseFile, table name: String) throws -> ImportReport {
    try file.connect(writes: true) { db in
      do {
        return try db.inTransaction(.immediate) { db in
          // Rows may refer to rows that come after them.
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
          "rows of “\(name)” refer to rows that aren't there; nothing was imported")
      } catch let bad as BadLine {
        throw Self.failure(bad, path)
      }
    }
  }

  /// The table's columns that the fields are for; makes the table if that is asked for.
  private func columns(
    of name: String, _ db: Database, _ file: DatabaseFile
  ) throws -> [ImportedColumn] {
    let isNew = try creates && db.readableTable(name) == nil
    if isNew { try create(name, db) }
    guard let table = try db.readableTable(name) else {
      throw Failure("\(file.path): there is no table “\(name)”; --create makes one")
    }
    guard table.isTable else {
      throw Failure("\(file.path): “\(name)” is no ordinary table, and takes no rows")
    }
    guard let wanted = chosen ?? names else {
      return table.columns.filter { $0.generatedSQL == nil }
        .map { ImportedColumn($0, isStrict: table.isStrict, isGuessed: isNew) }
    }
    let places = table.columns.map(\.name).places
    return try wanted.map { wanted in
      guard let place = places[wanted.foldedName] else {
        throw Failure("“\(table.name)” has no column “\(wanted)”")
      }
      let column = table.columns[place]
      guard column.generatedSQL == nil else {
        throw Failure("the column “\(wanted)” of “\(table.name)” is computed, and takes no values")
      }
      return ImportedColumn(column, isStrict: table.isStrict, isGuessed: isNew)
    }
  }

  private func create(_ name: String, _ db: Database) throws {
    let guesses = try ColumnGuess.guesses(source, chosen ?? names)
    guard !guesses.isEmpty else {
      throw Failure("“\(name)” can't be made of an empty file: nothing names its columns")
    }
    let list = guesses.map { "\($0.name.quotedIdentifier) \($0.type)" }.joined(separator: ", ")
    try db.executeUpdate(SQL(raw: "CREATE TABLE main.\(name.quotedIdentifier) (\(list))"))
  }
}

extension DatabaseFile {
  /// Makes a database without tables where there is no file, and tells whether it has.
  static func create(_ path: String) throws -> Bool {
    guard !path.isEmpty, !FileManager.default.fileExists(atPath: path) else { return false }
    var configuration = Configuration()
    configuration.journalMode = nil
    do {
      let db = try Database(path: path, configuration: configuration)
      // What is written, be it what is there, writes the header.
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
