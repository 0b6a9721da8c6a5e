import Larder
import LarderTerminal

/// A copy of a database for trying indexes: all of a small one, or its schema with a sample of the rows of a
/// statement's tables. It is a temporary file without a name, which is gone when it is closed.
struct TrialCopy {
  let database: Database
  /// The names of the statement's tables.
  let tables: [String]
  /// The names of the tables of which the copy has only some rows.
  private(set) var sampled: [String] = []

  /// The size up to which a whole file is copied, and that of a sample.
  private static let mostBytes = 48 << 20
  private static let mostRows = 200_000
  /// The number of places in a table from which rows are sampled.
  private static let places = 64
  /// The time for reading the sample of a table.
  private static let time = Duration.seconds(2)

  /// - Parameter statement: the text, whose tables are copied.
  init(of source: Database, statement: String) throws {
    tables = try Self.tables(of: source, statement)
    var configuration = Configuration()
    configuration.journalMode = nil
    configuration.trustsSchema = true
    database = try Database(path: "", configuration: configuration)
    let bytes = try source.pragma("page_count") * source.pragma("page_size")
    let isSmall = bytes <= Self.mostBytes
    if isSmall { try source.backup(to: database) }
    try database.executeStatements(
      "PRAGMA journal_mode = memory; PRAGMA synchronous = off; PRAGMA cache_size = -8000;")
    if !isSmall { try addSamples(of: source) }
  }

  /// The tables that the statement names, also by way of views.
  private static func tables(of source: Database, _ statement: String) throws -> [String] {
    let entries = try source.schema().filter { $0.kind == .table || $0.kind == .view }
    let byName = Dictionary(entries.map { ($0.name.foldedName, $0) }) { first, _ in first }
    var found: [String] = []
    var seen: Set<[UInt8]> = []
    var texts = [statement]
    while let text = texts.popLast() {
      for token in text.sqlTokens {
        guard let name = token.name?.foldedName, let entry = byName[name],
          seen.insert(name).inserted
        else { continue }
        if entry.kind == .table { found.append(entry.name) } else { texts.append(entry.sql ?? "") }
      }
    }
    return found
  }

  // MARK: Samples

  private mutating func addSamples(of source: Database) throws {
    let statements = try SchemaDocument(source).statements
    // Indexes are made at once afterwards. Triggers are left out.
    for statement in statements where statement.creates("table") || statement.creates("view") {
      try database.executeUpdate(SQL(raw: statement))
    }
    let counter = try RowCounter(source, time: .milliseconds(300))
    for table in tables {
      guard try database.tableExists(table) else { continue }
      let rows = try counter.rows(of: table, hasRowID: true)?.rows ?? .max
      let isWhole = try database.inTransaction { _ in
        try addRows(of: table, about: rows, source)
      }
      if !isWhole { sampled.append(table) }
    }
    for statement in statements where statement.creates("index") {
      try database.executeUpdate(SQL(raw: statement))
    }
    try addStatistics(of: source)
  }

  /// Copies rows of a table. Returns whether these are all.
  private func addRows(of table: String, about rows: Int, _ source: Database) throws -> Bool {
    let columns = try source.columns(of: table, in: "main").filter { $0.generated == nil }
    let list = columns.map(\.name.quotedIdentifier).joined(separator: ", ")
    let values = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    let insert = try database.prepare(
      SQL(raw: "INSERT OR IGNORE INTO \(table.quotedIdentifier) (\(list)) VALUES (\(values))"))
    let select = "SELECT \(list) FROM main.\(table.quotedIdentifier)"
    let end = ContinuousClock.now + Self.time
    let mostBytes = Self.mostBytes / max(1, tables.count)
    /// Returns whether these are all rows.
    func add(_ sql: String, parts: Int) throws -> Bool {
      let result = try source.executeQuery(SQL(raw: sql))
      var (rows, bytes) = (0, 0)
      while try result.next() {
        let values = try columns.indices.map { try result[$0] }
        for value in values {
          switch value {
          case .text(let text): bytes += text.utf8.count
          case .blob(let blob): bytes += blob.count
          default: bytes += 8
          }
        }
        try insert.execute(arguments: Arguments(values))
        rows += 1
        let isEnough = rows >= Self.mostRows / parts || bytes > mostBytes / parts
        if isEnough || rows % 256 == 0 && .now > end { return false }
      }
      return true
    }
    let rowID = try TableSchema.found(table, in: source, schema: "main")?.rowIDNames.first
    func bound(_ function: String) throws -> Int? {
      guard let rowID else { return nil }
      let sql = "SELECT \(function)(\(rowID)) FROM main.\(table.quotedIdentifier)"
      return try source.value(SQL(raw: sql), as: Int?.self) ?? nil
    }
    guard rows > Self.places * 16, let rowID, let first = try bound("min"),
      let last = try bound("max"),
      case let (span, overflows) = last.subtractingReportingOverflow(first), !overflows
    else { return try add(select, parts: 1) }
    // Neighbouring rows stay neighbours, as in the table.
    let step = span / Self.places + 1
    var isWhole = true
    for place in 0..<Self.places where .now < end {
      let start = first + place * step
      let part = "\(select) WHERE \(rowID) >= \(start) AND \(rowID) <= \(start) + \(step - 1)"
      if try !add(part, parts: Self.places) { isWhole = false }
    }
    return isWhole && .now < end
  }

  /// Copies the statistics of ANALYZE, with which SQLite plans.
  private func addStatistics(of source: Database) throws {
    guard try source.tableExists("sqlite_stat1") else { return }
    try database.executeUpdate("ANALYZE sqlite_schema")
    try database.executeUpdate("DELETE FROM sqlite_stat1")
    try source.executeQuery("SELECT tbl, idx, stat FROM main.sqlite_stat1").forEach { row in
      try database.executeUpdate(
        "INSERT INTO sqlite_stat1 VALUES (\(row[0]), \(row[1]), \(row[2]))")
    }
    try database.executeUpdate("ANALYZE sqlite_schema")
  }
}

extension String {
  /// Whether this is a CREATE statement of an object of a kind, such as a unique index.
  fileprivate func creates(_ kind: String) -> Bool {
    let words = sqlTokens.prefix(4).map { $0.text.lowercased() }
    return words.first == "create"
      && words.dropFirst().drop { ["unique", "temp", "temporary"].contains($0) }.first == kind
  }
}
