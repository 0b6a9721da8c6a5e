import FoundationEssentials
import Larder
import LarderTerminal

/// The content of a page of `browse`, of a file or of a schema on a server.
struct BrowsedDatabase: Encodable {
  /// The name of the file, or of the server's database.
  let file: String
  /// The size in bytes.
  let size: Int
  let tables: [BrowsedTable]
  let findings: [Finding]
  /// Sentences about everything that check has skipped.
  let remarks: [String]
  private let schemaPicture: String

  private enum CodingKeys: CodingKey {
    case file, size, tables, findings, remarks
  }

  /// The time limit for each part of the check: a page isn't waited for as long as a check.
  private static let timeForCheck = Duration.seconds(5)

  /// - Parameter rows: the number of rows of each table.
  init(_ db: Database, _ file: DatabaseFile, rows: Int) throws {
    self.file = file.path.lastComponent
    size = file.size
    let inspection = try Inspection(db, file, table: nil, isExact: false)
    tables = try inspection.tables.filter { $0.kind != "shadow" }.map {
      try BrowsedTable($0, db, rows: rows)
    }
    schemaPicture = Diagram(try Schema(db)).svg
    var bounds = CheckBounds()
    bounds.time = Self.timeForCheck
    let checked = try CheckedDatabase(db, file, queries: [], bounds: bounds)
    let none = try RuleNames([], "")
    let report = try CheckReport(checked, Rule.all, ignoring: none, only: none)
    findings = report.findings
    remarks = report.remarks
  }

  /// Reads a server's database in a transaction, which this makes read-only.
  ///
  /// - Parameter rows: the number of rows of each table.
  init(_ db: Database, _ server: ServerDatabase, rows: Int) throws {
    let checked = try CheckedServer(db, name: server.name, queries: [], time: Self.timeForCheck)
    let inspection = try ServerInspection(db, server.name, table: nil)
    let schema = inspection.schema == "public" ? "" : ", schema \(inspection.schema)"
    file = inspection.database + schema
    size = inspection.size
    tables = try inspection.tables.map { try BrowsedTable($0.inspected, ofServer: db, rows: rows) }
    schemaPicture = Diagram(try Schema(db)).svg
    let none = try RuleNames([], "")
    let report = try CheckReport(checked, ServerRule.all, ignoring: none, only: none)
    findings = report.findings
    remarks = report.remarks
  }

  /// The page.
  var html: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      // A text that ends the element, or begins a comment, must not do so in the page.
      let data = String(decoding: try encoder.encode(self), as: UTF8.self)
        .replacing("<", with: "\\u003c")
      return BrowsePage.html(title: file, picture: schemaPicture, data: data)
    }
  }
}

/// A table or view with some of its rows.
struct BrowsedTable: Encodable {
  let name: String
  let kind: String
  /// The number of rows as it is printed; nil if it isn't known.
  let rowCount: String?
  let columns: [InspectedColumn]
  let sql: String?
  private(set) var rows: [[BrowsedValue]] = []
  /// The reason why there are no rows, or not as many as there should be.
  private(set) var problem: String?

  /// The time limit for reading rows: a view could take very long.
  private static let time = Duration.seconds(2)

  init(_ table: InspectedTable, _ db: Database, rows limit: Int) throws {
    self.init(table)
    guard !columns.isEmpty, limit > 0, problem == nil else { return }
    do {
      let done: Void? = try db.within(Self.time) { try read("main.", db, limit) }
      if done == nil { problem = Self.isTooSlow }
    } catch let error as DatabaseError where !error.isInterrupt {
      problem = error.message
    }
  }

  /// Reads rows of a server's table, for as long as the transaction's `statement_timeout` lets.
  init(_ table: InspectedTable, ofServer db: Database, rows limit: Int) throws {
    self.init(table)
    guard !columns.isEmpty, limit > 0 else { return }
    do {
      // After an error, such as a missing permission, the transaction goes on.
      try db.inSavepoint { try read("", $0, limit) }
    } catch let error as DatabaseError {
      try Interruption.check()
      // The state of a query that was cancelled.
      problem = error.sqlState == "57014" ? Self.isTooSlow : error.message
      guard error.sqlState.map({ !$0.hasPrefix("08") }) ?? true else { throw error }
    }
  }

  private static let isTooSlow = "reading more rows would take too long"

  private init(_ table: InspectedTable) {
    name = table.name
    kind = table.kind
    rowCount = table.rows?.text
    columns = table.columns
    sql = table.sql
    problem = table.problem
  }

  private mutating func read(_ schema: String, _ db: Database, _ limit: Int) throws {
    let list = SQL(raw: columns.map(\.name).identifierList)
    let query: SQL =
      "SELECT \(list) FROM \(SQL(raw: schema))\(identifier: name) LIMIT \(limit)"
    try db.executeQuery(query).forEach { row in
      rows.append(try columns.indices.map { try BrowsedValue(row, $0) })
    }
  }
}

/// A value as the page's script gets it: null, a number, a text, or an object.
enum BrowsedValue: Encodable, Equatable {
  case null
  case number(Double)
  /// An integer that a script's numbers don't hold.
  case large(Int64)
  case text(String)
  /// The beginning of a long text, and its number of characters.
  case longText(String, Int)
  /// The first bytes of a blob as hexadecimal digits, and its number of bytes.
  case blob(String, Int)

  private static let mostCharacters = 1000
  private static let mostBytes = 16

  init(_ row: some ColumnAccess, _ index: Int) throws {
    switch try row.storageClass(at: index) {
    case .null: self = .null
    case .integer:
      let value = try row.get(at: index, as: Int64.self)
      self = value.magnitude < 1 << 53 ? .number(Double(value)) : .large(value)
    case .real:
      let value = try row.get(at: index, as: Double.self)
      self = value.isFinite ? .number(value) : .text("\(value)")
    case .text:
      let text = try row.withUnsafeBytes(at: index) { String(decoding: $0, as: UTF8.self) }
      let beginning = text.prefix(Self.mostCharacters)
      self =
        beginning.endIndex == text.endIndex
        ? .text(text) : .longText(String(beginning), text.count)
    case .blob:
      self = try row.withUnsafeBytes(at: index) { bytes in
        let digits = bytes.prefix(Self.mostBytes).map { byte in
          (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return .blob(digits.joined(), bytes.count)
      }
    }
  }

  private enum Key: CodingKey {
    case integer, text, length, blob, bytes
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .number(let value):
      var container = encoder.singleValueContainer()
      try container.encode(value)
    case .text(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .large(let value):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode("\(value)", forKey: .integer)
    case .longText(let text, let length):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(text, forKey: .text)
      try container.encode(length, forKey: .length)
    case .blob(let digits, let count):
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(digits, forKey: .blob)
      try container.encode(count, forKey: .bytes)
    }
  }
}
