import LarderSQLite

// Steps by names for whole tables, enumerations, views and SQL.

extension SchemaStep {
  /// Creates a table.
  ///
  /// ```swift
  /// .create(
  ///   "entry", .column("id", Int64?.self, .primaryKey), .column("title", String.self),
  ///   .column("feed", Int64.self, .references("feed", column: "id"), .indexed))
  /// ```
  ///
  /// Undoing the step drops the table with its rows.
  public static func create(
    _ table: String, _ columns: ColumnDefinition...,
    constraints: [TableConstraint<Never>] = [], options: TableOptions = []
  ) -> SchemaStep { create(table, columns: columns, constraints: constraints, options: options) }

  package static func create(
    _ table: String, columns: [ColumnDefinition], constraints: [TableConstraint<Never>],
    options: TableOptions
  ) -> SchemaStep {
    let detail = "create the table “\(table)”"
    return SchemaStep(
      detail,
      NamedStep(
        ["create table", table.quotedIdentifier] + columns.map(\.checkedText)
          + constraints.map(\.checkedText) + (options.isEmpty ? [] : ["\(options.rawValue)"]),
        undo: { try $0.dropTable(table, in: nil, ifExists: false) }
      ) { db in
        try AlteredTable.checkIsFree(table, for: detail, in: db)
        let problem =
          TableDeclaration.problem(ofNames: table, columns)
          ?? TableDeclaration.keyProblem(columns, options)
        if let problem { throw RecordError.declaration(table: table, problem: problem) }
        try TableSchema.declared(
          table, of: nil, columns, constraints.map(\.definition), options, db.dateFormat, in: db
        ).create(db)
      })
  }

  /// Drops a table with its indexes; drop the views and triggers that read it before. Throws ``SchemaError/losesRows(table:count:)`` if it has rows, unless `losing` has `.rows`.
  public static func drop(_ table: String, losing: RebuildLosses) -> SchemaStep {
    let detail = "drop the table “\(table)”"
    return SchemaStep(
      detail, isDestructive: true,
      NamedStep(["drop table", table.quotedIdentifier]) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        let rows = try db.value(
          "SELECT count(*) FROM \(SQL(raw: target.found.quotedName))", as: Int.self)
        if let rows, rows > 0, !losing.contains(.rows) {
          throw SchemaError.losesRows(table: table, count: rows)
        }
        try target.checkHasNoIndexOfOthers()
        try db.keepingDependents(of: table) { db in
          try target.dropFullTextIndexes()
          try target.found.drop(db)
        }
      })
  }

  /// Renames a table. Indexes whose names were made of the table's get new names. Can be undone. In SQLite a table
  /// with a full-text index is refused: drop the index before, and create it again afterwards.
  public static func rename(_ table: String, to name: String) -> SchemaStep {
    @Sendable func detail(_ old: String, _ new: String) -> String {
      "rename the table “\(old)” to “\(new)”"
    }
    @Sendable func run(_ old: String, _ new: String, _ db: Database) throws {
      let target = try AlteredTable(old, for: detail(old, new), in: db)
      // A name that differs in case only is the table's own.
      if db.engine != nil || old.foldedName != new.foldedName {
        try AlteredTable.checkIsFree(new, for: detail(old, new), in: db)
      }
      try target.checkCanBeRenamed()
      if db.engine == nil, old.foldedName == new.foldedName {
        // SQLite takes the table's own name for one that is taken.
        let other = "larder_renamed_" + new
        try target.alter("RENAME TO \(other.quotedIdentifier)")
        try AlteredTable(other, for: detail(old, new), in: db)
          .alter("RENAME TO \(new.quotedIdentifier)")
      } else {
        try target.alter("RENAME TO \(new.quotedIdentifier)")
      }
      try target.renameIndexes(in: new) { index in
        index.hasPrefix(old + "_") && index.hasSuffix("_index")
          ? new + index.dropFirst(old.count) : index
      }
    }
    return SchemaStep(
      detail(table, name),
      NamedStep(
        ["rename table", table.quotedIdentifier, name.quotedIdentifier],
        undo: { try run(name, table, $0) }
      ) { try run(table, name, $0) })
  }

  /// Creates a server's enumeration type, or adds the values that it lacks; see
  /// ``LarderSQLite/Database/create(enum:of:)``. SQLite has none: nothing happens there. Undoing the step drops
  /// the type, which a server refuses while a column has it.
  public static func create(enum name: String, _ values: String...) -> SchemaStep {
    SchemaStep(
      "create the enumeration “\(name)”",
      NamedStep(
        ["create enum", name.quotedIdentifier] + values.map(\.quotedText),
        undo: { db in
          guard db.definitions != nil else { return }
          try db.executeUpdate("DROP TYPE \(identifier: name)")
        }
      ) { db in try db.definitions?.createEnum(name, values, in: db) })
  }

  /// Creates a view; see ``LarderSQLite/SchemaEntry/view(_:columns:materialized:as:dateFormat:)``. Undoing the
  /// step drops it.
  public static func create(view name: String, as query: SQL) -> SchemaStep {
    let detail = "create the view “\(name)”"
    return SchemaStep(
      detail,
      NamedStep(
        ["create view", name.quotedIdentifier, query.checkedText],
        undo: { try $0.executeUpdate(SQL(raw: DDL.drop(.view, name))) }
      ) { db in
        try AlteredTable.checkIsFree(name, for: detail, in: db)
        try SchemaEntry.view(name, as: query, dateFormat: db.dateFormat).create(db)
      })
  }

  /// Drops a view. Create it anew after the steps that change what it reads.
  public static func drop(view name: String) -> SchemaStep {
    let detail = "drop the view “\(name)”"
    return SchemaStep(
      detail,
      NamedStep(["drop view", name.quotedIdentifier]) { db in
        let views = try db.schema().filter { $0.kind == .view }
        guard let view = views.first(where: { $0.name.foldedName == name.foldedName }) else {
          let names = views.isEmpty ? "none at all" : views.map(\.name).quotedList
          throw AlteredTable.problem(detail, "there is no view “\(name)”, but \(names)")
        }
        try db.executeUpdate(SQL(raw: view.dropStatement()))
      })
  }

  /// Runs SQL: any number of statements.
  ///
  /// - `postgres`: the SQL to run on PostgreSQL instead; nil for the same SQL.
  /// - `down`: the SQL that undoes it. It isn't part of the checksum.
  public static func run(_ sql: SQL, postgres: SQL? = nil, down: SQL? = nil) -> SchemaStep {
    SchemaStep(
      "run \(sql.text.prefix(60))",
      NamedStep(
        [sql.checkedText] + (postgres.map { ["postgres", $0.checkedText] } ?? []),
        undo: down.map { sql in { @Sendable db in try db.executeStatements(sql) } }
      ) { db in try db.executeStatements(db.engine == nil ? sql : postgres ?? sql) })
  }

  /// Runs Swift code between other steps. Its name is part of the checksum; the code isn't.
  public static func run(
    _ name: String, down: (@Sendable (Database) throws -> Void)? = nil,
    _ body: @escaping @Sendable (Database) throws -> Void
  ) -> SchemaStep {
    SchemaStep(name, NamedStep(["run code", name.quotedText], undo: down, body))
  }
}

extension AlteredTable {
  /// Gives the table's indexes other names, by a closure from old ones to new ones, once the table is called
  /// `name`. SQLite can't rename an index, so it is created anew there.
  func renameIndexes(in name: String, _ renamed: (String) -> String) throws {
    let schema = db.engine == nil ? "main" : nil
    guard let now = try TableSchema.found(name, in: db, schema: schema) else { return }
    for index in now.indexes where renamed(index.name) != index.name {
      let name = renamed(index.name)
      guard db.engine == nil else {
        try db.executeUpdate(
          SQL(raw: DDL.renameIndex(index.name, in: now.schema, to: name)).uncached)
        continue
      }
      try db.executeUpdate(SQL(raw: DDL.drop(.index, index.name, in: now.schema)))
      let sql = DDL.createIndex(
        name, on: now, index.terms, isUnique: index.isUnique, where: index.condition)
      try db.executeUpdate(SQL(raw: sql).uncached)
    }
  }
}
