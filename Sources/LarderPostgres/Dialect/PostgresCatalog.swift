import LarderSQLite

/// PostgreSQL's catalog.
///
/// See [System Catalogs](https://www.postgresql.org/docs/15/catalogs.html).
struct PostgresCatalog: EngineCatalog {
  let db: Database
  /// The schema to look at; nil for the first one of the search path.
  let schema: String?

  func tableExists(_ name: String) throws -> Bool {
    try db.value(
      """
      SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables
        WHERE schemaname = \(schemaName) AND tablename = \(name)::text)
      """) ?? false
  }

  func columnExists(_ column: String, in table: String) throws -> Bool {
    try db.value(
      """
      SELECT EXISTS (SELECT 1 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relname = \(table)::text AND \(isCurrent) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
          AND a.attname = \(column)::text AND a.attnum > 0 AND NOT a.attisdropped)
      """) ?? false
  }

  func entries(ofTable name: String?) throws -> [SchemaEntry] {
    let rows = try db.executeQuery(
      """
      SELECT kind, name, owner, sql FROM (
        SELECT c.oid, 1 AS part, 'table' AS kind, c.relname::text AS name, c.relname::text AS owner,
          NULL AS sql
        FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND \(isCurrent)
          AND \(Self.isNoExtensions)
        UNION ALL
        SELECT c.oid, 2, 'index', c.relname::text, t.relname::text,
          CASE WHEN EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = c.oid) THEN NULL
            ELSE pg_get_indexdef(c.oid) END
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
        WHERE \(isCurrent) AND NOT t.relispartition
        UNION ALL
        SELECT c.oid, 3, 'view', c.relname::text, c.relname::text,
          CASE c.relkind WHEN 'm' THEN 'CREATE MATERIALIZED VIEW ' ELSE 'CREATE VIEW ' END
            || quote_ident(c.relname) || ' AS ' || rtrim(pg_get_viewdef(c.oid), ';')
        FROM pg_class c WHERE c.relkind IN ('v', 'm') AND \(isCurrent) AND \(Self.isNoExtensions)
        UNION ALL
        SELECT g.oid, 4, 'trigger', g.tgname::text, c.relname::text, pg_get_triggerdef(g.oid, true)
        FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
          AND g.tgname <> 'larder_change'
        WHERE NOT g.tgisinternal AND NOT c.relispartition AND \(isCurrent)
      ) AS entries ORDER BY oid, part
      """)
    let all = try rows.map {
      SchemaEntry(
        kind: try $0.get("kind"), name: try $0.get("name"), table: try $0.get("owner"),
        sql: try $0.get("sql"))
    }
    return try all.filter { name == nil || $0.table == name }.map { entry in
      guard entry.kind == .table else { return entry }
      return SchemaEntry(
        kind: .table, name: entry.name, table: entry.table,
        sql: try table(entry.name, isTemporary: false)?.sql)
    }
  }

  func table(_ name: String, isTemporary: Bool) throws -> TableSchema? {
    let place: SQL =
      isTemporary ? resolved(name) : "c.relname = \(name)::text AND \(isCurrent)"
    guard let relation = try relation(place), relation.isTable else { return nil }
    var table = TableSchema(name: name)
    table.engine = PostgresDefinitions.engine
    table.schema = schema
    table.isInCurrentSchema =
      try schema != nil && db.value("SELECT current_schema() = \(schema)::text") ?? false
    table.columns = try columns(relation.number)
    try readConstraints(relation.number, &table)
    let (keys, definitions) = try foreignKeys(relation.number)
    table.foreignKeys = keys
    table.constraints += definitions
    let indexes = try indexes(relation.number)
    table.indexes = indexes.filter { $0.kind == .created }
    table.uniqueIndexes = indexes.filter { $0.kind == .unique }
    table.primaryKeyTerms = indexes.first { $0.kind == .primaryKey }?.terms ?? []
    table.writeStatement()
    return table
  }

  func columns(of table: String) throws -> [ColumnSchema] { try columns(number(of: table)) }

  func indexes(of table: String) throws -> [IndexSchema] { try indexes(number(of: table)) }

  func foreignKeys(of table: String) throws -> [ForeignKeySchema] {
    try foreignKeys(number(of: table)).keys
  }

  // MARK: Relations

  /// The condition of the relation to which a name resolves, as in statements.
  private func resolved(_ name: String) -> SQL {
    if schema != nil { return "c.relname = \(name)::text AND \(isCurrent)" }
    return "c.oid = to_regclass(quote_ident(\(name)::text))"
  }

  private func relation(_ place: SQL) throws -> (number: Int64, isTable: Bool)? {
    let found = try db.executeQuery(
      """
      SELECT c.oid::bigint AS number, c.relkind IN ('r', 'p') AS is_table FROM pg_class c
      WHERE \(place) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      """
    ).map { row -> (number: Int64, isTable: Bool) in
      (try row.get("number"), try row.get("is_table"))
    }
    return found.first
  }

  /// A relation's number in the catalog. Throws if there is no table or view of this name.
  private func number(of name: String) throws -> Int64 {
    guard let relation = try relation(resolved(name)) else {
      throw DatabaseError(.error, "no such table: \(name)", engine: PostgresDefinitions.engine)
    }
    return relation.number
  }

  private func columns(_ number: Int64) throws -> [ColumnSchema] {
    try db.executeQuery(
      """
      SELECT name, type, collated, is_not_null, CASE WHEN NOT is_generated THEN expression END AS value,
        CASE WHEN is_generated THEN expression END AS generated, place, identity, is_serial, base,
        quote_ident(name) || ' ' || type || coalesce(' COLLATE ' || quote_ident(collated), '')
          || CASE WHEN identity <> '' THEN ' ' || identity ELSE '' END
          || CASE WHEN is_not_null THEN ' NOT NULL' ELSE '' END
          || CASE WHEN expression IS NULL THEN ''
               WHEN is_generated THEN ' GENERATED ALWAYS AS (' || expression || ') STORED'
               ELSE ' DEFAULT ' || expression END AS definition
      FROM (
        SELECT a.attnum, a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type,
          CASE WHEN a.attcollation <> t.typcollation THEN o.collname::text END AS collated,
          a.attnotnull AS is_not_null, a.attgenerated <> '' AS is_generated,
          pg_get_expr(d.adbin, d.adrelid) AS expression,
          coalesce(array_position(k.conkey, a.attnum), 0) AS place,
          CASE a.attidentity WHEN 'd' THEN 'GENERATED BY DEFAULT AS IDENTITY'
            WHEN 'a' THEN 'GENERATED ALWAYS AS IDENTITY' ELSE '' END AS identity,
          pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%' AND EXISTS (SELECT 1 FROM pg_depend s
            JOIN pg_class q ON q.oid = s.objid AND q.relkind = 'S'
            WHERE s.classid = 'pg_class'::regclass AND s.refclassid = 'pg_class'::regclass
              AND s.refobjid = a.attrelid AND s.refobjsubid = a.attnum AND s.deptype = 'a') AS is_serial,
          CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) END AS base
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
          LEFT JOIN pg_collation o ON o.oid = a.attcollation
          LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
          LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'p'
        WHERE a.attrelid = \(number)::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped AND t.typname <> 'tsvector'
      ) AS columns ORDER BY attnum
      """
    ).map { row in
      var column = ColumnSchema(name: try row.get("name"), sql: try row.get("definition"))
      column.type = try row.get("type")
      column.collation = try row.get("collated")
      column.isNotNull = try row.get("is_not_null")
      column.default = try row.get("value")
      column.generated = try row.get("generated")
      column.isStored = column.generated != nil
      column.primaryKeyPosition = try row.get("place")
      column.identity = try row.get("identity")
      column.isSerial = try row.get("is_serial", as: Bool?.self) ?? false
      column.baseType = try row.get("base")
      return column
    }
  }

  /// Reads the constraints other than foreign keys. A CHECK of a single column becomes a part of its
  /// definition.
  private func readConstraints(_ number: Int64, _ table: inout TableSchema) throws {
    let rows = try db.executeQuery(
      """
      SELECT k.conname::text AS name, k.contype = 'c' AS is_check, pg_get_constraintdef(k.oid) AS definition,
        pg_get_expr(k.conbin, k.conrelid) AS expression,
        CASE WHEN cardinality(k.conkey) = 1 THEN (SELECT a.attname::text FROM pg_attribute a
          WHERE a.attrelid = k.conrelid AND a.attnum = k.conkey[1]) END AS own
      FROM pg_constraint k
      WHERE k.conrelid = \(number)::bigint::oid AND k.contype IN ('c', 'p', 'u', 'x')
      ORDER BY array_position('{p,u,x,c}'::text[], k.contype::text), k.oid
      """)
    while try rows.next() {
      let definition: String = try rows.get("definition")
      guard try rows.get("is_check", as: Bool.self) else {
        table.constraints.append(definition)
        continue
      }
      let expression: String = try rows.get("expression")
      table.checks.append(expression)
      table.checkNames.append(try rows.get("name"))
      let column: String? = try rows.get("own")
      if let index = table.columns.firstIndex(where: { $0.name == column }) {
        table.columns[index].checks.append(expression)
        table.columns[index].sql += " \(definition)"
      } else {
        table.constraints.append(definition)
      }
    }
  }

  /// The foreign keys, and their definitions as SQL.
  private func foreignKeys(
    _ number: Int64
  ) throws -> (keys: [ForeignKeySchema], definitions: [String]) {
    var keys: [ForeignKeySchema] = []
    var definitions: [String] = []
    let rows = try db.executeQuery(
      """
      SELECT k.conname::text AS name, f.relname::text AS other, n.nspname::text AS schema,
        n.nspname = current_schema() AS is_current, \(Self.action("k.confupdtype")) AS updated,
        \(Self.action("k.confdeltype")) AS deleted, k.condeferred AS is_deferred, a.attname::text AS own,
        b.attname::text AS referenced, pg_get_constraintdef(k.oid) AS definition
      FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid
        JOIN pg_namespace n ON n.oid = f.relnamespace
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS c (own, other, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.own
        JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = c.other
      WHERE k.conrelid = \(number)::bigint::oid AND k.contype = 'f' ORDER BY k.oid, c.place
      """)
    while try rows.next() {
      let name: String = try rows.get("name")
      if keys.last?.name != name {
        keys.append(
          ForeignKeySchema(
            columns: [], referencedTable: try rows.get("other"), referencedColumns: [],
            onDelete: ForeignKeyAction(rawValue: try rows.get("deleted")) ?? .noAction,
            onUpdate: ForeignKeyAction(rawValue: try rows.get("updated")) ?? .noAction,
            isDeferred: try rows.get("is_deferred"), name: name))
        let isCurrent: Bool = try rows.get("is_current", as: Bool?.self) ?? false
        if !isCurrent || schema != nil {
          keys[keys.count - 1].referencedSchema = try rows.get("schema")
          keys[keys.count - 1].refersToCurrentSchema = isCurrent
        }
        definitions.append(try rows.get("definition"))
      }
      keys[keys.count - 1].columns.append(try rows.get("own"))
      keys[keys.count - 1].referencedColumns.append(try rows.get("referenced"))
    }
    return (keys, definitions)
  }

  private func indexes(_ number: Int64) throws -> [IndexSchema] {
    // A row for each term. The second bit of an index's option is NULLS FIRST, which is the default of DESC.
    let rows = try db.executeQuery(
      """
      SELECT c.relname::text AS name, CASE k.contype WHEN 'p' THEN 'pk' WHEN 'u' THEN 'u' ELSE 'c' END AS kind,
        i.indisunique AS is_unique, pg_get_expr(i.indpred, i.indrelid) AS condition,
        CASE WHEN x.oid IS NULL THEN pg_get_indexdef(c.oid) ELSE pg_get_constraintdef(x.oid) END AS definition,
        m.amname = 'btree' AND i.indnatts = i.indnkeyatts AND x.oid IS NULL
          AND NOT EXISTS (SELECT 1 FROM pg_opclass o WHERE o.oid = ANY(i.indclass) AND NOT o.opcdefault)
          AS is_declarable,
        a.attname::text AS own,
        CASE WHEN m.amname = 'btree' THEN '' ELSE m.amname || ' ' END
          || pg_get_indexdef(c.oid, n, false)
          || CASE WHEN a.attnum IS NULL OR i.indcollation[n - 1] = a.attcollation THEN ''
               ELSE ' COLLATE ' || quote_ident(o.collname) END
          || CASE WHEN p.opcdefault THEN '' ELSE ' ' || p.opcname END
          || CASE i.indoption[n - 1] WHEN 1 THEN ' DESC NULLS LAST' WHEN 2 THEN ' NULLS FIRST'
               WHEN 3 THEN ' DESC' ELSE '' END AS term
      FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
        LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.conrelid = i.indrelid
          AND k.contype IN ('p', 'u')
        LEFT JOIN pg_constraint x ON x.conindid = c.oid AND x.conrelid = i.indrelid AND x.contype = 'x'
        CROSS JOIN LATERAL generate_series(1, i.indnkeyatts) AS n
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n - 1]
          AND a.attnum > 0
        LEFT JOIN pg_collation o ON o.oid = i.indcollation[n - 1]
        JOIN pg_opclass p ON p.oid = i.indclass[n - 1]
      WHERE i.indrelid = \(number)::bigint::oid AND i.indisvalid ORDER BY c.oid, n
      """)
    var indexes: [IndexSchema] = []
    while try rows.next() {
      let name: String = try rows.get("name")
      let last = indexes.last?.name == name ? indexes.removeLast() : nil
      let columns = (last?.columns ?? []) + [try rows.get("own", as: String?.self)]
      let terms = (last?.terms ?? []) + [try rows.get("term")]
      let kind: IndexSchema.Kind = try rows.get("kind")
      var index =
        kind == .created
        ? IndexSchema(
          name: name, columns: columns, terms: terms, isUnique: try rows.get("is_unique"),
          condition: try rows.get("condition"), sql: try rows.get("definition"))
        : IndexSchema(
          constraint: kind, name: name, columns: columns.compactMap(\.self), terms: terms)
      index.isDeclarable = try kind != .created || rows.get("is_declarable")
      indexes.append(index)
    }
    return indexes
  }

  private var schemaName: SQL { schema.map { "\($0)::text" } ?? "current_schema()" }

  private var isCurrent: SQL {
    "c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(schemaName))"
  }

  private static let isNoExtensions: SQL = """
    NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
      AND d.deptype = 'e')
    """

  private static func action(_ column: String) -> SQL {
    """
    CASE \(SQL(raw: column)) WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' \
    WHEN 'd' THEN 'SET DEFAULT' ELSE 'NO ACTION' END
    """
  }
}
