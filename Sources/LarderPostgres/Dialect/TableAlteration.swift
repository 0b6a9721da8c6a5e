import Larder

/// The rebuild of a table by ALTER TABLE, which can change everything here: columns, types, constraints and
/// keys, one after the other. Rows, triggers, and objects that refer to the table stay.
///
/// See [ALTER TABLE](https://www.postgresql.org/docs/current/sql-altertable.html).
struct TableAlteration {
  private let db: Database
  private let old: TableSchema
  private let new: TableSchema
  private let copying: [String: SQL]
  private let copy: RowCopy

  init(
    to new: TableSchema, copying: [String: SQL], losing: RebuildLosses, in db: Database
  ) throws {
    guard !losing.contains(.rows) else {
      throw PostgresDefinitions.unsupported(
        "a rebuild that leaves out rows: first delete those that break a constraint")
    }
    guard try TableSchema.found(new.name, in: db, schema: new.schema) != nil else {
      throw SchemaError.noTable(new.name)
    }
    // The lock keeps the table as it is checked until it is changed.
    try db.executeStatements("LOCK TABLE \(SQL(raw: new.quotedName)) IN ACCESS EXCLUSIVE MODE")
    guard let old = try TableSchema.found(new.name, in: db, schema: new.schema) else {
      throw SchemaError.noTable(new.name)
    }
    var expressions: [String: SQL] = [:]
    for (name, expression) in copying.sorted(by: { $0.key < $1.key }) {
      let column =
        new.column(name) ?? new.columns.first { $0.name.foldedName == name.foldedName }
      guard let column, column.generated == nil else {
        throw SchemaError.noSuchColumn(table: new.name, column: name)
      }
      expressions[column.name] = expression
    }
    let kept = new.keeping(old)
    self.db = db
    self.old = old
    self.new = kept
    self.copying = expressions
    copy = RowCopy(old: old, new: kept, losing: losing, db: db, copying: copying)
  }

  /// Changes the table, and returns the number of its rows.
  func run() throws -> Int {
    try copy.check()
    try dropConstraints()
    try dropComputedColumns()
    try addColumns()
    try changeTypes()
    for column in old.columns where column.generated == nil && keptColumn(column.name) == nil {
      try alter("DROP COLUMN \(column.name.quotedIdentifier)")
    }
    for (column, former) in keptColumns { try changeProperties(of: column, from: former) }
    try addComputedColumns()
    try addConstraints()
    return try db.value("SELECT count(*) FROM \(SQL(raw: new.quotedName))", as: Int.self) ?? 0
  }

  private func alter(_ actions: String...) throws {
    try db.executeUpdate(SQL(raw: DDL.alterTable(new, actions)).uncached)
  }

  private func alter(_ column: ColumnSchema, _ action: String) throws {
    try alter("ALTER COLUMN \(column.name.quotedIdentifier) \(action)")
  }

  // MARK: Columns

  /// The columns whose values stay in place, perhaps changed, each with its old definition.
  private var keptColumns: [(ColumnSchema, ColumnSchema)] {
    new.columns.compactMap { column in
      guard column.generated == nil else { return nil }
      return old.column(column.name).map { (column, $0) }
    }
  }

  private func keptColumn(_ name: String) -> ColumnSchema? {
    keptColumns.first { $0.0.name == name }?.0
  }

  private var changedTypes: [(ColumnSchema, ColumnSchema)] {
    keptColumns.filter { $0.type != $1.type || $0.collation != $1.collation }
  }

  /// Whether a computed column stays. It can't if any column's type changes, since it may be computed from
  /// that column.
  private func staysComputed(_ column: ColumnSchema) -> Bool {
    guard changedTypes.isEmpty, let other = new.column(column.name) else { return false }
    return other.generated == column.generated && other.type == column.type
      && other.collation == column.collation
  }

  private func dropComputedColumns() throws {
    for column in old.columns where column.generated != nil && !staysComputed(column) {
      if keptColumn(column.name) != nil {
        try alter(column, "DROP EXPRESSION")
      } else {
        try alter("DROP COLUMN \(column.name.quotedIdentifier)")
      }
    }
  }

  private func addComputedColumns() throws {
    for column in new.columns where column.generated != nil {
      if let former = old.column(column.name), former.generated != nil, staysComputed(former) {
        try changeNullability(of: column, from: former)
      } else {
        try alter("ADD COLUMN " + definition(of: column))
      }
    }
  }

  /// Adds the columns that aren't computed, as nullable: all rows get values before NULL is ruled out.
  private func addColumns() throws {
    for column in new.columns where column.generated == nil && old.column(column.name) == nil {
      var nullable = column
      nullable.isNotNull = false
      try alter("ADD COLUMN " + definition(of: nullable))
    }
  }

  /// The column's definition without its constraints, which are added later.
  private func definition(of column: ColumnSchema) -> String {
    var plain = column
    plain.checks = []
    if !column.identity.isEmpty { plain.type += " \(column.identity)" }
    return DDL.column(plain, isKey: false, isAutoincrement: false, isUnique: false, reference: nil)
  }

  /// Changes the types in one statement, whose expressions see the rows as they were.
  private func changeTypes() throws {
    if changedTypes.isEmpty, !copying.isEmpty, copiedColumns.allSatisfy({ $0.identity.isEmpty }) {
      return try changeValues()
    }
    for (column, former) in changedTypes {
      if former.default != nil { try alter(column, "DROP DEFAULT") }
    }
    for (column, former) in keptColumns where former.identity != column.identity {
      if !former.identity.isEmpty { try alter(column, "DROP IDENTITY") }
    }
    let changed = Set(changedTypes.map(\.0.name)).union(copying.keys)
    let actions = try new.columns.filter { changed.contains($0.name) }.map { column in
      let value =
        try copying[column.name]?.literalText(dateFormat: db.dateFormat, PostgresDialect().literal)
        ?? column.name.quotedIdentifier
      let collation = column.collation.map { " COLLATE \($0.quotedIdentifier)" } ?? ""
      return """
        ALTER COLUMN \(column.name.quotedIdentifier) TYPE \(column.type)\(collation) \
        USING CAST((\(value)) AS \(column.type))
        """
    }
    guard !actions.isEmpty else { return }
    try db.executeUpdate(SQL(raw: DDL.alterTable(new, actions)).uncached)
    for (column, former) in changedTypes where former.isSerial { try widenSequence(of: column) }
  }

  /// Gives the sequence in a column's default the column's new type, and so its range.
  private func widenSequence(of column: ColumnSchema) throws {
    let sequence = try db.value(
      """
      SELECT coalesce(
        pg_get_serial_sequence(\(new.quotedName)::text, \(column.name)::text), '')
      """, as: String.self)
    guard let sequence, !sequence.isEmpty,
      Self.sequenceTypes.contains(column.type.lowercased())
    else { return }
    try db.executeUpdate(SQL(raw: "ALTER SEQUENCE \(sequence) AS \(column.type)").uncached)
  }

  private static let sequenceTypes: Set<String> = ["smallint", "integer", "bigint"]

  private var copiedColumns: [ColumnSchema] {
    new.columns.filter { copying[$0.name] != nil }
  }

  /// Updates columns that keep their types. Only rows that change are written anew, and views may use the
  /// columns. As with a change of types, triggers aren't fired.
  private func changeValues() throws {
    let changes = try copiedColumns.map { column in
      let value = try copying[column.name]?.literalText(
        dateFormat: db.dateFormat, PostgresDialect().literal)
      return (column, value: "CAST((\(value ?? "NULL")) AS \(column.type))")
    }
    let assignments = changes.map { "\($0.0.name.quotedIdentifier) = \($0.value)" }
    var sql = "UPDATE \(new.quotedName) SET \(assignments.joined(separator: ", "))"
    if changes.allSatisfy({ Self.comparedTypes.contains($0.0.type.lowercased()) }) {
      let tests = changes.map { "\($0.0.name.quotedIdentifier) IS DISTINCT FROM \($0.value)" }
      sql += " WHERE \(tests.joined(separator: " OR "))"
    }
    try PostgresDefinitions().withoutTriggers(of: new, in: db) {
      try db.executeUpdate(SQL(raw: sql).uncached)
    }
  }

  /// Types whose old and new values can be compared.
  private static let comparedTypes: Set<String> = [
    "smallint", "integer", "bigint", "real", "double precision", "numeric", "boolean", "text",
    "uuid", "bytea", "date", "timestamp with time zone", "timestamptz", "jsonb",
    "character varying",
  ]

  private func changeProperties(of column: ColumnSchema, from former: ColumnSchema) throws {
    if changedTypes.contains(where: { $0.0.name == column.name }), let value = column.default {
      try alter(column, "SET DEFAULT \(value)")
    } else if column.default != former.default, former.generated == nil {
      try alter(column, column.default.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT")
    }
    try changeNullability(of: column, from: former)
    guard column.identity != former.identity, !column.identity.isEmpty else { return }
    try alter(column, "ADD \(column.identity)")
    try db.executeStatements(
      SQL(raw: PostgresNumbers.renumber(new.quotedName, column: column.name)))
  }

  private func changeNullability(of column: ColumnSchema, from former: ColumnSchema) throws {
    guard column.isNotNull != former.isNotNull else { return }
    try alter(column, column.isNotNull ? "SET NOT NULL" : "DROP NOT NULL")
  }

  // MARK: Constraints

  private var changesKey: Bool { old.primaryKeyTerms != new.primaryKeyTerms }

  private func dropConstraints() throws {
    var names = old.foreignKeys.filter { key in !new.foreignKeys.contains(where: key.isSame) }
      .compactMap(\.name)
    names += zip(old.checks, old.checkNames).filter { !new.checks.contains($0.0) }.map(\.1)
    names += old.missingUniqueConstraints(in: new).map(\.name)
    if changesKey {
      names += try db.indexes(of: old.name, in: new.schema).filter { $0.kind == .primaryKey }.map(
        \.name)
    }
    for name in names { try alter("DROP CONSTRAINT \(name.quotedIdentifier)") }
    // Declared indexes need these names.
    let needed = Set(new.missingIndexes(in: old).map(\.name))
    for index in old.indexes where needed.contains(index.name) {
      try db.executeUpdate(SQL(raw: DDL.drop(.index, index.name, in: new.schema)))
    }
  }

  private func addConstraints() throws {
    for column in new.columns where old.column(column.name) == nil && column.isNotNull {
      if column.generated == nil { try alter(column, "SET NOT NULL") }
    }
    if changesKey, !new.primaryKey.isEmpty {
      try alter("ADD " + IndexSchema(constraint: .primaryKey, columns: new.primaryKey).sql)
    }
    for index in new.missingUniqueConstraints(in: old) { try alter("ADD " + index.sql) }
    for check in new.checks where !old.checks.contains(check) {
      try alter("ADD " + DDL.check(check))
    }
    for key in new.foreignKeys where !old.foreignKeys.contains(where: key.isSame) {
      try alter("ADD FOREIGN KEY " + key.sql)
    }
    // Some indexes were dropped with their columns.
    guard let altered = try TableSchema.found(new.name, in: db, schema: new.schema) else { return }
    for index in new.missingIndexes(in: altered) { try db.create(index, of: new) }
  }
}
