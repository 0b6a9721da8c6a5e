import FoundationEssentials
import Larder
import LarderTerminal

/// The facts that `inspect` prints about a server's database: its current schema, by the catalog alone.
struct ServerInspection: Encodable {
  struct Table: Encodable {
    let name: String
    /// The kind: `table`, `partitioned table`, `foreign table`, `view` or `materialized view`.
    let kind: String
    /// The number of partitions, of all levels, that rows are in. They aren't listed themselves.
    let partitions: Int?
    /// The tables that this one inherits from.
    let inherits: [String]
    /// The number of rows by the server's statistics; nil if there are none.
    let rows: Int?
    /// The size in bytes, with its indexes, and with those of all partitions.
    let size: Int
    let sizeOfIndexes: Int
    let columns: [InspectedColumn]
    let indexes: [InspectedIndex]
    let foreignKeys: [InspectedForeignKey]
  }

  let database: String
  let schema: String
  /// The other schemas that have tables or views.
  let otherSchemas: [String]
  let server: String
  /// The size in bytes.
  let size: Int
  let encoding: String
  let tables: [Table]

  init(_ db: Database, _ name: String, table: String?) throws {
    func text(_ sql: SQL) throws -> String {
      try db.value(sql, as: String?.self).flatMap { $0 } ?? ""
    }
    database = try text("SELECT current_database()::text")
    schema = try text("SELECT current_schema()::text")
    otherSchemas = try ServerDatabase.otherSchemas(db)
    server = try text("SELECT current_setting('server_version')")
    encoding = try text("SELECT current_setting('server_encoding')")
    size = try db.value("SELECT pg_database_size(current_database())", as: Int.self) ?? 0
    let rows = try db.executeQuery(
      """
      SELECT c.relname::text, CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view'
          WHEN 'p' THEN 'partitioned table' WHEN 'f' THEN 'foreign table' ELSE 'table' END,
        CASE WHEN c.relkind = 'p' THEN p.rows WHEN c.relkind <> 'v' AND c.reltuples >= 0
          THEN c.reltuples::bigint END,
        coalesce(p.size, pg_total_relation_size(c.oid)), coalesce(p.indexes, pg_indexes_size(c.oid)),
        p.count, (SELECT jsonb_agg(i.inhparent::regclass::text ORDER BY i.inhseqno)::text
          FROM pg_inherits i WHERE i.inhrelid = c.oid)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN LATERAL (
          SELECT count(*) AS count, sum(pg_total_relation_size(t.relid))::bigint AS size,
            sum(pg_indexes_size(t.relid))::bigint AS indexes,
            CASE WHEN bool_and(l.reltuples >= 0) THEN sum(l.reltuples)::bigint END AS rows
          FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf AND l.relkind <> 'p'
        ) AS p ON c.relkind = 'p'
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND (NOT c.relispartition OR c.relname = \(table)::text)
      ORDER BY lower(c.relname COLLATE "C"), c.relname
      """)
    let listed = try rows.map {
      (
        name: try $0.get(at: 0, as: String.self), kind: try $0.get(at: 1, as: String.self),
        rows: try $0.get(at: 2, as: Int?.self), size: try $0.get(at: 3, as: Int.self),
        sizeOfIndexes: try $0.get(at: 4, as: Int.self),
        partitions: try $0.get(at: 5, as: Int?.self),
        inherits: try $0.get(at: 6, as: String?.self)
      )
    }
    let wanted = listed.filter { listed in table.map { $0 == listed.name } ?? true }
    guard table == nil || !wanted.isEmpty else {
      throw Failure("\(name): there is no table or view “\(table ?? "")”")
    }
    tables = try wanted.map { listed in
      try Interruption.check()
      return Table(
        name: listed.name, kind: listed.kind, partitions: listed.partitions,
        inherits: try JSONDecoder().decode(
          [String].self, from: Data((listed.inherits ?? "[]").utf8)),
        rows: listed.rows, size: listed.size,
        sizeOfIndexes: listed.sizeOfIndexes,
        columns: try db.columns(of: listed.name).map { InspectedColumn($0) },
        indexes: try db.indexes(of: listed.name).map { InspectedIndex($0) },
        foreignKeys: try db.foreignKeys(of: listed.name).map { InspectedForeignKey($0) })
    }
  }

  func show(table: String?) {
    if table != nil {
      for table in tables { table.inspected.show() }
      return
    }
    print(Style.bold(database.printable))
    print("  schema    \(schema.printable)")
    print("  size      \(size.byteCount)")
    print("  encoding  \(encoding)")
    print("  server    PostgreSQL \(server.printable)")
    if !otherSchemas.isEmpty {
      print("  others    \(otherSchemas.joined(separator: ", ").printable) (--schema NAME)")
    }
    print()
    guard !tables.isEmpty else { return print("There are no tables.") }
    showList(tables.map { ($0.inspected, $0.sizeOfIndexes) })
  }
}

extension ServerInspection.Table {
  private var kindText: String {
    var words = [kind]
    if let partitions { words.append(partitions.counted("partition")) }
    if !inherits.isEmpty { words.append("inherits from \(inherits.joined(separator: ", "))") }
    return words.joined(separator: ", ")
  }

  /// The table in the form of a file's, to be printed alike.
  var inspected: InspectedTable {
    InspectedTable(
      name: name, kind: kindText, rows: rows.map { RowCount(rows: $0, source: .statistics) },
      size: size, columns: columns, indexes: indexes, foreignKeys: foreignKeys)
  }
}
