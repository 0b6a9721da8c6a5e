import Larder
import LarderTerminal

extension Command {
  static let export = Command(
    name: "export", arguments: "FILE [TABLE]", argumentCount: 1...2,
    summary: "Writes the rows of a table, a view or a query as CSV or as lines of JSON.",
    details: """
      “larder import” reads back the same values. In CSV NULL is nothing (or --null), a blob x'0AFF', an
      empty text "", and a text is in quotes if it could be taken for something else. In JSON a blob is
      {"base64": "Cv8="}. Infinities are 9e999 and -9e999. Generated columns are left out, unless they are
      named. The file of --output appears only once it is complete. FILE may be a server's address: values are
      those of “larder query” there.

      Example:
        larder export cities.db city > city.csv
        larder export cities.db city --jsonl --columns id,name --output city.jsonl
        larder export cities.db --query 'SELECT name FROM city WHERE country = :code' --bind code=NO
      """,
    options: [
      Option("query", "SQL", "the rows of a query; “-” reads it from the standard input"),
      Option("bind", "NAME=VALUE", "bind a value of the query by its name"),
      Option("columns", "NAMES", "the columns, separated by commas, quoted as in CSV"),
      Option("output", "PATH", "write to a file instead of the standard output"),
      Option("replace", nil, "replace the file of --output if it exists"),
    ] + RowFormat.options + [.schema]
  ) { invocation in
    let database = try NamedDatabase(invocation.arguments[0], invocation)
    guard !invocation.wantsJSON else {
      throw Failure(.usage, "--jsonl writes lines of JSON; “larder query --json” an array")
    }
    let path = invocation.text("output")
    if let path, case .file(let file) = database { try file.checkIsOther(path) }
    let format = try RowFormat(invocation, path: path)
    let selection = try ExportedSelection(invocation)
    try database.read { db in
      let (rows, forms) = try selection.rows(db, database)
      let names = RowOutput.distinct(rows.columnNames)
      guard !names.isEmpty else { throw Failure(.usage, "the statement returns no columns") }
      var writer = RowWriter(
        format, names: names, forms: forms ?? names.map { _ in .any },
        header: !invocation.has("no-header"),
        try ByteOutput(path: path, replaces: invocation.has("replace")))
      while try rows.next() {
        try writer.write(rows)
        if writer.count % 256 == 0 { try Interruption.check() }
      }
      try writer.finish()
      if let path {
        Output.note("\(path.printable): \(writer.count.counted("row"))")
      }
    }
  }
}

/// The rows to export: a table's, or a query's.
private struct ExportedSelection {
  private let invocation: Invocation
  private let columns: [String]?

  init(_ invocation: Invocation) throws {
    self.invocation = invocation
    let isTable = invocation.arguments.count > 1
    guard isTable != invocation.has("query") else {
      throw Failure(.usage, "give either a table or --query")
    }
    guard !isTable || !invocation.has("bind") else {
      throw Failure(.usage, "--bind is only for --query")
    }
    guard isTable || !invocation.has("columns") else {
      throw Failure(.usage, "--columns is only for a table; a query names its own columns")
    }
    columns = try invocation.text("columns").map { try ColumnList.names($0) }
  }

  /// The rows, and the forms of the columns if they are a table's.
  func rows(_ db: Database, _ database: NamedDatabase) throws -> (ResultSet, [ColumnForm]?) {
    guard invocation.arguments.count > 1 else { return (try queried(db, database), nil) }
    let name = invocation.arguments[1]
    guard let found = try ReadableTable(name, db) else {
      throw Failure("\(database.name): there is no table or view “\(name)”")
    }
    let exported =
      try columns?.map { try found.column($0) } ?? found.columns.filter { $0.generated == nil }
    guard !exported.isEmpty else { throw Failure("“\(found.name)” has only computed columns") }
    let list = exported.map(\.name.quotedIdentifier).joined(separator: ", ")
    let schema = db.engine == nil ? "main." : ""
    let sql = "SELECT \(list) FROM \(schema)\(found.name.quotedIdentifier)"
    return (
      try db.executeQuery(SQL(raw: sql)),
      exported.map { column in
        guard db.engine == nil else { return .text }
        return found.isTable ? ColumnForm(type: column.type, isStrict: found.isStrict) : .any
      }
    )
  }

  private func queried(_ db: Database, _ database: NamedDatabase) throws -> ResultSet {
    let sql = SQL(raw: try sqlText(invocation.text("query") ?? ""))
    let arguments = try QueryParameters.arguments([], named: invocation.texts("bind"))
    return try database.reportingSQL {
      // A server needs no authorizer: the transaction is READ ONLY.
      guard db.engine == nil else { return try db.executeQuery(sql, arguments: arguments) }
      return try db.onlyReading { db in
        let rows = try db.executeQuery(sql, arguments: arguments)
        // Compiles the statement here, while the authorizer is set.
        _ = rows.columnNames
        return rows
      }
    }
  }
}

/// A table or view that rows can be read from.
struct ReadableTable {
  let name: String
  let columns: [ColumnSchema]
  private let places: [[UInt8]: Int]
  let isStrict: Bool
  /// Whether this is an ordinary table: no view, and no virtual table.
  let isTable: Bool

  /// The table or view of this name in the main database; nil if there is none.
  init?(_ name: String, _ db: Database) throws {
    guard db.engine == nil else {
      guard
        try db.value("SELECT to_regclass(\(name.quotedIdentifier)) IS NOT NULL", as: Bool.self)
          == true
      else { return nil }
      (self.name, isStrict, isTable) = (name, false, false)
      columns = try db.columns(of: name)
      places = columns.map(\.name).places
      return
    }
    let found = try db.executeQuery(
      "SELECT name, strict, type = 'table' FROM pragma_table_list(?) WHERE schema = 'main'", name
    ).map { (try $0.get(at: 0) as String, try $0.get(at: 1) as Bool, try $0.get(at: 2) as Bool) }
    guard let first = found.first else { return nil }
    (self.name, isStrict, isTable) = first
    columns = try db.columns(of: self.name, in: "main")
    places = columns.map(\.name).places
  }

  /// The column of this name. Throws ``Failure`` if there is none.
  func column(_ name: String) throws -> ColumnSchema {
    guard let place = places[name.foldedName] else {
      throw Failure("“\(self.name)” has no column “\(name)”")
    }
    return columns[place]
  }
}

/// The value of `--columns`: names separated by commas, optionally quoted as in CSV.
enum ColumnList {
  static func names(_ text: String) throws -> [String] {
    var names: [String] = []
    var rest = Array(text.utf8)[...]
    while true {
      var name: [UInt8] = []
      if rest.first == UInt8(ascii: "\"") {
        rest.removeFirst()
        while let byte = rest.popFirst() {
          if byte == UInt8(ascii: "\"") {
            guard rest.first == byte else { break }
            rest.removeFirst()
          }
          name.append(byte)
        }
      } else {
        name = Array(rest.prefix { $0 != comma })
        rest = rest.dropFirst(name.count)
      }
      names.append(String(decoding: name, as: UTF8.self))
      guard let next = rest.popFirst() else { break }
      guard next == comma else {
        throw Failure(.usage, "--columns needs names separated by commas, not “\(text)”")
      }
    }
    if let name = names.firstRepeated {
      throw Failure(.usage, "--columns names “\(name)” twice")
    }
    return names
  }
}

extension [String] {
  /// The position of each name, by its folded form.
  var places: [[UInt8]: Int] {
    Dictionary(enumerated().map { ($1.foldedName, $0) }) { first, _ in first }
  }

  /// The first name that SQLite considers the same as an earlier one.
  var firstRepeated: String? {
    var seen: Set<[UInt8]> = []
    return first { !seen.insert($0.foldedName).inserted }
  }
}

extension String {
  /// Whether SQLite considers both names the same.
  func isSameName(_ other: String) -> Bool {
    utf8.count == other.utf8.count && foldedName == other.foldedName
  }
}
