import Larder
import LarderTerminal

/// All records that are to be generated of a database.
struct RecordsPlan {
  private(set) var records: [RecordPlan] = []
  /// What is told in comments of tables that get no record.
  private(set) var leftOut: [String] = []

  /// What is asked for.
  struct Request {
    /// The tables and views; all if empty.
    var tables: [String] = []
    /// See ``RecordNames``.
    var names: [String] = []
    /// The name of an enumeration around the records, if there is to be one.
    var space: String?
    /// How many rows of each table are looked at.
    var rows = 10_000
    /// The file, for messages.
    var path: String
  }

  /// How long the values of a table are looked at: a view may take as long as it likes.
  private static let timeForTable = Duration.seconds(2)

  init(_ db: Database, _ request: Request) throws {
    let schema = try Schema(db)
    let server = db.engine == nil ? nil : try ServerColumns(db)
    let sources =
      try server == nil ? Self.sources(schema, db, &leftOut) : Self.serverSources(schema, db)
    let names = try RecordNames(request.names, sources.map(\.table))
    let chosen = try Self.chosen(sources, schema, request)
    if request.tables.isEmpty {
      leftOut += schema.others.filter(\.isVirtual).map {
        "“\($0.name)” is a virtual table, of which there are no records.".commented
      }
      leftOut += server?.others ?? []
    }
    let types = Self.types(chosen, names, request)
    var bar = ProgressBar("tables")
    defer { bar.clear() }
    for (number, source) in chosen.enumerated() {
      let table = source.table
      bar.show(Double(number) / Double(chosen.count))
      if table.name.isEmpty {
        leftOut.append("A table without a name has no record: a record's table has one.")
        continue
      }
      let found: (columns: [ColumnKnowledge], problem: String?) =
        if let server {
          (table.columns.map { server.knowledge(of: $0, table.name) }, nil)
        } else {
          try Self.evidence(source, db, rows: request.rows)
        }
      var record = RecordPlan(
        table, isView: source.isView, types: types, type: types[number], columns: found.columns,
        names: names.properties[table.key(table.name)] ?? [:])
      if let problem = found.problem {
        record.notes.append("Its values couldn't be looked at: \(problem.commented).")
      }
      record.setOrigins(source.origins)
      if record.properties.isEmpty || record.lacksKey {
        let reason =
          record.unreadable.isEmpty
          ? "its columns have no names"
          : "values of its \(record.lacksKey ? "key" : "columns") can't be read"
        leftOut.append("“\(table.name.commented)” has no record: \(reason).")
      } else {
        records.append(record)
      }
    }
    records = RecordRelations(records).records
    guard server == nil else { return }
    for index in records.indices { records[index].noteDifferences() }
  }

  /// Tells what differs from a server's tables. Nothing of the connection's transaction may stay.
  mutating func noteDifferences(onServer db: Database) throws {
    let mayCompare = try db.value(
      """
      SELECT current_setting('transaction_read_only') = 'off'
        AND has_database_privilege(current_database(), 'TEMPORARY')
      """, as: Bool.self)
    guard mayCompare == true else {
      leftOut.append(
        "What a declaration can't say isn't told here: temporary tables to compare them can't be made."
      )
      return
    }
    for index in records.indices {
      try Interruption.check()
      try records[index].noteDifferences(onServer: db)
    }
  }

  // MARK: Tables and views

  private struct Source {
    let table: TableSchema
    let isView: Bool
    /// Where the columns of a view come from; nil for those that are computed.
    var origins: [ColumnOrigin?] = []
  }

  /// The tables and views of a database, in the order in which they were made.
  private static func sources(
    _ schema: Schema, _ db: Database, _ leftOut: inout [String]
  ) throws -> [Source] {
    var sources = schema.tables.map { Source(table: $0, isView: false) }
    for entry in schema.others where entry.kind == .view {
      do {
        var view = TableSchema(name: entry.name)
        view.columns = try db.columns(of: entry.name)
        // Not every SQLite tells it.
        let origins = try? db.prepare("SELECT * FROM main.\(identifier: entry.name)").columnOrigins
        sources.append(Source(table: view, isView: true, origins: origins ?? []))
      } catch let error as DatabaseError where error.isOfStatement {
        leftOut.append("The view “\(entry.name)” can't be read: \(error.message).".commented)
      }
    }
    return sources
  }

  /// The tables and views of a server.
  private static func serverSources(_ schema: Schema, _ db: Database) throws -> [Source] {
    var sources = schema.tables.map { Source(table: $0, isView: false) }
    for entry in try db.schema() where entry.kind == .view {
      var view = TableSchema(name: entry.name)
      view.engine = db.engine?.name
      view.columns = try db.columns(of: entry.name)
      sources.append(Source(table: view, isView: true))
    }
    return sources
  }

  /// Those that are asked for; throws where one isn't there.
  private static func chosen(
    _ sources: [Source], _ schema: Schema, _ request: Request
  ) throws -> [Source] {
    guard !request.tables.isEmpty else {
      return sources.filter { !Schema.isBookkeeping($0.table.name) }
    }
    for name in request.tables
    where !sources.contains(where: { $0.table.key($0.table.name) == $0.table.key(name) }) {
      let isVirtual = schema.others.contains {
        $0.isVirtual && $0.name.foldedName == name.foldedName
      }
      throw Failure(
        isVirtual
          ? "\(request.path): “\(name)” is a virtual table, of which there are no records"
          : "\(request.path): there is no table or view “\(name)”")
    }
    return sources.filter { source in
      request.tables.contains { source.table.key($0) == source.table.key(source.table.name) }
    }
  }

  /// The types of the records.
  private static func types(
    _ sources: [Source], _ names: RecordNames, _ request: Request
  ) -> [String] {
    var taken = Set(names.types.values).union(request.space.map { [$0] } ?? [])
    return sources.enumerated().map { number, source in
      let name = source.table.name
      return names.types[source.table.key(name)]
        ?? SwiftName.type(name).distinct(from: &taken, or: "Table\(number + 1)")
    }
  }

  // MARK: Values

  private static func evidence(
    _ source: Source, _ db: Database, rows: Int
  ) throws -> (columns: [ColumnKnowledge], problem: String?) {
    let table = source.table
    let columns = table.columns.map(\.name)
    // What rows are kept in order by; a column may have taken the names of the row id.
    let key = table.isWithoutRowID ? table.primaryKey.first : table.rowIDNames.first
    do {
      let found = try db.evidence(
        of: table.name, columns,
        lastFirst: source.isView ? nil : key.map { "\(identifier: $0) DESC" }, rows: rows,
        within: timeForTable)
      return (found.map { .values($0) }, nil)
    } catch let error as DatabaseError where error.isOfStatement {
      return (columns.map { _ in .values(ColumnEvidence()) }, error.message)
    }
  }
}

extension SchemaEntry {
  /// Whether it is a virtual table: what keeps the rows that one's triggers replace isn't.
  fileprivate var isVirtual: Bool {
    kind == .table && sql?.sqlTokens.dropFirst().first?.isWord("virtual") == true
  }
}

extension DatabaseError {
  /// Whether it is about what was asked for, and not about the file.
  fileprivate var isOfStatement: Bool {
    [.error, .authorization, .mismatch, .tooBig].contains(code)
  }
}
