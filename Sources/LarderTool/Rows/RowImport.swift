import Larder
import LarderTerminal

/// Inserts a file's records into a table, in the caller's transaction.
struct RowImport {
  /// The handling of a row that violates a constraint.
  enum ConflictPolicy: String, CaseIterable { case abort, ignore, replace }

  let source: RowSource
  let path: String
  /// The columns that receive the fields, in the fields' order.
  let columns: [ImportedColumn]
  /// Whether JSON members that belong to none of the columns are ignored.
  let takesSome: Bool
  let insert: FixedSQL
  let mostSkipped: Int
  private let keys: [[UInt8]]
  private let places: [[UInt8]: Int]
  private(set) var report: ImportReport

  init(
    _ source: RowSource, path: String, into table: String, _ columns: [ImportedColumn],
    takesSome: Bool, _ policy: ConflictPolicy, mostSkipped: Int
  ) {
    self.source = source
    self.path = path == "-" ? "standard input" : path
    self.columns = columns
    self.takesSome = takesSome
    self.mostSkipped = mostSkipped
    keys = columns.map { Array($0.name.utf8) }
    places = columns.map(\.name).places
    let conflict = policy == .ignore ? " OR IGNORE" : ""
    let quoted = columns.map(\.name.quotedIdentifier)
    let values = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    // OR REPLACE would delete the existing row, with the rows that refer to it and the columns not in the
    // file.
    let update =
      policy == .replace
      ? " ON CONFLICT DO UPDATE SET "
        + quoted.map { "\($0) = excluded.\($0)" }.joined(separator: ", ") : ""
    insert = FixedSQL(
      """
      INSERT\(conflict) INTO main.\(table.quotedIdentifier) (\(quoted.joined(separator: ", "))) \
      VALUES (\(values))\(update)
      """)
    report = ImportReport(table: table)
  }

  mutating func run(_ db: Database) throws {
    var bar = ProgressBar("import")
    defer { bar.clear() }
    var count = 0
    while true {
      do {
        guard try source.next() else { return }
        if try store(db) > 0 { report.rows += 1 } else { report.ignored += 1 }
      } catch let bad as BadLine {
        try skip(bad, &bar)
      } catch let error as DatabaseError where error.code.isOfRow {
        try skip(BadLine(line: source.line, problem: error.message), &bar)
      }
      count += 1
      if count % 256 == 0 {
        try Interruption.check()
        if count % 4096 == 0 { bar.show(source.partRead) }
      }
    }
  }

  private mutating func skip(_ bad: BadLine, _ bar: inout ProgressBar) throws {
    let problem = "\(path):\(bad.line): \(bad.problem)"
    guard report.skipped < mostSkipped else {
      let more =
        mostSkipped > 0 ? "; more than \(mostSkipped.grouped) lines are bad" : ""
      throw Failure("\(problem)\(more); nothing was imported")
    }
    bar.clear()
    Output.note("larder: \(problem.printable); left out")
    report.skipped += 1
  }

  /// Stores the current record, and returns the number of changed rows.
  private func store(_ db: Database) throws -> Int {
    switch source {
    case .csv(let reader, let null):
      guard reader.fieldCount == columns.count else {
        throw BadLine(
          line: reader.line,
          problem:
            "there \(reader.fieldCount == 1 ? "is 1 field" : "are \(reader.fieldCount) fields")"
            + ", for \(columns.count) \(columns.count == 1 ? "column" : "columns")")
      }
      return try db.run(insert) { arena in
        for index in columns.indices {
          try bind(index, arena) { column, parameter in
            try reader.withBytes(index) { bytes in
              try column.bind(
                reader.isQuoted(index)
                  ? .text(bytes) : bytes.elementsEqual(null) ? .null : .bare(bytes), to: parameter)
            }
          }
        }
      }
    case .jsonLines(let reader):
      return try reader.withBytes { bytes in
        let object = try JSONLine(bytes, line: reader.line)
        let members = try order(object)
        return try db.run(insert) { arena in
          for index in columns.indices {
            try bind(index, arena) { column, parameter in
              try object.withField(members[index]) { try column.bind($0, to: parameter) }
            }
          }
        }
      }
    }
  }

  @inline(__always)
  private func bind(
    _ index: Int, _ arena: BindingArena,
    _ body: (ImportedColumn, ParameterBinder) throws -> Void
  ) throws {
    do {
      try body(
        columns[index], ParameterBinder(arena: arena, index: Int32(truncatingIfNeeded: index + 1)))
    } catch let problem as FieldProblem {
      throw BadLine(line: source.line, problem: "“\(columns[index].name)”: \(problem.problem)")
    }
  }

  /// The members of an object in the order of the columns.
  private func order(_ object: JSONLine) throws -> [JSONScanner.Member] {
    let members = object.members
    if members.count == keys.count, zip(members, keys).allSatisfy({ object.isNamed($0, $1) }) {
      return members
    }
    func bad(_ problem: String) -> BadLine { BadLine(line: object.line, problem: problem) }
    var found: [JSONScanner.Member?] = Array(repeating: nil, count: keys.count)
    for (member, name) in zip(members, try object.names()) {
      guard let index = places[name.foldedName] else {
        if takesSome { continue }
        throw bad("“\(name)” isn't a column of the first line")
      }
      guard found[index] == nil else { throw bad("“\(name)” occurs twice") }
      found[index] = member
    }
    return try found.enumerated().map { index, member in
      guard let member else { throw bad("“\(columns[index].name)” is missing") }
      return member
    }
  }
}

extension ResultCode {
  /// Whether the error is one of the row, and not of the database.
  fileprivate var isOfRow: Bool { self == .constraint || self == .tooBig || self == .mismatch }
}

/// The result of an import.
struct ImportReport: Encodable {
  let table: String
  /// The number of rows that were inserted or updated.
  var rows = 0
  /// The number of rows that `--on-conflict ignore` left out.
  var ignored = 0
  /// The number of bad records that were left out.
  var skipped = 0

  var text: String {
    var text =
      "\(rows.grouped) \(rows == 1 ? "row was" : "rows were") imported into “\(table.printable)”"
    if ignored > 0 { text += ", \(ignored.grouped) ignored" }
    if skipped > 0 { text += ", \(skipped.grouped) bad ones left out" }
    return text
  }
}
