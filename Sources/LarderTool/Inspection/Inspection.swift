import Larder
import LarderTerminal

/// The facts that `inspect` prints about a file.
struct Inspection: Encodable {
  let file: String
  /// Sizes are in bytes; those of the WAL and the rollback journal are nil if there is none.
  let size: Int
  let logSize: Int?
  let journalSize: Int?
  let pageSize: Int
  let pages: Int
  let freePages: Int
  let encoding: String
  let journalMode: String
  let autoVacuum: String
  let userVersion: Int32
  let applicationID: Int32
  /// The number of changes of the schema.
  let schemaVersion: Int
  /// The version of SQLite that wrote the file last.
  let writtenBy: String
  let triggers: Int
  let tables: [InspectedTable]
}

/// A table or view.
struct InspectedTable: Encodable {
  let name: String
  /// The kind: `table`, `view`, `virtual` or `shadow`; on a server also `materialized view`.
  let kind: String
  var isStrict = false
  var isWithoutRowID = false
  var rows: RowCount?
  /// The size in bytes, of a file's without the indexes; nil if it isn't known.
  let size: Int?
  var columns: [InspectedColumn] = []
  var indexes: [InspectedIndex] = []
  var foreignKeys: [InspectedForeignKey] = []
  var triggers: [String] = []
  var sql: String?
  /// The reason why the table can't be read; nil if it can.
  var problem: String?
}

struct InspectedColumn: Encodable {
  let name: String
  let type: String
  let isNotNull: Bool
  let defaultSQL: String?
  let collation: String?
  let generatedSQL: String?
  let primaryKeyPosition: Int?

  init(_ column: ColumnSchema) {
    name = column.name
    type = column.type
    isNotNull = column.isNotNull
    defaultSQL = column.default
    collation = column.collation
    generatedSQL = column.generated
    primaryKeyPosition = column.primaryKeyPosition > 0 ? column.primaryKeyPosition : nil
  }
}

struct InspectedIndex: Encodable {
  /// The index's name; SQLite's own if a constraint made the index.
  let name: String
  /// The columns' names, with nil for an expression.
  let columns: [String?]
  var isUnique = true
  var condition: String?
  var size: Int?
}

struct InspectedForeignKey: Encodable {
  let columns: [String]
  let table: String
  /// The referenced columns; empty for the table's primary key.
  let referencedColumns: [String]
  let onDelete: String
  let onUpdate: String

  init(_ key: ForeignKeySchema) {
    columns = key.columns
    table = key.referencedTable
    referencedColumns = key.referencedColumns
    onDelete = key.onDelete.rawValue
    onUpdate = key.onUpdate.rawValue
  }
}

extension Inspection {
  /// - Parameters:
  ///   - table: the only table to inspect, ignoring case; nil for all.
  ///   - isExact: whether to count and measure without a time limit.
  init(_ db: Database, _ file: DatabaseFile, table: String?, isExact: Bool) throws {
    self.file = file.path
    size = file.size
    logSize = file.size(ofSuffix: "-wal").flatMap { $0 > 0 ? $0 : nil }
    journalSize = file.size(ofSuffix: "-journal").flatMap { $0 > 0 ? $0 : nil }
    pageSize = try db.pragma("page_size")
    pages = try db.pragma("page_count")
    freePages = try db.pragma("freelist_count")
    encoding = try db.value("PRAGMA encoding", as: String.self) ?? ""
    journalMode = try db.value("PRAGMA journal_mode", as: String.self) ?? ""
    let autoVacuums = ["none", "full", "incremental"]
    let autoVacuum = try db.pragma("auto_vacuum")
    self.autoVacuum =
      autoVacuums.indices.contains(autoVacuum) ? autoVacuums[autoVacuum] : "unknown"
    userVersion = try db.userVersion
    applicationID = try db.applicationID
    schemaVersion = try db.pragma("schema_version")
    writtenBy = file.header.writer
    let reader = try TableInspector(db, pages: pages, isExact: isExact)
    triggers = reader.entries.count { $0.kind == .trigger }
    tables = try reader.tables(named: table)
    guard table == nil || !tables.isEmpty else {
      throw Failure("\(file.path): there is no table or view “\(table ?? "")”")
    }
  }
}

/// Reads the tables of a database: their schema, sizes and numbers of rows.
private struct TableInspector {
  let entries: [SchemaEntry]
  private let db: Database
  private let counter: RowCounter
  /// The sizes of tables and indexes.
  private let sizes: [String: Int]

  /// The time limit: half of it is for counting, half for the sizes.
  private static let time = Duration.milliseconds(1200)

  init(_ db: Database, pages: Int, isExact: Bool) throws {
    self.db = db
    entries = try db.schema()
    var bar = ProgressBar("sizes")
    defer { bar.clear() }
    let time = isExact ? nil : Self.time / 2
    do {
      sizes = try db.sizes(time: time) { bar.show(Double($0) / Double(max(1, pages))) }
    } catch let error as DatabaseError where !error.isInterrupt {
      // The sizes can't be read in a damaged file; the rest is shown nevertheless.
      sizes = [:]
    }
    counter = try RowCounter(db, time: time)
  }

  func tables(named wanted: String?) throws -> [InspectedTable] {
    let all = try db.executeQuery(
      """
      SELECT name, type, wr, strict FROM pragma_table_list
      WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name COLLATE NOCASE
      """
    ).map { row in
      let name = try row.get(at: 0, as: String.self)
      return InspectedTable(
        name: name, kind: try row.get(at: 1), isStrict: try row.get(at: 3),
        isWithoutRowID: try row.get(at: 2), size: sizes[name])
    }
    let chosen = all.filter { wanted == nil || wanted?.lowercased() == $0.name.lowercased() }
    var bar = ProgressBar("rows")
    defer { bar.clear() }
    // The progress is weighted by size: larger tables take longer to count.
    let total = chosen.reduce(0) { $0 + Double($1.size ?? 0) + 1 }
    var done = 0.0
    return try chosen.map { table in
      try Interruption.check()
      bar.show(done / total)
      done += Double(table.size ?? 0) + 1
      return try inspected(table)
    }
  }

  private func inspected(_ listed: InspectedTable) throws -> InspectedTable {
    var table = listed
    let own = entries.filter { $0.table.lowercased() == table.name.lowercased() }
    table.triggers = own.filter { $0.kind == .trigger }.map(\.name)
    table.sql = own.first { $0.kind == .table || $0.kind == .view }?.sql
    do {
      table.columns = try db.columns(of: table.name).map { InspectedColumn($0) }
      table.foreignKeys = try db.foreignKeys(of: table.name).map { InspectedForeignKey($0) }
      table.indexes = try indexes(of: table)
      if ["table", "shadow"].contains(table.kind) {
        table.rows = try counter.rows(of: table.name, hasRowID: !table.isWithoutRowID)
      }
    } catch let error as DatabaseError where !error.isInterrupt {
      table.problem = error.message
    }
    return table
  }

  /// The table's indexes. Those of constraints have SQLite's automatic names, by which dbstat lists their
  /// sizes.
  private func indexes(of table: InspectedTable) throws -> [InspectedIndex] {
    // In a WITHOUT ROWID table, the primary key's index is the table itself.
    let names = try db.executeQuery(
      "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT (origin = 'pk' AND ?)", table.name,
      table.isWithoutRowID
    ).map { try $0.get(at: 0, as: String.self) }
    let known = try db.indexes(of: table.name)
    return try names.map { name in
      if let index = known.first(where: { $0.name == name }) {
        return InspectedIndex(index, size: sizes[name])
      }
      let columns = try db.executeQuery(
        "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", name
      ).map { try $0.get(at: 0, as: String?.self) }
      return InspectedIndex(name: name, columns: columns, size: sizes[name])
    }
  }
}

extension InspectedIndex {
  init(_ index: IndexSchema, size: Int? = nil) {
    self.init(
      name: index.name, columns: index.columns, isUnique: index.isUnique,
      condition: index.condition, size: size)
  }
}

extension InspectedTable {
  var kindText: String {
    var words = [kind]
    if isStrict { words.append("strict") }
    if isWithoutRowID { words.append("without rowid") }
    return words.joined(separator: ", ")
  }
}

/// Prints a list of tables, each with the size of its indexes; nil if that isn't known.
func showList(_ tables: [(InspectedTable, sizeOfIndexes: Int?)]) {
  var list = TextTable(
    "NAME", "KIND", "ROWS", "SIZE", "COLUMNS", "INDEXES", "OF SIZE", numbers: [2, 3, 4, 5, 6])
  for (table, sizeOfIndexes) in tables {
    list.add(
      table.name, table.kindText, table.rows?.text ?? "–", table.size?.byteCount ?? "–",
      "\(table.columns.count)", "\(table.indexes.count)",
      table.indexes.isEmpty ? "" : sizeOfIndexes?.byteCount ?? "–")
  }
  list.show()
}
