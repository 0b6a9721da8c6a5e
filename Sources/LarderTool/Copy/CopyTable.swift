import Larder
import LarderSQLite
import LarderTerminal

/// A column that is copied.
struct CopiedColumn {
  /// The name in the source. The target may spell it differently.
  let name: String
  var targetName: String
  var kind: CopyKind
  /// Whether this is the rowid, in a table where no column is its alias.
  var isRowID = false
}

/// A table that is copied.
struct CopiedTable {
  let schema: TableSchema
  var targetName: String
  var columns: [CopiedColumn]

  var name: String { schema.name }

  /// The query that reads the rows in the source.
  var sourceSQL: String { Self.select(columns.map(\.name), from: name) }
  /// The query that reads the same columns in the target.
  var targetSQL: String { Self.select(columns.map(\.targetName), from: targetName) }

  private static func select(_ columns: [String], from table: String) -> String {
    "SELECT \(columns.map(\.quotedIdentifier).joined(separator: ", ")) FROM \(table.quotedIdentifier)"
  }
}

extension CopiedTable {
  /// Plans the copy of a server's table.
  init(ofServer table: TableSchema) {
    self.init(
      schema: table, targetName: table.name,
      columns: table.columns.map {
        CopiedColumn(name: $0.name, targetName: $0.name, kind: CopyKind(ofServerType: $0.type))
      })
  }

  /// Plans the copy of a file's table to another file.
  init(asItIs table: TableSchema) {
    let number = table.rowIDColumn == nil ? table.rowIDNames.first : nil
    self.init(
      schema: table, targetName: table.name,
      columns: number.map {
        [CopiedColumn(name: $0, targetName: $0, kind: .any, isRowID: true)]
      } ?? [])
    columns += table.columns.filter { $0.generatedSQL == nil }.map {
      CopiedColumn(name: $0.name, targetName: $0.name, kind: .any)
    }
  }

  /// Plans the copy of a file's table to a server. Where a declaration doesn't determine a column's kind, the
  /// stored values do.
  init(ofFile table: TableSchema, _ db: Database) throws {
    let unsure = table.columns.filter { Self.kind(of: $0, table) == nil }
    let found = try Self.storedKinds(of: unsure, in: table, db)
    self.init(
      schema: table, targetName: table.name,
      columns: table.columns.map { column in
        CopiedColumn(
          name: column.name, targetName: column.name,
          kind: Self.kind(of: column, table) ?? found[column.name] ?? .text)
      })
  }

  /// The kind by the column's declaration; nil if that doesn't determine it.
  private static func kind(of column: ColumnSchema, _ table: TableSchema) -> CopyKind? {
    switch ColumnForm(type: column.type, isStrict: table.isStrict) {
    case .integer: .integer(bytes: 8)
    case .real: .real
    case .text: .text
    case .any: column.type.uppercased().contains("BLOB") ? .blob : nil
    case .numeric: nil
    }
  }

  /// The kinds by the stored values. If texts and numbers are mixed, the copy will report one of them as an
  /// error, with its row.
  private static func storedKinds(
    of columns: [ColumnSchema], in table: TableSchema, _ db: Database
  ) throws -> [String: CopyKind] {
    var kinds: [String: CopyKind] = [:]
    for column in columns {
      try Interruption.check()
      let name = column.name.quotedIdentifier
      let rows = try db.executeQuery(
        SQL(
          raw: """
            SELECT count(*) FILTER (WHERE typeof(\(name)) = 'integer'),
              count(*) FILTER (WHERE typeof(\(name)) = 'real'),
              count(*) FILTER (WHERE typeof(\(name)) = 'text'),
              count(*) FILTER (WHERE typeof(\(name)) = 'blob'),
              count(*) FILTER (WHERE typeof(\(name)) = 'integer' AND \(name) NOT IN (0, 1))
            FROM main.\(table.name.quotedIdentifier)
            """))
      let counts = try rows.map { row in try (0..<5).map { try row.get(at: $0, as: Int.self) } }
      guard let counts = counts.first else { continue }
      let isBool = column.type.uppercased().contains("BOOL")
      if counts[2] > 0 {
        kinds[column.name] = .text
      } else if counts[3] > 0 {
        kinds[column.name] = .blob
      } else if counts[1] > 0 {
        kinds[column.name] = .real
      } else if isBool, counts[4] == 0 {
        kinds[column.name] = .bool
      } else if counts[0] > 0 {
        kinds[column.name] = .integer(bytes: 8)
      } else {
        kinds[column.name] = column.type.uppercased().contains("DATE") ? .text : .integer(bytes: 8)
      }
      if counts.prefix(4).reduce(0, +) == 0, column.type.isEmpty { kinds[column.name] = .text }
    }
    return kinds
  }

  /// Adapts names, types and the set of columns to the target's existing table.
  mutating func adapt(to target: TableSchema, onServer: Bool, _ path: String) throws {
    targetName = target.name
    for index in columns.indices.reversed() {
      let name = columns[index].name
      if columns[index].isRowID {
        let isThere =
          target.rowIDColumn == nil && target.rowIDNames.contains { $0.isSameName(name) }
        if !isThere { columns.remove(at: index) }
        continue
      }
      let found = target.columns.first {
        onServer ? $0.name == name : $0.name.isSameName(name)
      }
      guard let found else {
        throw Failure("\(path): “\(target.name)” has no column “\(name)”")
      }
      if found.generatedSQL != nil {
        columns.remove(at: index)
        continue
      }
      columns[index].targetName = found.name
      if onServer {
        columns[index].kind = CopyKind(ofServerType: found.type)
      }
    }
    if columns.isEmpty { throw Failure("“\(name)” has only computed columns") }
  }
}

extension [CopiedTable] {
  /// Orders tables before those that refer to them, as far as references have no cycles.
  func inOrderOfReferences() -> [CopiedTable] {
    var waiting = self
    var ordered: [CopiedTable] = []
    while !waiting.isEmpty {
      let ready = waiting.filter { table in
        table.schema.foreignKeys.allSatisfy { key in
          key.referencedTable.isSameName(table.name)
            || !waiting.contains { $0.name.isSameName(key.referencedTable) }
        }
      }
      // A cycle is broken at an arbitrary table.
      let next = ready.isEmpty ? [waiting[0]] : ready
      ordered += next
      waiting.removeAll { table in next.contains { $0.name == table.name } }
    }
    return ordered
  }
}
