import Larder
import LarderTerminal

/// A file that is checked. Data that several rules need are read once, and in bounded time.
final class CheckedDatabase: CheckedSource {
  let file: DatabaseFile
  let schema: Schema
  let entries: [SchemaEntry]
  /// The plans of the statements of `--query`.
  let plans: [Explanation]
  let bounds: CheckBounds
  private let tables: [[UInt8]: TableSchema]
  /// The number of rows of each table, by ANALYZE.
  let statistics: [String: Int]
  let takenNames: Set<String>
  private var counter: RowCounter?
  /// The end of the whole check; `readingDeadline` is that of reading rows.
  private let deadline: ContinuousClock.Instant?
  private var readingDeadline: ContinuousClock.Instant?
  private var rowCounts: [String: RowCount] = [:]
  /// The profiles that were asked for; nil for a table that can't be read.
  private var profiles: [String: TableProfile?] = [:]
  private var knownIntegrityLines: [String]?

  init(_ db: Database, _ file: DatabaseFile, queries: [String], bounds: CheckBounds) throws {
    self.file = file
    self.bounds = bounds
    schema = try Schema(db)
    tables = schema.tablesByName
    entries = try db.schema()
    statistics = try db.tableStatistics()
    takenNames = Set(entries.map { $0.name.lowercased() })
    plans = try queries.map { try Explanation(db, $0) }
    deadline = bounds.time.map { .now + $0 * 4 }
    super.init(db, name: file.path, tableCount: schema.tables.count)
  }

  /// The table of this name, ignoring case.
  func table(_ name: String) -> TableSchema? { tables[name.foldedName] }

  /// Runs a closure with a time limit. Returns nil, and adds a remark, if it takes too long.
  func within<T>(_ what: String, _ body: () throws -> T) throws -> T? {
    let time = bounds.time.flatMap { time in deadline.map { min(time, $0 - .now) } }
    let result = time.map { $0 > .zero } ?? true ? try db.within(time, body) : nil
    if result == nil { remark("\(what) took too long and was stopped; --all lets it finish") }
    return result
  }

  /// The number of a table's rows; nil if counting would take too long.
  func rows(of table: TableSchema) throws -> Int? {
    if rowCounts[table.name] == nil {
      let counter = try counter ?? RowCounter(db, time: bounds.time)
      self.counter = counter
      rowCounts[table.name] = try counter.rows(of: table.name, hasRowID: !table.isWithoutRowID)
    }
    guard let count = rowCounts[table.name], count.source == .counted else { return nil }
    return count.rows
  }

  /// Whether a table has so few rows that no index matters. One without rows may get any number.
  func hasFewRows(_ table: TableSchema) throws -> Bool {
    let sql: SQL = "SELECT count(*) FROM (SELECT 1 FROM main.\(identifier: table.name) LIMIT 100)"
    return try (1..<100).contains(db.value(sql, as: Int.self) ?? 0)
  }

  /// The profile of a table's values. Returns nil, and adds a remark, if the table can't be read.
  func profile(of table: TableSchema) throws -> TableProfile? {
    if let known = profiles[table.name] { return known }
    readingDeadline = readingDeadline ?? bounds.time.map { .now + $0 }
    do {
      let unreadable = try table.unreadableColumns(in: db)
      for column in unreadable {
        remark("“\(table.name)”.“\(column.name)” wasn't checked: \(column.reason)")
      }
      let profile = try TableProfile(
        of: table, without: unreadable.map(\.name), in: db, bounds, until: readingDeadline)
      if !profile.isWhole {
        remark("“\(table.name)”: only \(profile.rows.grouped) rows were checked")
      }
      if let column = table.columns.dropFirst(TableProfile.mostColumns).first {
        remark("“\(table.name)”: the columns from “\(column.name)” on weren't checked")
      }
      profiles[table.name] = profile
      return profile
    } catch let error as DatabaseError where !error.isInterrupt {
      profiles[table.name] = .some(nil)
      remark("“\(table.name)” can't be read: \(error.message)")
      return nil
    }
  }

  /// The lines of SQLite's integrity check.
  func integrityLines() throws -> [String] {
    if let knownIntegrityLines { return knownIntegrityLines }
    let check = try within("the integrity check") { try IntegrityCheck(db, isQuick: false) }
    for text in check?.remarks ?? [] { remark(text) }
    let lines = check?.lines ?? []
    knownIntegrityLines = lines
    return lines
  }
}

/// The limits of a check, for large files.
struct CheckBounds {
  /// The time limit of each part, such as counting rows, reading rows or the integrity check. The whole check
  /// has four times as long. Nil for no limit.
  var time: Duration? = .seconds(20)
  /// The number of rows that are read at the beginning of each table. Of a larger table, samples follow.
  var rows = 20_000
  /// The size in bytes up to which a database is copied into memory, for checks that have to write.
  var copiedSize = 64 << 20

  static let none = CheckBounds(time: nil, rows: .max, copiedSize: .max)
}

/// A column and the profile of its values.
struct CheckedColumn {
  let table: TableSchema
  let column: ColumnSchema
  let values: ColumnProfile
  let rows: TableProfile

  var affinity: ColumnAffinity { table.affinity(of: column) }

  /// The table's name as SQL; `sqlName` is the column's.
  var sqlTable: String { table.name.quotedIdentifier }
  var sqlName: String { column.name.quotedIdentifier }

  /// Makes the evidence of values that have some forms; nil if there are none. The sentence's predicate is
  /// `what`, such as `hold text`; a query with the condition lists the rows.
  func evidence(
    _ forms: [ValueForm], _ what: String, advice: String, listing condition: String? = nil,
    sql: @autoclosure () -> [String] = []
  ) -> Evidence? {
    evidence(
      of: forms.compactMap { values.tallies[$0] }, what, advice: advice, listing: condition,
      sql: sql())
  }

  /// Makes the evidence of some values; nil if there are none.
  func evidence(
    of tallies: [Tally], _ what: String, advice: String, listing condition: String? = nil,
    sql: @autoclosure () -> [String] = []
  ) -> Evidence? {
    let count = tallies.reduce(0) { $0 + $1.count }
    guard count > 0 else { return nil }
    let of = rows.isWhole ? "\(rows.rows.grouped) rows" : "\(rows.rows.grouped) checked rows"
    var found = "\(count.grouped) of \(of) \(what)"
    if let example = tallies.lazy.compactMap(\.example).first { found += ", such as \(example)" }
    return Evidence(
      table: table.name, columns: [column.name], found: found, rows: count,
      rowIDs: Array(tallies.flatMap(\.rowIDs).sorted().prefix(Tally.mostRowIDs)), advice: advice,
      sql: condition.map { [listing($0)] } ?? sql())
  }

  /// A query that lists the rows for which a condition is true.
  func listing(_ condition: String) -> String {
    let rowID = table.rowIDNames.first.map { "\($0), " } ?? ""
    return "SELECT \(rowID)\(sqlName) FROM \(sqlTable) WHERE \(condition)"
  }
}

extension TableSchema {
  func affinity(of column: ColumnSchema) -> ColumnAffinity {
    ColumnAffinity(type: column.type, isStrict: isStrict)
  }
}
