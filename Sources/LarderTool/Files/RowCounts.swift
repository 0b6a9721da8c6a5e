import Larder
import LarderTerminal

/// A table's number of rows, and its source.
struct RowCount: Encodable, Equatable {
  enum Source: String, Encodable {
    case counted
    /// The statistics of ANALYZE, which may be old.
    case statistics
    /// An upper bound, by the smallest and the largest rowid.
    case rowIDs
  }

  let rows: Int
  let source: Source

  /// The number as it is printed: `12,345`, `≈ 12,345`, `≤ 12,345`.
  var text: String {
    switch source {
    case .counted: rows.grouped
    case .statistics: "≈ \(rows.grouped)"
    case .rowIDs: "≤ \(rows.grouped)"
    }
  }
}

/// Counts rows until its time is used up. After that it estimates them without scanning a table.
struct RowCounter {
  private let db: Database
  private let statistics: [String: Int]
  private let deadline: ContinuousClock.Instant?

  /// - Parameter time: the time limit for all counting; nil for none.
  init(_ db: Database, time: Duration?) throws {
    self.db = db
    deadline = time.map { .now + $0 }
    statistics = try db.tableStatistics()
  }

  /// The number of a table's rows; nil if it isn't known, such as for a damaged table.
  func rows(of table: String, hasRowID: Bool) throws -> RowCount? {
    do {
      return try readableRows(of: table, hasRowID: hasRowID)
    } catch let error as DatabaseError where error.code == .corrupt {
      return nil
    }
  }

  private func readableRows(of table: String, hasRowID: Bool) throws -> RowCount? {
    let time = deadline.map { $0 - .now }
    if time.map({ $0 > .zero }) ?? true, let count = try counted(table, within: time) {
      return RowCount(rows: count, source: .counted)
    }
    if let rows = statistics[table] { return RowCount(rows: rows, source: .statistics) }
    return hasRowID ? try rowIDs(of: table) : nil
  }

  private func counted(_ table: String, within time: Duration?) throws -> Int? {
    try db.within(time) {
      try db.value("SELECT count(*) FROM main.\(identifier: table)", as: Int.self) ?? 0
    }
  }

  private func rowIDs(of table: String) throws -> RowCount? {
    // Two queries: min or max alone is found at an end of the B-tree, but both together take a scan.
    func end(_ function: String) throws -> Int64? {
      let sql = SQL(raw: "SELECT \(function)(rowid) FROM main.\(table.quotedIdentifier)")
      return try db.value(sql, as: Int64?.self) ?? nil
    }
    guard let first = try end("min"), let last = try end("max") else {
      return RowCount(rows: 0, source: .counted)
    }
    let (span, overflows) = last.subtractingReportingOverflow(first)
    guard !overflows, span < Int64.max else { return nil }
    return RowCount(rows: Int(span) + 1, source: .rowIDs)
  }
}

extension Database {
  /// The value of a PRAGMA that is a number.
  func pragma(_ name: String) throws -> Int {
    try value(SQL(raw: "PRAGMA \(name)"), as: Int.self) ?? 0
  }

  /// The number of rows of each table, as ANALYZE found it.
  func tableStatistics() throws -> [String: Int] {
    let isThere =
      try value(
        "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'sqlite_stat1'",
        as: Int.self) ?? 0 > 0
    guard isThere else { return [:] }
    var rows: [String: Int] = [:]
    try executeQuery("SELECT tbl, idx IS NULL, stat FROM main.sqlite_stat1").forEach { row in
      guard let table = try? row.get(at: 0, as: String.self),
        let stat = try? row.get(at: 2, as: String.self),
        let count = stat.split(separator: " ").first.flatMap({ Int($0) }), count >= 0
      else { return }
      // A partial index has fewer entries than the table has rows.
      rows[table] = max(rows[table] ?? 0, count)
    }
    return rows
  }
}
