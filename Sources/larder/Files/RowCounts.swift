import Larder
import LarderTerminal

/// How many rows a table has, and how that is known.
struct RowCount: Encodable, Equatable {
  enum Source: String, Encodable {
    /// They were counted.
    case counted
    /// By the statistics of ANALYZE, which may be old.
    case statistics
    /// There can't be more: by the smallest and the largest row id.
    case rowIDs
  }

  let rows: Int
  let source: Source

  /// For people: `12,345`, `≈ 12,345`, `≤ 12,345`.
  var text: String {
    switch source {
    case .counted: rows.grouped
    case .statistics: "≈ \(rows.grouped)"
    case .rowIDs: "≤ \(rows.grouped)"
    }
  }
}

/// Counts rows until the time for it is used up; from then on it tells what is known without going through a
/// table.
struct RowCounter {
  private let db: Database
  private let statistics: [String: Int]
  private let deadline: ContinuousClock.Instant?

  /// - Parameter time: how long all counting may take; nil for as long as it takes.
  init(_ db: Database, time: Duration?) throws {
    self.db = db
    deadline = time.map { .now + $0 }
    statistics = try db.tableStatistics()
  }

  /// The rows of a table; nil where that isn't known, as of a table that is damaged.
  ///
  /// - Parameter hasRowID: whether its rows have numbers.
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
    // Each alone is found at an end of the table.
    let first =
      try db.value(
        "SELECT min(rowid) FROM main.\(identifier: table)", as: Int64?.self) ?? nil
    let last =
      try db.value(
        "SELECT max(rowid) FROM main.\(identifier: table)", as: Int64?.self) ?? nil
    guard let first, let last else { return RowCount(rows: 0, source: .counted) }
    let (span, overflows) = last.subtractingReportingOverflow(first)
    guard !overflows, span < Int64.max else { return nil }
    return RowCount(rows: Int(span) + 1, source: .rowIDs)
  }
}

extension Database {
  /// The number of rows of tables, as ANALYZE has found it.
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
      // Of a partial index it is fewer than the table has.
      rows[table] = max(rows[table] ?? 0, count)
    }
    return rows
  }
}
