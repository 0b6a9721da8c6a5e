import Larder
import LarderTerminal

/// A database that rules look at: what several of them need is read once, and in bounded time.
final class CheckedDatabase {
  let db: Database
  let file: DatabaseFile
  let schema: Schema
  let entries: [SchemaEntry]
  /// The plans of the statements that were given.
  let plans: [Explanation]
  /// How much may be looked at.
  let bounds: CheckBounds
  /// What was not looked at, or not all of it.
  private(set) var remarks: [String] = []
  private let tables: [[UInt8]: TableSchema]
  /// Of ANALYZE: the rows of tables.
  let statistics: [String: Int]
  private let takenNames: Set<String>
  private var counter: RowCounter?
  /// When all has to be done, and when the rows have to be read.
  private let deadline: ContinuousClock.Instant?
  private var readingDeadline: ContinuousClock.Instant?
  private var rowCounts: [String: RowCount] = [:]
  private var profiles: [String: TableProfile] = [:]
  private var unreadable: Set<String> = []
  private var knownIntegrityLines: [String]?

  init(_ db: Database, _ file: DatabaseFile, queries: [String], bounds: CheckBounds) throws {
    self.db = db
    self.file = file
    self.bounds = bounds
    schema = try Schema(db)
    tables = schema.tablesByName
    entries = try db.schema()
    statistics = try db.tableStatistics()
    takenNames = Set(entries.map { $0.name.lowercased() })
    plans = try queries.map { try Explanation(db, $0) }
    deadline = bounds.time.map { .now + $0 * 4 }
  }

  /// The table of this name, in any case.
  func table(_ name: String) -> TableSchema? { tables[name.foldedName] }

  func remark(_ text: String) {
    if !remarks.contains(text) { remarks.append(text) }
  }

  /// What a closure returns, or nil and a remark where it takes too long.
  func within<T>(_ what: String, _ body: () throws -> T) throws -> T? {
    let time = bounds.time.flatMap { time in deadline.map { min(time, $0 - .now) } }
    let result = time.map { $0 > .zero } ?? true ? try db.within(time, body) : nil
    if result == nil { remark("\(what) took too long, and was given up; --all takes the time") }
    return result
  }

  /// The number of a table's rows; nil where counting would take too long.
  func rows(of table: TableSchema) throws -> Int? {
    if rowCounts[table.name] == nil {
      let counter = try counter ?? RowCounter(db, time: bounds.time)
      self.counter = counter
      rowCounts[table.name] = try counter.rows(of: table.name, hasRowID: !table.isWithoutRowID)
    }
    guard let count = rowCounts[table.name], count.source == .counted else { return nil }
    return count.rows
  }

  /// What the columns of a table hold; nil, and a remark, where it can't be read.
  func profile(of table: TableSchema) throws -> TableProfile? {
    if let known = profiles[table.name] { return known }
    guard !unreadable.contains(table.name) else { return nil }
    readingDeadline = readingDeadline ?? bounds.time.map { .now + $0 }
    do {
      let profile = try TableProfile(of: table, in: db, bounds, until: readingDeadline)
      if !profile.isWhole {
        remark("“\(table.name)”: \(profile.rows.grouped) rows were looked at, and not all")
      }
      if let column = table.columns.dropFirst(profile.columns.count).first {
        remark("“\(table.name)”: the columns from “\(column.name)” on weren't looked at")
      }
      profiles[table.name] = profile
      return profile
    } catch let error as DatabaseError where !error.isInterrupt {
      unreadable.insert(table.name)
      remark("“\(table.name)” can't be read: \(error.message)")
      return nil
    }
  }

  /// What SQLite's integrity check says, line by line.
  func integrityLines() throws -> [String] {
    if let knownIntegrityLines { return knownIntegrityLines }
    var lines: [String] = []
    do {
      _ = try within("the integrity check") {
        try db.executeQuery("PRAGMA main.integrity_check(100)").forEach {
          let text = try $0.get(at: 0, as: String.self)
          lines += text.split(separator: "\n").filter { !$0.hasPrefix("***") }.map(String.init)
        }
      }
    } catch let error as DatabaseError where !error.isInterrupt {
      // Of a damage that ends it, SQLite tells lines before.
      lines.append(error.message)
    }
    knownIntegrityLines = lines
    return lines
  }

  /// A name for a new index of these columns, which nothing has yet.
  func indexName(_ table: String, _ columns: [String]) -> String {
    let name = ([table] + columns + ["index"]).joined(separator: "_")
    var free = name
    var number = 2
    while takenNames.contains(free.lowercased()) {
      free = "\(name)_\(number)"
      number += 1
    }
    return free
  }
}

/// How much of a large file is looked at.
struct CheckBounds {
  /// For each of: counting rows, reading rows, the integrity check and so on, and four times that for all; nil for as
  /// long as it takes.
  var time: Duration? = .seconds(20)
  /// Of a table of more rows as many are looked at, from its beginning and from places behind it.
  var rows = 20_000
  /// Larger databases aren't copied into memory, which what writes to be checked needs. In bytes.
  var copiedSize = 64 << 20

  /// None.
  static let none = CheckBounds(time: nil, rows: .max, copiedSize: .max)
}

/// A column with what it holds.
struct CheckedColumn {
  let table: TableSchema
  let column: ColumnSchema
  let values: ColumnProfile
  let rows: TableProfile

  /// Evidence of values of some forms.
  ///
  /// - Parameter what: what they do, such as `hold text`.
  func evidence(_ forms: [ValueForm], _ what: String, advice: String, sql: [String] = [])
    -> Evidence
  {
    let tallies = forms.compactMap { values.tallies[$0] }
    let count = tallies.reduce(0) { $0 + $1.count }
    let of = rows.isWhole ? "\(rows.rows.grouped) rows" : "\(rows.rows.grouped) rows looked at"
    var found = "\(count.grouped) of \(of) \(what)"
    if let example = tallies.lazy.compactMap(\.example).first { found += ", such as \(example)" }
    return Evidence(
      table: table.name, columns: [column.name], found: found, rows: count,
      rowIDs: Array(tallies.flatMap(\.rowIDs).sorted().prefix(Tally.mostRowIDs)), advice: advice,
      sql: sql)
  }

  /// The column as SQL, with its table's name.
  var sqlTable: String { table.name.quotedIdentifier }
  var sqlName: String { column.name.quotedIdentifier }

  /// A query that lists the rows of a condition.
  func listing(_ condition: String) -> String {
    let rowID = table.rowIDNames.first.map { "\($0), " } ?? ""
    return "SELECT \(rowID)\(sqlName) FROM \(sqlTable) WHERE \(condition)"
  }
}
