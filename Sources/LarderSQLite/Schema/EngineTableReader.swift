/// Reads a table from the catalog of an engine other than SQLite, by that engine's queries.
struct EngineTableReader {
  private let db: Database
  private let name: String
  private let catalog: EngineCatalog
  private let engine: String
  /// The relation's number in the catalog.
  private let number: Int64
  private let isTable: Bool

  /// Finds the relation. Throws if there is no table or view of this name.
  init(_ name: String, _ db: Database, _ engine: any EngineConnection) throws {
    guard let reader = try Self(existing: name, engine.catalog.relation, db, engine) else {
      throw DatabaseError(.error, "no such table: \(name)", engine: engine.name)
    }
    self = reader
  }

  /// Finds the relation; nil if there is none.
  ///
  /// - Parameter query: the catalog's query that finds the relation.
  private init?(
    existing name: String, _ query: String, _ db: Database, _ engine: any EngineConnection
  ) throws {
    self.db = db
    self.name = name
    catalog = engine.catalog
    self.engine = engine.name
    let found = try db.executeQuery(SQL(raw: query), name).map {
      (number: try $0.get(at: 0, as: Int64.self), isTable: try $0.get(at: 1, as: Bool.self))
    }
    guard let found = found.first else { return nil }
    (number, isTable) = found
  }

  /// The table of this name in the first schema of the search path; if `isTemporary`, the one to which the
  /// name resolves, which is a temporary one if there is any. Nil if there is none.
  static func table(
    _ name: String, isTemporary: Bool, _ db: Database, _ engine: any EngineConnection
  ) throws -> TableSchema? {
    let query = isTemporary ? engine.catalog.relation : engine.catalog.table
    guard let reader = try Self(existing: name, query, db, engine), reader.isTable else {
      return nil
    }
    return try reader.table()
  }

  private func table() throws -> TableSchema {
    var table = TableSchema(name: name)
    table.engine = engine
    table.columns = try columns()
    try readConstraints(&table)
    let (keys, definitions) = try foreignKeys()
    table.foreignKeys = keys
    table.constraints += definitions
    let indexes = try indexes()
    table.indexes = indexes.filter { $0.kind == .created }
    table.uniqueIndexes = indexes.filter { $0.kind == .unique }
    table.primaryKeyTerms = indexes.first { $0.kind == .primaryKey }?.terms ?? []
    table.writeStatement()
    return table
  }

  func columns() throws -> [ColumnSchema] {
    try db.executeQuery(SQL(raw: catalog.columns), number).map { row in
      var column = ColumnSchema(name: try row.get(at: 0), sql: try row.get(at: 8))
      column.type = try row.get(at: 1)
      column.collation = try row.get(at: 2)
      column.isNotNull = try row.get(at: 3)
      column.defaultSQL = try row.get(at: 4)
      column.generatedSQL = try row.get(at: 5)
      column.isStored = column.generatedSQL != nil
      column.primaryKeyPosition = try row.get(at: 6)
      column.identity = try row.get(at: 7)
      return column
    }
  }

  /// Reads the constraints other than foreign keys. A CHECK of a single column becomes a part of its
  /// definition.
  private func readConstraints(_ table: inout TableSchema) throws {
    let rows = try db.executeQuery(SQL(raw: catalog.constraints), number)
    while try rows.next() {
      let definition = try rows.get(at: 2, as: String.self)
      guard try rows.get(at: 1, as: String.self) == "c" else {
        table.constraints.append(definition)
        continue
      }
      let expression = try rows.get(at: 3, as: String.self)
      table.checks.append(expression)
      table.checkNames.append(try rows.get(at: 0))
      let column = try rows.get(at: 4, as: String?.self)
      if let index = table.columns.firstIndex(where: { $0.name == column }) {
        table.columns[index].checks.append(expression)
        table.columns[index].sql += " \(definition)"
      } else {
        table.constraints.append(definition)
      }
    }
  }

  /// The foreign keys, and their definitions as SQL.
  func foreignKeys() throws -> (keys: [ForeignKeySchema], definitions: [String]) {
    var keys: [ForeignKeySchema] = []
    var definitions: [String] = []
    let rows = try db.executeQuery(SQL(raw: catalog.foreignKeys), number)
    while try rows.next() {
      let name = try rows.get(at: 0, as: String.self)
      if keys.last?.name != name {
        keys.append(
          ForeignKeySchema(
            columns: [], referencedTable: try rows.get(at: 1), referencedColumns: [],
            onDelete: ForeignKeyAction(rawValue: try rows.get(at: 3)) ?? .noAction,
            onUpdate: ForeignKeyAction(rawValue: try rows.get(at: 2)) ?? .noAction,
            isDeferred: try rows.get(at: 4), name: name))
        definitions.append(try rows.get(at: 7))
      }
      keys[keys.count - 1].columns.append(try rows.get(at: 5))
      keys[keys.count - 1].referencedColumns.append(try rows.get(at: 6))
    }
    return (keys, definitions)
  }

  func indexes() throws -> [IndexSchema] {
    struct Part {
      let name: String
      let kind: IndexSchema.Kind
      let isUnique: Bool
      let condition: String?
      let sql: String
      let column: String?
      let term: String
    }
    let parts = try db.executeQuery(SQL(raw: catalog.indexes), number).map {
      Part(
        name: try $0.get(at: 0), kind: try $0.get(at: 1), isUnique: try $0.get(at: 2),
        condition: try $0.get(at: 3), sql: try $0.get(at: 4), column: try $0.get(at: 5),
        term: try $0.get(at: 6))
    }
    return parts.indices.filter { $0 == 0 || parts[$0].name != parts[$0 - 1].name }.map { start in
      let first = parts[start]
      let own = parts.filter { $0.name == first.name }
      guard first.kind == .created else {
        return IndexSchema(
          constraint: first.kind, name: first.name, columns: own.compactMap(\.column),
          terms: own.map(\.term))
      }
      return IndexSchema(
        name: first.name, columns: own.map(\.column), terms: own.map(\.term),
        isUnique: first.isUnique, condition: first.condition, sql: first.sql)
    }
  }
}

extension TableSchema {
  /// Writes the CREATE TABLE anew, from the columns and constraints.
  package mutating func writeStatement() {
    sql = Self.statement(name, columns.map(\.sql) + constraints)
  }

  /// Writes a CREATE TABLE statement.
  ///
  /// - Parameter definitions: those of the columns, then those of the constraints.
  package static func statement(
    _ name: String, _ definitions: [String], isTemporary: Bool = false
  ) -> String {
    let lines = definitions.map { "  " + $0 }.joined(separator: ",\n")
    return "CREATE \(isTemporary ? "TEMP " : "")TABLE \(name.quotedIdentifier) (\n\(lines)\n)"
  }
}
