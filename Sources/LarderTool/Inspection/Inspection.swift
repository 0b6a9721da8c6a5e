import Larder
import LarderTerminal

/// The facts that `inspect` prints about a file.
struct Inspection: Encodable {
  let file: String
  /// The file's size. Sizes are in bytes; those of the WAL and the rollback journal are nil if there is none.
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
  /// The kind: `table`, `view`, `virtual` or `shadow`.
  let kind: String
  let isStrict: Bool
  let isWithoutRowID: Bool
  let rows: RowCount?
  /// The size in bytes, without the indexes; nil if it isn't known.
  let size: Int?
  let columns: [InspectedColumn]
  let indexes: [InspectedIndex]
  let foreignKeys: [InspectedForeignKey]
  let triggers: [String]
  let sql: String?
  /// The reason why the table can't be read; nil if it can.
  let problem: String?
}

struct InspectedColumn: Encodable {
  let name: String
  let type: String
  let isNotNull: Bool
  let defaultSQL: String?
  let collation: String?
  let generatedSQL: String?
  let primaryKeyPosition: Int?
}

struct InspectedIndex: Encodable {
  /// The index's name; SQLite's own if a constraint made the index.
  let name: String
  /// The columns' names, with nil for an expression.
  let columns: [String?]
  let isUnique: Bool
  let condition: String?
  let size: Int?
}

struct InspectedForeignKey: Encodable {
  let columns: [String]
  let table: String
  /// The referenced columns; empty for the table's primary key.
  let referencedColumns: [String]
  let onDelete: String
  let onUpdate: String
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
    triggers = reader.entries.filter { $0.kind == .trigger }.count
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
  private let use: PageUse

  /// The time limit: half of it is for counting, half for the sizes.
  private static let time = Duration.milliseconds(1200)

  init(_ db: Database, pages: Int, isExact: Bool) throws {
    self.db = db
    entries = try db.schema()
    var bar = ProgressBar("sizes")
    defer { bar.clear() }
    let time = isExact ? nil : Self.time / 2
    do {
      use = try PageUse(db, time: time) { bar.show(Double($0) / Double(max(1, pages))) }
    } catch let error as DatabaseError where !error.isInterrupt {
      // The sizes can't be read in a damaged file; the rest is shown nevertheless.
      use = PageUse()
    }
    counter = try RowCounter(db, time: time)
  }

  func tables(named wanted: String?) throws -> [InspectedTable] {
    struct Listed {
      let name: String
      let kind: String
      let isWithoutRowID: Bool
      let isStrict: Bool
    }
    let listed = try db.executeQuery(
      """
      SELECT name, type, wr, strict FROM pragma_table_list
      WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name COLLATE NOCASE
      """
    ).map {
      Listed(
        name: try $0.get(at: 0), kind: try $0.get(at: 1), isWithoutRowID: try $0.get(at: 2),
        isStrict: try $0.get(at: 3))
    }
    var bar = ProgressBar("rows")
    defer { bar.clear() }
    let chosen = listed.filter { table in
      wanted.map { $0.lowercased() == table.name.lowercased() } ?? true
    }
    // The progress is weighted by size: larger tables take longer to count.
    let sizes = chosen.map { Double(use.parts[$0.name]?.size ?? 0) + 1 }
    let total = sizes.reduce(0, +)
    var done = 0.0
    return try zip(chosen, sizes).map { table, size in
      try Interruption.check()
      bar.show(done / total)
      done += size
      return try inspect(
        table.name, table.kind, isWithoutRowID: table.isWithoutRowID, isStrict: table.isStrict)
    }
  }

  private func inspect(
    _ name: String, _ kind: String, isWithoutRowID: Bool, isStrict: Bool
  ) throws -> InspectedTable {
    let own = entries.filter { $0.table.lowercased() == name.lowercased() }
    var columns: [ColumnSchema] = []
    var indexes: [InspectedIndex] = []
    var keys: [ForeignKeySchema] = []
    var rows: RowCount?
    var problem: String?
    do {
      columns = try db.columns(of: name)
      keys = try db.foreignKeys(of: name)
      indexes = try self.indexes(of: name, isWithoutRowID: isWithoutRowID)
      if ["table", "shadow"].contains(kind) {
        rows = try counter.rows(of: name, hasRowID: !isWithoutRowID)
      }
    } catch let error as DatabaseError where !error.isInterrupt {
      problem = error.message
    }
    return InspectedTable(
      name: name, kind: kind, isStrict: isStrict, isWithoutRowID: isWithoutRowID, rows: rows,
      size: use.parts[name]?.size, columns: columns.map { InspectedColumn($0) }, indexes: indexes,
      foreignKeys: keys.map { InspectedForeignKey($0) },
      triggers: own.filter { $0.kind == .trigger }.map(\.name),
      sql: own.first { $0.kind == .table || $0.kind == .view }?.sql, problem: problem)
  }

  /// The table's indexes. Those of constraints have SQLite's automatic names, by which dbstat lists their
  /// sizes.
  private func indexes(of table: String, isWithoutRowID: Bool) throws -> [InspectedIndex] {
    // In a WITHOUT ROWID table, the primary key's index is the table itself.
    let names = try db.executeQuery(
      "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT (origin = 'pk' AND ?)", table,
      isWithoutRowID
    ).map { try $0.get(at: 0, as: String.self) }
    let known = try db.indexes(of: table)
    return try names.map { name in
      if let index = known.first(where: { $0.name == name }) {
        return InspectedIndex(
          name: name, columns: index.columns, isUnique: index.isUnique, condition: index.condition,
          size: use.parts[name]?.size)
      }
      let columns = try db.executeQuery(
        "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", name
      ).map { try $0.get(at: 0, as: String?.self) }
      return InspectedIndex(
        name: name, columns: columns, isUnique: true, condition: nil, size: use.parts[name]?.size)
    }
  }
}

extension InspectedColumn {
  init(_ column: ColumnSchema) {
    name = column.name
    type = column.type
    isNotNull = column.isNotNull
    defaultSQL = column.defaultSQL
    collation = column.collation
    generatedSQL = column.generatedSQL
    primaryKeyPosition = column.primaryKeyPosition > 0 ? column.primaryKeyPosition : nil
  }
}

extension InspectedForeignKey {
  init(_ key: ForeignKeySchema) {
    columns = key.columns
    table = key.referencedTable
    referencedColumns = key.referencedColumns
    onDelete = key.onDelete.rawValue
    onUpdate = key.onUpdate.rawValue
  }
}
