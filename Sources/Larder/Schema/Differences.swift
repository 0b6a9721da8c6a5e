import LarderSQLite

// The schema diff: compares a program's declarations with a database's schema.

extension Table {
  /// The ways the table in a database differs from this declaration; empty for a table that
  /// ``create(_:ifNotExists:)`` has made.
  ///
  /// ```swift
  /// for difference in try City.table.differences(db) { print(difference) }
  /// // “city”.“founded”, type: declared TEXT, found DATETIME
  /// ```
  ///
  /// Names are compared case-insensitively, expressions without spaces and comments, and defaults by their
  /// values. Types are compared by their [affinity](https://www.sqlite.org/datatype3.html#type_affinity),
  /// since SQLite treats a `TEXT` and an `NVARCHAR(160)` alike. A view has to have the declared columns.
  /// Indexes, UNIQUE and CHECK constraints and foreign keys that only the database has aren't reported: see
  /// ``LarderSQLite/TableSchema/differences(from:strictly:)``.
  ///
  /// Another engine than SQLite is asked how it writes the declaration, by means of a temporary table: in a
  /// read-only scope this throws ``LarderSQLite/UnsupportedByEngine``. Throws
  /// ``RecordError/declaration(table:problem:)`` if the declaration is wrong.
  ///
  /// - `strictly`: whether to report differences of wording too; see ``TableDifference/isNote``.
  public func differences(_ db: Database, strictly: Bool = false) throws -> [TableDifference] {
    if core.isInState(.view) { return try viewDifferences(db).filter { strictly || !$0.isNote } }
    let declared = try core.schema(in: db)
    let surplus: Set<TableDifference.Kind> = [.index, .check, .foreignKey]
    return declared.differences(
      from: try .found(name, in: db, schema: schema), strictly: strictly
    )
    .filter { $0.declared != nil || !surplus.contains($0.kind) }
  }
}

extension TableSchema {
  /// The ways another table, usually a database's, differs from this declaration. If `other` is nil, the
  /// missing table is the only difference.
  ///
  /// They are compared as by `Table.differences`; indexes regardless of their names.
  ///
  /// - `strictly`: whether to report differences of wording too; see ``Larder/TableDifference/isNote``.
  public func differences(from other: TableSchema?, strictly: Bool = false) -> [TableDifference] {
    differences(from: other, strictly: strictly, wholly: false)
  }

  /// - Parameter wholly: whether indexes that no record can declare count.
  func differences(from other: TableSchema?, strictly: Bool, wholly: Bool) -> [TableDifference] {
    guard let other else {
      return [TableDifference(kind: .table, table: fullName, declared: sql)]
    }
    var comparison = TableComparison(declared: self, found: other, wholly: wholly)
    comparison.run()
    return strictly ? comparison.differences : comparison.differences.filter { !$0.isNote }
  }

  var options: String? { DDL.options(isStrict: isStrict, isWithoutRowID: isWithoutRowID) }
}

private struct TableComparison {
  let declared: TableSchema
  let found: TableSchema
  /// Whether indexes that no record can declare count.
  let wholly: Bool
  var differences: [TableDifference] = []

  mutating func run() {
    for column in declared.columns {
      if let other = found.column(column.name) {
        compare(column, other)
      } else {
        add(.column, column.name, column.sql, nil)
      }
    }
    for column in found.columns where declared.column(column.name) == nil {
      add(.column, column.name, nil, column.summary)
    }
    compareKeys()
    if declared.options != found.options { add(.options, nil, declared.options, found.options) }
    compareIndexes()
    compare(.check, declared.checks.map(check), found.checks.map(check))
    compare(
      .conflictClause, declared.conflictClauses.map { ($0, $0.sql) },
      found.conflictClauses.map { ($0, $0.sql) })
    compareForeignKeys()
  }

  private mutating func add(
    _ kind: TableDifference.Kind, _ column: String?, _ declared: String?, _ found: String?,
    isNote: Bool = false
  ) {
    differences.append(
      TableDifference(
        kind: kind, table: self.declared.fullName, column: column, declared: declared, found: found,
        isNote: isNote))
  }

  // MARK: Columns

  private mutating func compare(_ column: ColumnSchema, _ other: ColumnSchema) {
    let isRowID = declared.rowIDColumn == column.name || found.rowIDColumn == other.name
    // Both are numbered, perhaps one of them by a sequence in its default.
    let areNumbered = column.isNumbered && other.isNumbered
    let type = column.type.uppercased()
    let found = other.type.uppercased()
    // INTEGER and INT are the same type, except for the row id.
    if type != found && (isRowID || Set([type, found]) != ["INTEGER", "INT"]) {
      add(
        .type, column.name, column.numberedType, other.numberedType,
        isNote: !isRowID && isSQLite && affinity(column, declared) == affinity(other, self.found)
          || column.type.isSame(as: other.baseType ?? other.type))
    } else if column.identity != other.identity {
      add(.type, column.name, column.numberedType, other.numberedType, isNote: areNumbered)
    }
    if !isRowID, column.isNotNull != other.isNotNull {
      func text(_ isNotNull: Bool) -> String { isNotNull ? "NOT NULL" : "NULL" }
      // By an old bug of SQLite's, a key column can be NULL unless it says NOT NULL; the record's can't.
      add(
        .nullability, column.name, text(column.isNotNull), text(other.isNotNull),
        isNote: isSQLite && column.isNotNull && other.primaryKeyPosition > 0)
    }
    if normalized(default: column.default) != normalized(default: other.default),
      !areNumbered || column.isSerial == other.isSerial
    {
      add(
        .defaultValue, column.name, column.default, other.default,
        isNote: isSQLite
          && DefaultValue(column.default).stored(affinity(column, declared))
            == DefaultValue(other.default).stored(affinity(other, self.found))
      )
    }
    if column.collation?.foldedName ?? binary != other.collation?.foldedName ?? binary {
      // Another program's text on a server is ordered as the database orders text.
      add(
        .collation, column.name, column.collation, other.collation,
        isNote: !isSQLite && column.collation == "C" && other.collation == nil)
    }
    compareGenerated(column, other)
  }

  private var isSQLite: Bool { declared.engine == nil && found.engine == nil }

  private func affinity(_ column: ColumnSchema, _ table: TableSchema) -> ColumnAffinity {
    ColumnAffinity(type: column.type, isStrict: table.isStrict)
  }

  /// The collation of columns that declare none.
  private var binary: [UInt8] { Array("binary".utf8) }

  /// The tokens of a default, which is read back without parentheses. NULL is the same as no default.
  private func normalized(default text: String?) -> [String] {
    (text ?? "NULL").sqlTokens.withoutParentheses.normalized
  }

  private mutating func compareGenerated(_ column: ColumnSchema, _ other: ColumnSchema) {
    let text = column.generated.map { DDL.generated($0, isStored: column.isStored) }
    guard let generated = column.generated, let otherGenerated = other.generated else {
      if column.generated != nil || other.generated != nil {
        add(.generated, column.name, text, other.generated == nil ? nil : "GENERATED ALWAYS")
      }
      return
    }
    if column.isStored != other.isStored {
      add(.generated, column.name, text, other.isStored ? "STORED" : "VIRTUAL")
    } else if normalized(generated) != normalized(otherGenerated) {
      add(.generated, column.name, text, "another expression")
    }
  }

  // MARK: The table

  /// The tokens of one of the table's expressions, without qualifiers before the names of columns.
  private func normalized(_ expression: String) -> [String] {
    expression.withoutQualifier(declared.name).normalizedSQL
  }

  private mutating func compareKeys() {
    func terms(_ table: TableSchema) -> [[String]] { table.primaryKeyTerms.map(\.normalizedSQL) }
    guard terms(declared) != terms(found) || declared.isAutoincrement != found.isAutoincrement
    else { return }
    func text(_ table: TableSchema) -> String? {
      table.primaryKey.isEmpty
        ? nil
        : "(\(table.primaryKeyTerms.joined(separator: ", ")))"
          + (table.isAutoincrement ? " AUTOINCREMENT" : "")
    }
    add(.primaryKey, nil, text(declared), text(found))
  }

  private mutating func compareIndexes() {
    let missing = declared.missingUniqueConstraints(in: found) + declared.missingIndexes(in: found)
    let surplus =
      found.missingUniqueConstraints(in: declared) + found.surplusIndexes(for: declared)
    for index in missing where index.isDeclarable { add(.index, index.onlyColumn, index.sql, nil) }
    for index in surplus { add(.index, index.onlyColumn, nil, index.sql) }
    for (index, other) in declared.indexesWithOtherNulls(in: found) {
      add(.index, index.onlyColumn, index.sql, other.sql, isNote: true)
    }
    guard wholly else { return }
    for index in declared.undeclarableIndexes(missingIn: found) {
      add(.index, index.onlyColumn, index.sql, nil)
    }
    for index in found.undeclarableIndexes(missingIn: declared) {
      add(.index, index.onlyColumn, nil, index.sql)
    }
  }

  private func check(_ condition: String) -> (key: [String], sql: String) {
    (normalized(condition), DDL.check(condition))
  }

  /// Adds a difference for each part that only one of the two tables has.
  private mutating func compare<Key: Hashable>(
    _ kind: TableDifference.Kind, _ declared: [(key: Key, sql: String)],
    _ found: [(key: Key, sql: String)]
  ) {
    let (wanted, present) = (Set(declared.map(\.key)), Set(found.map(\.key)))
    for part in declared where !present.contains(part.key) { add(kind, nil, part.sql, nil) }
    for part in found where !wanted.contains(part.key) { add(kind, nil, nil, part.sql) }
  }

  private mutating func compareForeignKeys() {
    func name(_ columns: [String]) -> String? { columns.count == 1 ? columns[0] : nil }
    var others = found.foreignKeys
    for key in declared.foreignKeys {
      let same = others.firstIndex(where: key.isSame)
      let other = same ?? others.firstIndex(where: key.hasSameColumns)
      if same == nil { add(.foreignKey, name(key.columns), key.sql, other.map { others[$0].sql }) }
      if let other { others.remove(at: other) }
    }
    for key in others { add(.foreignKey, name(key.columns), nil, key.sql) }
  }
}

extension ForeignKeySchema {
  fileprivate func hasSameColumns(as other: ForeignKeySchema) -> Bool {
    columns.map(\.foldedName) == other.columns.map(\.foldedName)
  }

  /// Whether another foreign key has the same effect. Without referenced columns, it is the primary key's.
  package func isSame(as other: ForeignKeySchema) -> Bool {
    let targets = [referencedColumns, other.referencedColumns].map { $0.map(\.foldedName) }
    return hasSameColumns(as: other)
      && referencedTable.foldedName == other.referencedTable.foldedName
      && (referencedSchema == other.referencedSchema
        || referencedSchema == nil && other.refersToCurrentSchema
        || other.referencedSchema == nil && refersToCurrentSchema)
      && (targets[0] == targets[1] || targets.contains([])) && onDelete == other.onDelete
      && onUpdate == other.onUpdate && isDeferred == other.isDeferred
  }
}

extension ColumnSchema {
  fileprivate var numberedType: String {
    identity.isEmpty ? isSerial ? "\(type), numbered by a sequence" : type : "\(type) \(identity)"
  }

  /// The main parts of the column's definition, always in the same words.
  fileprivate var summary: String {
    [
      name.quotedIdentifier, numberedType, isNotNull ? "NOT NULL" : "",
      self.default.map { "DEFAULT \($0)" } ?? "", generated == nil ? "" : "GENERATED ALWAYS",
    ].filter { !$0.isEmpty }.joined(separator: " ")
  }
}
