import FoundationEssentials
import Larder
import LarderTerminal

/// The content of a page of `browse`.
struct BrowsedDatabase: Encodable {
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
    name = table.name
    kind = table.kind
    rowCount = table.rows?.text
    columns = table.columns
    sql = table.sql
    problem = table.problem
    guard !columns.isEmpty, limit > 0, problem == nil else { return }
    let list = SQL(raw: columns.map(\.name).identifierList)
    let query: SQL = "SELECT \(list) FROM main.\(identifier: name) LIMIT \(limit)"
    var found: [[BrowsedValue]] = []
    do {
      let done: Void? = try db.within(Self.time) {
        try db.executeQuery(query).forEach { row in
          found.append(try columns.indices.map { try BrowsedValue(row, $0) })
        }
      }
      if done == nil { problem = "reading more rows would take too long" }
    } catch let error as DatabaseError where !error.isInterrupt {
      problem = error.message
    }
    rows = found
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
