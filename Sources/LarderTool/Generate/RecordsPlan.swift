import Larder
import LarderTerminal

/// All records to be generated from a database.
struct RecordsPlan {
  private(set) var records: [RecordPlan] = []
  /// Comments on the tables that get no record.
  private(set) var leftOut: [String] = []

  struct Request {
    /// The tables and views; all if empty.
    var tables: [String] = []
    /// The chosen names; see ``RecordNames``.
    var names: [String] = []
    /// The name of an enumeration around the records; nil for none.
    var space: String?
    /// The number of rows that are read of each table.
    var rows = 10_000
    /// The schema of `--schema`, which the declarations name.
    var schema: String?
    /// The file's path, for messages.
    var path: String
  }

  /// The time limit for reading a table's values: a view could take very long.
  private static let timeForTable = Duration.seconds(2)

  /// The number of columns from which a record takes the compiler over 10 seconds. It takes 35 for 1,500.
  private static let manyColumns = 600

  init(_ db: Database, _ request: Request) throws {
    let schema = try Schema(db)
    let server = db.engine == nil ? nil : try ServerColumns(db)
    let catalog = db.engine == nil ? nil : try ServerCatalog(db)
    let sources = try Self.sources(schema, db, &leftOut)
    let names = try RecordNames(request.names, sources.map(\.table))
    let chosen = try Self.chosen(sources, schema, request)
    if request.tables.isEmpty {
      leftOut += sources.map(\.table.name).filter(Schema.isHistoryOfOthers).map {
        "“\($0)” has no record: it is the history of another program's migrations.".commented
      }
      leftOut += schema.others.filter(\.isVirtualTable).map {
        "“\($0.name)” is a virtual table, which can't have records.".commented
      }
      leftOut += server?.others ?? []
    }
    let naming = TableNaming(sources.map(\.table.name))
    let types = Self.types(chosen, names, naming, request)
    var bar = ProgressBar("tables")
    defer { bar.clear() }
    for (number, source) in chosen.enumerated() {
      let table = source.table
      bar.show(Double(number) / Double(chosen.count))
      if table.name.isEmpty {
        leftOut.append("A table without a name has no record: a record's table needs one.")
        continue
      }
      let found: (columns: [ColumnKnowledge], problem: String?) =
        if let server {
          (table.columns.map { server.knowledge(of: $0, table.name) }, nil)
        } else {
          try Self.evidence(source, db, rows: request.rows, isPython: naming.isDjango)
        }
      var record = RecordPlan(
        table, isView: source.isView, types: types, type: types[number], columns: found.columns,
        names: names.properties[table.key(table.name)] ?? [:], naming)
      if let problem = found.problem {
        record.notes.append("Its values couldn't be read: \(problem.commented).")
      }
      if table.columns.count >= Self.manyColumns {
        record.notes.append(
          "It has \(table.columns.count.grouped) columns: the compiler takes long for such a record."
        )
      }
      record.setOrigins(source.origins)
      record.schema = request.schema
      catalog?.describe(&record)
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
    records.planEnums(
      besides: Set(types).union(request.space.map { [$0] } ?? []), on: catalog)
    records = RecordRelations(records).records
    guard server == nil else { return }
    for index in records.indices { records[index].noteDifferences() }
  }

  /// Adds comments on differences from a server's tables. The caller must roll back the connection's
  /// transaction.
  mutating func noteDifferences(onServer db: Database) throws {
    let mayCompare = try db.value(
      """
      SELECT current_setting('transaction_read_only') = 'off'
        AND has_database_privilege(current_database(), 'TEMPORARY')
      """, as: Bool.self)
    guard mayCompare == true else {
      leftOut.append(
        "Differences that a declaration can't express aren't listed: temporary tables can't be created."
      )
      return
    }
    for index in records.indices {
      try Interruption.check()
      try records[index].noteDifferences(onServer: db)
    }
  }

  /// Adds a comment on the server's other schemas.
  mutating func noteOtherSchemas(_ remark: String?) {
    if let remark {
      leftOut.append((remark.prefix(1).uppercased() + remark.dropFirst()).commented + ".")
    }
  }

  // MARK: Tables and views

  private struct Source {
    let table: TableSchema
    let isView: Bool
    /// The table columns that a view's columns show; nil for computed ones.
    var origins: [ColumnOrigin?] = []
  }

  /// The tables and views, in the order of their creation.
  private static func sources(
    _ schema: Schema, _ db: Database, _ leftOut: inout [String]
  ) throws -> [Source] {
    var sources = schema.tables.map { Source(table: $0, isView: false) }
    let isFile = db.engine == nil
    for entry in isFile ? schema.others : try db.schema() where entry.kind == .view {
      var view = TableSchema(name: entry.name)
      view.engine = db.engine?.name
      do {
        view.columns = try db.columns(of: entry.name)
      } catch let error as DatabaseError where isFile && error.isOfStatement {
        leftOut.append("The view “\(entry.name)” can't be read: \(error.message).".commented)
        continue
      }
      var source = Source(table: view, isView: true)
      // Not every build of SQLite provides column metadata.
      let all: SQL = "SELECT * FROM main.\(identifier: entry.name)"
      if isFile, let origins = try? db.prepare(all).columnOrigins { source.origins = origins }
      sources.append(source)
    }
    return sources
  }

  /// The requested tables and views. Throws ``Failure`` if one doesn't exist.
  private static func chosen(
    _ sources: [Source], _ schema: Schema, _ request: Request
  ) throws -> [Source] {
    guard !request.tables.isEmpty else {
      return sources.filter {
        !Schema.isBookkeeping($0.table.name) && !Schema.isHistoryOfOthers($0.table.name)
      }
    }
    for name in request.tables
    where !sources.contains(where: { $0.table.key($0.table.name) == $0.table.key(name) }) {
      let isVirtual = schema.others.contains {
        $0.isVirtualTable && $0.name.foldedName == name.foldedName
      }
      throw Failure(
        isVirtual
          ? "\(request.path): “\(name)” is a virtual table, which can't have records"
          : "\(request.path): there is no table or view “\(name)”")
    }
    return sources.filter { source in
      request.tables.contains { source.table.key($0) == source.table.key(source.table.name) }
    }
  }

  private static func types(
    _ sources: [Source], _ names: RecordNames, _ naming: TableNaming, _ request: Request
  ) -> [String] {
    var taken = Set(names.types.values).union(request.space.map { [$0] } ?? [])
    return sources.enumerated().map { number, source in
      let name = source.table.name
      return names.types[source.table.key(name)]
        ?? naming.type(name).distinct(from: &taken, or: "Table\(number + 1)")
    }
  }

  // MARK: Values

  private static func evidence(
    _ source: Source, _ db: Database, rows: Int, isPython: Bool
  ) throws -> (columns: [ColumnKnowledge], problem: String?) {
    let table = source.table
    let columns = table.columns.map(\.name)
    let unreadable = try table.unreadableColumns(in: db)
    let readable = columns.filter { name in !unreadable.contains { $0.name == name } }
    // Rows are stored in this column's order. It may be nil, since columns can hide all names of the rowid.
    let key = table.isWithoutRowID ? table.primaryKey.first : table.rowIDNames.first
    do {
      let found = try db.evidence(
        of: table.name, readable,
        lastFirst: source.isView ? nil : key.map { "\(identifier: $0) DESC" }, rows: rows,
        isPython: isPython, within: timeForTable)
      let evidence = Dictionary(zip(readable, found)) { first, _ in first }
      return (
        columns.map { .values(evidence[$0] ?? ColumnEvidence()) },
        unreadable.first.map { "\($0.reason), which “\($0.name)” needs" }
      )
    } catch let error as DatabaseError where error.isOfStatement {
      return (columns.map { _ in .values(ColumnEvidence()) }, error.message)
    }
  }
}

extension DatabaseError {
  /// Whether the statement caused the error, and not the file.
  fileprivate var isOfStatement: Bool {
    [.error, .authorization, .mismatch, .tooBig].contains(code)
  }
}
