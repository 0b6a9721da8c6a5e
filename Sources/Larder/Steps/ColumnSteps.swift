import LarderSQLite

// Steps by names for columns.

extension SchemaStep {
  /// Adds a column, with its indexes and constraints.
  ///
  /// ```swift
  /// .add(.column("starred", Bool.self, .default(false)), to: "entry")
  /// .add(.column("words", Int.self), to: "entry", filling: "length(body) / 6")
  /// ```
  ///
  /// - `filling`: the value for the rows that exist, an expression over their columns; nil for the column's
  ///   default. A column that is NOT NULL without a default needs it, unless the table is empty.
  ///
  /// Undoing the step removes the column with its values.
  public static func add(
    _ column: ColumnDefinition, to table: String, filling: SQL? = nil
  ) -> SchemaStep {
    let detail = "add the column “\(column.name)” to “\(table)”"
    return SchemaStep(
      detail,
      NamedStep(
        ["add column", table.quotedIdentifier, column.checkedText]
          + (filling.map { ["filling", $0.checkedText] } ?? []),
        undo: { try remove(column.name, from: table, losing: .columns).execute($0) }
      ) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        try target.checkHasNoColumn(column.name)
        let declared = try target.declared(column)
        let changed = target.changed {
          $0.columns += declared.columns
          $0.adopt(declared)
        }
        if filling == nil, changed.blockedReason(adding: declared.columns[0]) == nil {
          try changed.addMissingColumns(db)
        } else {
          // Row ids that the caller names are those that are wanted, unless a full-text table knows the others.
          let isNamed = filling != nil && changed.rowIDColumn != target.found.rowIDColumn
          let isKnown = try db.schema().contains {
            $0.isVirtualTable && $0.names(target.found.name)
          }
          try changed.rebuild(
            db, copying: filling.map { [column.name: $0] } ?? [:],
            losing: isNamed && !isKnown ? .rowIDs : [])
        }
      })
  }

  /// Renames a column. Indexes whose names were made of the column's get new names. Can be undone. In SQLite a
  /// full-text index with the column is refused: drop it before, and create it again afterwards.
  public static func rename(_ column: String, of table: String, to name: String) -> SchemaStep {
    @Sendable func detail(_ old: String, _ new: String) -> String {
      "rename the column “\(old)” of “\(table)” to “\(new)”"
    }
    @Sendable func run(_ old: String, _ new: String, _ db: Database) throws {
      let target = try AlteredTable(table, for: detail(old, new), in: db)
      let former = target.found.columns[try target.position(of: old)].name
      if target.found.key(former) != target.found.key(new) { try target.checkHasNoColumn(new) }
      try target.checkCanBeRenamed(former)
      try target.alter(DDL.renameColumn(former, to: new))
      let made = target.found.indexes.map { index in
        let columns = index.columns.map { $0 ?? "" }
        let names = [columns, columns.map { $0 == former ? new : $0 }].map {
          ([table] + $0 + ["index"]).joined(separator: "_")
        }
        return (index.name, index.name == names[0] ? names[1] : index.name)
      }
      try target.renameIndexes(in: target.found.name) { index in
        made.first { $0.0 == index }?.1 ?? index
      }
    }
    return SchemaStep(
      detail(column, name),
      NamedStep(
        [
          "rename column", table.quotedIdentifier, column.quotedIdentifier, name.quotedIdentifier,
        ],
        undo: { try run(name, column, $0) }
      ) { try run(column, name, $0) })
  }

  /// Removes a column with its indexes and its own constraints.
  ///
  /// ```swift
  /// .remove("draft", from: "entry", losing: .columns)
  /// ```
  ///
  /// - `losing`: `.columns` if the column's values may be lost. Without it, the step throws
  ///   ``SchemaError/losesColumns(table:columns:)`` unless the table is empty.
  ///
  /// A column of the key, or of a constraint with other columns, can't be removed.
  public static func remove(
    _ column: String, from table: String, losing: RebuildLosses
  ) -> SchemaStep {
    let detail = "remove the column “\(column)” from “\(table)”"
    return SchemaStep(
      detail, isDestructive: true,
      NamedStep(["remove column", table.quotedIdentifier, column.quotedIdentifier]) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        let position = try target.position(of: column)
        try target.checkIsUnused(target.found.columns[position].name)
        try target.without(position).rebuild(db, losing: losing)
      })
  }

  /// Changes a column's type, default or constraints to those of a definition, which has its name.
  ///
  /// ```swift
  /// .change(.column("title", String.self), of: "entry", converting: "coalesce(title, '')")
  /// ```
  ///
  /// The column keeps its key, unique constraint, index and foreign key, and its collation and CHECKs unless the
  /// definition has others.
  ///
  /// - `converting`: an expression over the old columns for the new value; nil for the old value. If the new type
  ///   would change a value that isn't converted, the step throws
  ///   ``SchemaError/changesValues(table:column:count:rows:)`` unless `losing` has `.values`.
  public static func change(
    _ column: ColumnDefinition, of table: String, converting: SQL? = nil,
    losing: RebuildLosses = []
  ) -> SchemaStep {
    let detail = "change the column “\(column.name)” of “\(table)”"
    return SchemaStep(
      detail, isDestructive: losing != [],
      NamedStep(
        ["change column", table.quotedIdentifier, column.checkedText]
          + (converting.map { ["converting", $0.checkedText] } ?? [])
      ) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        try target.changing(column).rebuild(
          db, copying: converting.map { [column.name: $0] } ?? [:], losing: losing)
      })
  }

  /// Changes a column's type, and converts the values by Swift code.
  ///
  /// ```swift
  /// .change(.column("published", Int64.self), of: "entry") { (old: String) in
  ///   try Int64(Date(old, strategy: .iso8601).timeIntervalSince1970 * 1000)
  /// }
  /// ```
  ///
  /// Old values that may be NULL need an Optional parameter. The new value is stored by the column's coding, if it has
  /// one; a value of another type than the column's is taken for what is stored. The conversion is called for each row
  /// in the migration's transaction, in batches, and has to give equal results for equal values. The code isn't part
  /// of the migration's checksum.
  public static func change<Old: DatabaseValueConvertible, New: DatabaseValueConvertible>(
    _ column: ColumnDefinition, of table: String,
    converting: @escaping @Sendable (Old) throws -> New
  ) -> SchemaStep {
    let detail = "change the column “\(column.name)” of “\(table)”"
    return SchemaStep(
      detail,
      NamedStep(["change column", table.quotedIdentifier, column.checkedText, "by code"]) { db in
        let target = try AlteredTable(table, for: detail, in: db)
        let changed = try target.changing(column)
        try column.checkConverted(to: New.self, detail)
        let stored: @Sendable (Old) throws -> any DatabaseValueConvertible = { old in
          let new = try converting(old)
          return column.code?(new) ?? new
        }
        try target.converting(column.name, in: changed, stored) { expression in
          try changed.rebuild(db, copying: [column.name: expression])
        }
      })
  }

  // MARK: Between tables

  /// Moves columns into another table, which has a row for each row of this one then.
  ///
  /// ```swift
  /// .create("state", .column("entry", Int64.self, .primaryKey), .column("read", Bool.self)),
  /// .move("read", from: "entry", to: "state", key: ["entry": "id"])
  /// // INSERT INTO state (entry, read) SELECT id, read FROM entry; then the column is removed
  /// ```
  ///
  /// - `key`: further columns of the other table, each with an expression over this one's.
  /// - `condition`: the rows that get a row there, if not all do. Where others have values that aren't NULL, those
  ///   are lost, so that `losing` has to have `.values`. The rows themselves stay.
  public static func move(
    _ columns: String..., from table: String, to other: String, key: [String: SQL],
    where condition: SQL? = nil, losing: RebuildLosses = []
  ) -> SchemaStep {
    let detail = "move \(columns.quotedList) from “\(table)” to “\(other)”"
    let keys = key.sorted { $0.key < $1.key }
    return SchemaStep(
      detail, isDestructive: losing != [],
      NamedStep(
        ["move columns", table.quotedIdentifier, other.quotedIdentifier, columns.identifierList]
          + keys.map { "\($0.key.quotedIdentifier) \($0.value.checkedText)" }
          + (condition.map { ["where", $0.checkedText] } ?? [])
      ) { db in
        let source = try AlteredTable(table, for: detail, in: db)
        let target = try AlteredTable(other, for: detail, in: db)
        for column in columns { _ = try (source.position(of: column), target.position(of: column)) }
        for (column, _) in keys { _ = try target.position(of: column) }
        if let condition, losing.isDisjoint(with: [.values, .rows]) {
          let isValue = columns.map { "\($0.quotedIdentifier) IS NOT NULL" }
            .joined(separator: " OR ")
          let left = try db.value(
            """
            SELECT count(*) FROM \(source.name)
            WHERE (\(condition)) IS NOT TRUE AND (\(SQL(raw: isValue)))
            """, as: Int.self)
          if let left, left > 0 {
            throw SchemaError.step(
              detail,
              problem: "the condition leaves out \(left) rows with values, which would be lost; "
                + "change it, or pass losing: .values")
          }
        }
        var sources = SQL(raw: columns.identifierList)
        for (_, value) in keys { sources = "\(sources), \(value)" }
        let names = SQL(raw: (columns + keys.map(\.key)).identifierList)
        try db.executeUpdate(
          ("""
          INSERT INTO \(target.name) (\(names)) SELECT \(sources) FROM \(source.name)
          WHERE \(condition ?? "true")
          """ as SQL).uncached)
        try source.checkMoved(columns, keys, to: target, where: condition)
        for column in columns { try remove(column, from: table, losing: .columns).execute(db) }
      })
  }

  /// Splits a column's values off into a table of their own, each once, and refers to them.
  ///
  /// ```swift
  /// .create("author", .column("id", Int64?.self, .primaryKey), .column("name", String.self, .unique)),
  /// .split(
  ///   "author", of: "entry", into: "author", "name",
  ///   by: .column("author_id", Int64?.self, .references("author", column: "id")))
  /// ```
  ///
  /// - `name`: the column of the other table that gets the values; those that it has already stay.
  /// - `reference`: the column that takes the place of the old one, a foreign key to the other table.
  public static func split(
    _ column: String, of table: String, into other: String, _ name: String,
    by reference: ColumnDefinition
  ) -> SchemaStep {
    let detail = "split “\(column)” of “\(table)” off into “\(other)”"
    return SchemaStep(
      detail,
      NamedStep(
        [
          "split column", table.quotedIdentifier, column.quotedIdentifier, other.quotedIdentifier,
          name.quotedIdentifier, reference.checkedText,
        ]
      ) { db in
        let source = try AlteredTable(table, for: detail, in: db)
        let target = try AlteredTable(other, for: detail, in: db)
        _ = try (source.position(of: column), target.position(of: name))
        guard let key = reference.foreignKey?(), key.referencedTable == other,
          let id = key.referencedColumns.first
        else { throw source.problem("“\(reference.name)” isn't a foreign key to “\(other)”") }
        let value: SQL = "\(source.name).\(identifier: column)"
        try db.executeUpdate(
          ("""
          INSERT INTO \(target.name) (\(identifier: name))
          SELECT DISTINCT \(value) FROM \(source.name) WHERE \(value) IS NOT NULL
            AND \(value) NOT IN (SELECT \(identifier: name) FROM \(target.name)
              WHERE \(identifier: name) IS NOT NULL)
          ORDER BY 1
          """ as SQL).uncached)
        let found: SQL = """
          (SELECT t.\(identifier: id) FROM \(target.name) AS t
            WHERE t.\(identifier: name) = \(identifier: source.found.name).\(identifier: column))
          """
        try add(reference, to: table, filling: found).execute(db)
        try source.checkSplit(column, reference.name, to: target, id, name)
        try remove(column, from: table, losing: .columns).execute(db)
      })
  }
}

extension AlteredTable {
  /// The table's quoted name.
  var name: SQL { SQL(raw: found.quotedName) }

  /// The table without a column. Throws if the column is a part of the key or of a constraint with others.
  fileprivate func without(_ position: Int) throws -> TableSchema {
    let column = found.columns[position]
    guard column.primaryKeyPosition == 0 else {
      throw problem("“\(column.name)” is a part of the primary key of “\(found.name)”")
    }
    func uses(_ index: IndexSchema) -> Bool {
      index.columns.contains { $0?.foldedName == column.name.foldedName }
    }
    if let index = found.uniqueIndexes.first(where: { $0.columns.count > 1 && uses($0) }) {
      throw problem("“\(found.name)” has the constraint \(index.sql)")
    }
    let constraints = try constraints(without: column.name)
    return changed { table in
      table.columns.remove(at: position)
      table.constraints = constraints
      table.uniqueIndexes.removeAll(where: uses)
      table.indexes.removeAll { $0.key.uses(column.name) }
      table.foreignKeys.removeAll { $0.columns.map(\.foldedName) == [column.name.foldedName] }
      table.checks.removeAll { check in
        check.sqlTokens.contains { $0.identifier?.foldedName == column.name.foldedName }
      }
    }
  }

  /// The table with another definition of one of its columns.
  fileprivate func changing(_ column: ColumnDefinition) throws -> TableSchema {
    let position = try position(of: column.name)
    let declared = try declared(column)
    let former = found.columns[position]
    // What a definition of a column can't say.
    if former.hasOwn("conflict") {
      throw problem(
        "“\(former.name)” has an ON CONFLICT clause, which would be lost: \(former.sql)")
    }
    if former.sql.sqlTokens.filter({ $0.isWord("references") }).count > 1 {
      throw problem("“\(former.name)” has two foreign keys: \(former.sql)")
    }
    var new = declared.columns[0]
    new.name = former.name
    new.primaryKeyPosition = former.primaryKeyPosition
    if former.isNumbered {
      (new.identity, new.isSerial) = (former.identity, former.isSerial)
      new.default = former.default
    }
    // Otherwise a change of the type would let in what was refused.
    if new.collation == nil, column.type.kind == .text { new.collation = former.collation }
    if new.checks.isEmpty { new.checks = former.checks }
    let own = found.foreignKeys.first { $0.columns == [former.name] && former.hasOwn("references") }
    new.sql = DDL.column(
      new, isKey: former.hasOwn("primary"), isAutoincrement: former.hasOwn("autoincrement"),
      isUnique: former.hasOwn("unique") || column.isUnique,
      reference: declared.foreignKeys.first ?? own)
    return changed { table in
      table.columns[position] = new
      table.checks.removeAll { former.checks.contains($0) && !new.checks.contains($0) }
      if let key = declared.foreignKeys.first {
        table.foreignKeys.removeAll { $0.columns == key.columns }
      }
      table.adopt(declared)
    }
  }
}

extension ColumnDefinition {
  /// Throws if a conversion gives values of a type that the column without a coding can't hold as such.
  fileprivate func checkConverted<New: DatabaseValueConvertible>(
    to type: New.Type, _ step: String
  ) throws {
    let exact: [ColumnType.Kind] = [.date, .uuid, .bool, .decimal]
    let kind = type.columnType.kind
    guard code == nil, kind != self.type.kind, kind != .any, exact.contains(self.type.kind) else {
      return
    }
    throw SchemaError.step(
      step, problem: "the closure gives \(type), and the column holds values of another type")
  }
}
