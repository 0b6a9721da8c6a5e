import FoundationEssentials
import Larder
import LarderTerminal

extension Command {
  static let generate = Command(
    name: "generate", arguments: "FILE [TABLE…]", argumentCount: 1...10_000,
    summary: "Writes Swift records of a database's tables and views, with their relations.",
    details: """
      The code compiles as it is, and declares the database's schema: Larder's “differences” finds none.
      Whether text is a date, a UUID or JSON, and 0 and 1 are a Bool, is guessed from the rows. Comments name
      the guesses, and anything that a declaration can't express. The same database always gives the same
      code. It is only read.
      A PostgreSQL server (postgres://…) declares the types itself; temporary tables for the comparison are
      created there and rolled back. Its enumerations become Swift's, as do CHECKs that list texts, and COMMENT ON
      becomes documentation.

      Example:
        larder generate cities.db > Cities.swift
        larder generate cities.db city country --by-hand
        larder generate postgres://app@db.example.org/app > Records.swift
        larder generate cities.db --names city=Town,city.pop=inhabitants --output Cities.swift
        larder generate cities.db --output Cities.swift --check     # in CI: status 1 if it is out of date
      """,
    options: [
      Option("macro", nil, "write them with @Record, of the product LarderMacros (the default)"),
      Option("by-hand", nil, "write them without the macro, for Larder alone"),
      Option("names", "NAMES", "your own names: table=Type,table.column=property"),
      Option("inside", "NAME", "put the records into an enum of this name"),
      Option("rows", "NUMBER", "how many rows of each table the guesses are based on (10,000)"),
      Option("output", "SWIFT", "write into this file, unless it is up to date"),
      Option(
        "check", nil, "with --output: write nothing, and end with status 1 if it is out of date"),
      .schema,
    ]
  ) { invocation in
    guard !invocation.has("macro") || !invocation.has("by-hand") else {
      throw Failure(.usage, "--macro and --by-hand exclude one another")
    }
    guard invocation.has("output") || !invocation.has("check") else {
      throw Failure(.usage, "--check needs --output, the file to be checked")
    }
    let request = try RecordsPlan.Request(invocation)
    let database = try NamedDatabase(invocation.arguments[0], invocation)
    let output = try invocation.text("output").map { try TextFile($0, besides: database.file) }
    let plan = try RecordsPlan(database, request)
    let text = RecordText(usesMacro: !invocation.has("by-hand"), space: request.space)
      .file(plan, source: request.path.lastComponent, command: request.command(invocation))
    let report = try GeneratedRecords(plan, text, output, checks: invocation.has("check"))
    if invocation.wantsJSON {
      try Output.showJSON(report)
    } else if let output {
      print("\(output.path.printable): \(report.state)")
    } else {
      print(text, terminator: "")
    }
    if invocation.has("check"), report.state == .outOfDate { throw Failure("") }
  }
}

extension RecordsPlan.Request {
  init(_ invocation: Invocation) throws {
    let path = invocation.arguments[0]
    let isOnServer = ServerDatabase.isAddress(path)
    self.init(path: isOnServer ? ServerDatabase.withoutSecrets(path) : path)
    tables = Array(invocation.arguments.dropFirst())
    names = invocation.texts("names")
    space = invocation.text("inside")
    schema = invocation.text("schema")
    rows = try invocation.integer("rows", in: 0...Int.max) ?? rows
    if isOnServer, invocation.has("rows") {
      throw Failure(
        .usage, "--rows is only for files: a server declares its types, so its rows aren't read")
    }
    if let space, !SwiftName.isIdentifier(space) || SwiftName.reservedTypes.contains(space) {
      throw Failure(.usage, "--inside: “\(space)” can't be the name of an enum")
    }
  }

  /// The command line that repeats this run, with all options that change the code. Absolute paths lose their
  /// folders, which other machines don't have.
  fileprivate func command(_ invocation: Invocation) -> String {
    func portable(_ path: String) -> String { path.hasPrefix("/") ? path.lastComponent : path }
    var words = ["larder", "generate"]
    words += [ServerDatabase.isAddress(path) ? path : portable(path)] + tables
    for flag in ["macro", "by-hand", "untrusted"] where invocation.has(flag) {
      words.append("--\(flag)")
    }
    for names in names { words += ["--names", names] }
    if let space { words += ["--inside", space] }
    if let rows = invocation.text("rows") { words += ["--rows", rows] }
    if let schema = invocation.text("schema") { words += ["--schema", schema] }
    if let output = invocation.text("output") { words += ["--output", portable(output)] }
    return words.map(\.shellWord).joined(separator: " ")
  }
}

extension RecordsPlan {
  fileprivate init(_ database: NamedDatabase, _ request: Request) throws {
    self = try database.read { db in
      var plan = try RecordsPlan(db, request)
      if case .server(let server) = database {
        try plan.noteOtherSchemas(server.remarkOnOtherSchemas(db))
      }
      return plan
    }
    guard case .server(let server) = database else { return }
    // A read-only transaction can't create temporary tables.
    self = try server.connect { [self] db in
      try db.inTransaction { db in
        var plan = self
        try plan.noteDifferences(onServer: db)
        db.setRollbackOnly()
        return plan
      }
    }
  }
}

extension NamedDatabase {
  fileprivate var file: DatabaseFile? { if case .file(let file) = self { file } else { nil } }
}

extension String {
  var lastComponent: String {
    split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? self
  }

  /// The text as one word of a shell, in quotes if necessary.
  var shellWord: String {
    let isPlain =
      !isEmpty
      && unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || ("0"..."9").contains($0)
          || "._-=,/".unicodeScalars.contains($0)
      }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}

/// The result of `generate`, for `--json`.
struct GeneratedRecords: Encodable {
  enum State: String, Encodable, CustomStringConvertible {
    /// The text was printed, since no `--output` was given.
    case shown
    case written
    case upToDate
    case outOfDate

    var description: String {
      switch self {
      case .shown: "shown"
      case .written: "written"
      case .upToDate: "up to date"
      case .outOfDate: "out of date"
      }
    }
  }

  struct GeneratedRecord: Encodable {
    let table: String
    let type: String
    let isView: Bool
    let properties: [Property]
    let associations: [String]
    let notes: [String]
  }

  struct Property: Encodable {
    let column: String
    let name: String
    let type: String
    let coding: String?
    let notes: [String]
  }

  let state: State
  let records: [GeneratedRecord]
  let leftOut: [String]
  let source: String

  /// Writes the text to its file if it differs. With `checks`, only compares.
  fileprivate init(
    _ plan: RecordsPlan, _ text: String, _ output: TextFile?, checks: Bool
  ) throws {
    source = text
    leftOut = plan.leftOut
    records = plan.records.map { record in
      GeneratedRecord(
        table: record.table.name, type: record.type, isView: record.isView,
        properties: record.properties.map {
          Property(
            column: $0.column.name, name: $0.name, type: $0.type, coding: $0.storage.coding,
            notes: $0.notes)
        }, associations: record.associations.map(\.name), notes: record.notes)
    }
    guard let output else {
      state = .shown
      return
    }
    let old = output.contents
    if old == Data(text.utf8)
      || checks && old?.withoutCommand == Data(text.utf8).withoutCommand
    {
      state = .upToDate
    } else if checks {
      state = .outOfDate
    } else {
      try output.replace(by: text)
      state = .written
    }
  }
}

extension Data {
  /// Generated code without the line of its command, in which paths depend on the current folder.
  fileprivate var withoutCommand: [ArraySlice<UInt8>] {
    var lines = [UInt8](self).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.count > 1 { lines.remove(at: 1) }
    return lines
  }
}
