import LarderSQLite

/// Makes a table's value from its declaration. Its statements depend on the date format.
struct DeclaredTable {
  private let primaryKey: [String]
  private let dateFormat: DateFormat
  private let dialect: any Dialect
  /// Whether the table is a temporary draft. A temporary table can't refer to others.
  private let isDraft: Bool
  private let nullableColumns: Set<String>
  private let collations: [String: String]
  private(set) var schema: TableSchema

  init(
    _ name: String, in schemaName: String?, _ columns: [ColumnDefinition],
    _ constraints: [TableConstraintDefinition], _ options: TableOptions, _ dateFormat: DateFormat,
    _ dialect: any Dialect, isDraft: Bool = false
  ) throws {
    primaryKey = columns.filter(\.isPrimaryKey).map(\.name)
    self.dateFormat = dateFormat
    self.dialect = dialect
    self.isDraft = isDraft
    // A key is never NULL, also if its property is, as that of a row without a number yet.
    nullableColumns = Set(
      columns.filter { $0.type.isNullable && !$0.isPrimaryKey }.map(\.name))
    collations = columns.reduce(into: [:]) { $0[$1.name] = $1.knownCollation }
    schema = TableSchema(name: name)
    schema.schema = isDraft ? nil : schemaName
    schema.engine = dialect.definitions?.engine
    schema.isStrict = !options.contains(.notStrict) && dialect.definitions == nil
    schema.isWithoutRowID = options.contains(.withoutRowID) && dialect.definitions == nil
    schema.isAutoincrement = columns.contains(where: \.isAutoincrement)
    schema.primaryKeyTerms = primaryKey.map(\.quotedIdentifier)
    for column in columns { try add(column) }
    if primaryKey.count > 1 {
      schema.constraints.append(IndexSchema(constraint: .primaryKey, columns: primaryKey).sql)
    }
    for constraint in constraints {
      if let text = try add(constraint) { schema.constraints.append(text) }
    }
    let definitions = schema.columns.map(\.sql) + schema.constraints
    schema.sql =
      isDraft
      ? TableSchema.statement(name, definitions, isTemporary: true)
      : DDL.createTable(name, in: schemaName, definitions, options: schema.options)
  }

  private mutating func add(_ definition: ColumnDefinition) throws {
    let name = definition.name
    let isKey = definition.isPrimaryKey || definition.foreignKey != nil
    try dialect.definitions?.check(
      column: name, definition.type, collation: definition.collation, isKey: isKey, of: schema.name)
    // Other engines have no such collations: queries and indexes fold the text.
    let isFolded = definition.knownCollation != nil && dialect.definitions != nil
    let isDate = definition.type.kind == .date && dialect.definitions == nil
    let type = isDate ? dateFormat.columnType : definition.type
    let sqlType = dialect.definitions == nil ? definition.sqlType : definition.serverType
    if let sqlType { try check(sqlType, of: name) }
    let isRowID =
      primaryKey == [name] && type.kind == .integer && definition.isOfRowIDType
      && !schema.isWithoutRowID && (dialect.definitions == nil || definition.type.isNullable)
    if isRowID { schema.rowIDColumn = name }
    var column = ColumnSchema(name: name)
    // In a table that isn't STRICT, the type ANY would turn text into numbers.
    let takesAll = type.kind == .any && !schema.isStrict
    column.type =
      sqlType ?? (takesAll ? "" : dialect.typeName(of: type, storedAs: definition.form))
    if isRowID, sqlType == nil, let numbered = dialect.definitions?.rowIDType {
      column.type = numbered
    }
    // Key columns are NOT NULL too: SQLite would allow NULL in a key, even several times.
    column.isNotNull = !isRowID && (definition.isPrimaryKey || !definition.type.isNullable)
    column.default =
      try definition.defaultSQL.map { "(\(try text($0)))" }
      ?? definition.defaultValue.map {
        try dialect.literal(of: $0(dateFormat), as: type, storedAs: definition.form)
      }
    column.primaryKeyPosition = primaryKey.firstIndex(of: name).map { $0 + 1 } ?? 0
    column.collation = isFolded ? nil : definition.collation
    column.generated = try definition.generated.map { try text($0.expression) }
    column.isStored =
      definition.generated.map { $0.isStored || dialect.definitions != nil } ?? false
    column.checks = try definition.checks.map(text)
    column.isReference = definition.foreignKey != nil
    let reference = try definition.foreignKey.map { try add($0()) }
    try checkReference(of: definition)
    column.sql = DDL.column(
      column, isKey: primaryKey == [name],
      isAutoincrement: definition.isAutoincrement && dialect.definitions == nil,
      isUnique: definition.isUnique && !isFolded, reference: isDraft ? nil : reference)
    schema.columns.append(column)
    schema.checks += column.checks
    if definition.isUnique {
      try add(isFolded ? .index([name], isUnique: true, nil, name: nil) : .unique([name]))
    }
    if definition.isIndexed, !(definition.isUnique && isFolded) {
      try add(.index([name], isUnique: false, nil, name: nil))
    }
  }

  /// Throws if the text is more than a type: SQLite would read the rest as the column's constraints.
  private func check(_ sqlType: String, of column: String) throws {
    var tokens = sqlType.sqlTokens
    if dialect.definitions != nil {
      // On a server, the identity clause follows the type.
      for words in [["generated", "always"], ["generated", "by", "default"]] {
        let words = words + ["as", "identity"]
        let last = tokens.suffix(words.count)
        let isIdentity = last.count == words.count && zip(last, words).allSatisfy { $0.isWord($1) }
        if isIdentity { tokens.removeLast(words.count) }
      }
    }
    let depth = tokens.reduce(into: [0]) {
      $0.append(($0.last ?? 0) + ($1.isSymbol("(") ? 1 : $1.isSymbol(")") ? -1 : 0))
    }
    let isType =
      !sqlType.utf8.contains(0) && depth.last == 0 && !depth.contains { $0 < 0 }
      && zip(tokens, depth).allSatisfy { token, depth in
        !DDL.constraintWords.contains(where: token.isWord) && !token.isSymbol(";")
          && (depth > 0 || !token.isSymbol(","))
      }
    guard isType else { throw problem("“\(column)” has an invalid SQL type: \(sqlType)") }
    let strict = ["INT", "INTEGER", "REAL", "TEXT", "BLOB", "ANY"]
    guard schema.isStrict, !strict.contains(sqlType.uppercased()) else { return }
    throw problem(
      "“\(column)” has the type \(sqlType), which a STRICT table doesn't allow; use .notStrict")
  }

  private func text(_ fragment: SQLFragment) throws -> String {
    try text(fragment.sql(in: dialect.definitions == nil ? nil : DefinitionText(dialect: dialect)))
  }

  /// The SQL with its values as literals, since a declaration can't have parameters.
  private func text(_ sql: SQL) throws -> String {
    try sql.literalText(dateFormat: dateFormat, dialect.literal)
  }

  // MARK: Constraints

  /// Adds a constraint or index. Returns the constraint's text for CREATE TABLE; nil for an index.
  @discardableResult
  private mutating func add(_ constraint: TableConstraintDefinition) throws -> String? {
    switch constraint {
    case .unique(let columns)
    where dialect.definitions != nil && columns.contains(where: { collations[$0] != nil }):
      try add(.index(columns, isUnique: true, nil, name: nil))
      return nil
    case .unique(let columns):
      let index = IndexSchema(constraint: .unique, columns: columns)
      schema.uniqueIndexes.append(index)
      return index.sql
    case .check(let condition):
      schema.checks.append(try text(condition))
      return DDL.check(try text(condition))
    case .foreignKey(let key):
      let key = try add(key())
      return isDraft ? nil : "FOREIGN KEY \(key.sql)"
    case .index(let columns, let isUnique, let condition, let name):
      let name = name ?? ([schema.name] + columns + ["index"]).joined(separator: "_")
      let terms = columns.map { column in
        let term = dialect.definitions?.folded(column, by: collations[column])
        return indexTerm(
          term ?? column.quotedIdentifier, isNullable: nullableColumns.contains(column))
      }
      try addIndex(name, columns, terms, isUnique: isUnique, condition.map(text))
      return nil
    case .expressionIndex(let expression, let suffix, let isUnique, let condition, let name):
      let name = name ?? "\(schema.name)_\(suffix)_index"
      // SQLite needs no parentheses here, but another engine does.
      let term = try indexTerm("(\(text(expression)))", isNullable: true)
      try addIndex(name, [], [term], isUnique: isUnique, condition.map(text))
      return nil
    }
  }

  /// A term of an index, in the order that the dialect's queries have.
  private func indexTerm(_ term: String, isNullable: Bool) -> String {
    dialect.definitions?.indexTerm(term, isNullable: isNullable) ?? term
  }

  /// Adds a foreign key; throws if the other table's key has a different number of columns.
  private mutating func add(_ key: ForeignKeySchema) throws -> ForeignKeySchema {
    guard key.referencedColumns.count == key.columns.count else {
      throw problem(
        """
        \(key.columns.quotedList) can't refer to \
        “\(key.referencedTable)”, whose primary key has \(key.referencedColumns.count) columns
        """)
    }
    var key = key
    if dialect.definitions == nil {
      // A name of SQLite's foreign keys is always one of the same database.
      guard key.referencedSchema == schema.schema else {
        throw problem("SQLite can't refer to “\(key.referencedTable)”, a table of another schema")
      }
      key.referencedSchema = nil
    }
    schema.foreignKeys.append(key)
    return key
  }

  /// Throws if the key that a column refers to can't have the column's values: no row could be written.
  private func checkReference(of column: ColumnDefinition) throws {
    guard let key = column.referencedKey?().first, let reference = column.foreignKey?(),
      !key.type.canBeCompared(with: column.type),
      [column, key].allSatisfy({ $0.sqlType == nil && $0.serverType == nil })
    else { return }
    let types = [column, key].map { column in
      let name = dialect.typeName(of: column.type, storedAs: column.form)
      return name.split(separator: " COLLATE").first ?? ""
    }
    throw problem(
      """
      “\(column.name)” is \(types[0]), so it can't refer to “\(key.name)” of “\(reference.referencedTable)”, \
      which is \(types[1])
      """)
  }

  /// Adds an index; throws if another one has the same name.
  private mutating func addIndex(
    _ name: String, _ columns: [String], _ terms: [String], isUnique: Bool, _ condition: String?
  ) throws {
    if schema.indexes.contains(where: { $0.name.foldedName == name.foldedName }) {
      throw problem("two indexes are named “\(name)”")
    }
    try dialect.definitions?.check(name: name)
    schema.indexes.append(
      IndexSchema(
        name: name, columns: columns, terms: terms, isUnique: isUnique, condition: condition,
        sql: DDL.createIndex(name, on: schema, terms, isUnique: isUnique, where: condition)))
  }

  private func problem(_ text: String) -> RecordError {
    .declaration(table: schema.name, problem: text)
  }
}

extension Table {
  /// The table as a value. Throws ``RecordError/declaration(table:problem:)`` for a wrong declaration,
  /// ``RecordError/view(table:)`` for a view, ``LarderSQLite/ConversionError`` if a default can't be stored.
  ///
  /// - Parameter dateFormat: the connection's ``LarderSQLite/Configuration/dateFormat``.
  public func schema(dateFormat: DateFormat = .secondsSince1970) throws -> TableSchema {
    try schema(dateFormat: dateFormat, in: SQLiteDialect())
  }

  package func schema(dateFormat: DateFormat, in dialect: any Dialect) throws -> TableSchema {
    try core.schema(dateFormat: dateFormat, in: dialect)
  }
}

extension TableCore {
  func schema(dateFormat: DateFormat, in dialect: any Dialect) throws -> TableSchema {
    try checkIsWhole()
    return try DeclaredTable(name, in: schema, columns, constraints, options, dateFormat, dialect)
      .schema
  }

  /// The table in the spelling of the database's engine, for a comparison with the database's table.
  func schema(in db: Database) throws -> TableSchema {
    try checkIsWhole()
    return try .declared(name, of: schema, columns, constraints, options, db.dateFormat, in: db)
  }
}

extension TableSchema {
  /// A table without a record type.
  ///
  /// ```swift
  /// let log = try TableSchema(
  ///   "log",
  ///   [
  ///     .column("id", .integer, .primaryKey),
  ///     .column("at", .integer, .indexed),
  ///     .column("country", .text.optional, .references("country", column: "code")),
  ///     .column("text", .text, .default("")),
  ///   ], constraints: [.unique("at", "country")])
  /// try log.create(db)
  /// ```
  ///
  /// Columns are NOT NULL, as with records, unless their type is ``LarderSQLite/ColumnType/optional``, and
  /// the table is STRICT unless its options say otherwise. Throws `RecordError.declaration` if the
  /// declaration contradicts itself, and ``LarderSQLite/ConversionError`` if a default can't be stored.
  ///
  /// - `constraints`, `indexes`: those that don't belong to a single column.
  /// - `options`: whether the table has no row id, or no primary key, or isn't STRICT.
  /// - `db`: a database whose engine the table is for; nil for SQLite.
  public init(
    _ name: String, _ columns: [ColumnDefinition], constraints: [TableConstraint<Never>] = [],
    indexes: [TableConstraint<Never>] = [], options: TableOptions = [], in db: Database? = nil
  ) throws {
    let problem =
      TableDeclaration.problem(ofNames: name, columns)
      ?? TableDeclaration.keyProblem(columns, options)
    if let problem { throw RecordError.declaration(table: name, problem: problem) }
    // The defaults are SQLite values, which don't depend on a date format.
    self = try .declared(
      name, of: nil, columns, (constraints + indexes).map(\.definition), options, .secondsSince1970,
      in: db)
  }

  /// A declared table, in the spelling of the database's engine; for SQLite if there is no database.
  static func declared(
    _ name: String, of schema: String?, _ columns: [ColumnDefinition],
    _ constraints: [TableConstraintDefinition], _ options: TableOptions, _ dateFormat: DateFormat,
    in db: Database?
  ) throws -> TableSchema {
    func declared(isDraft: Bool = false) throws -> TableSchema {
      try DeclaredTable(
        name, in: schema, columns, constraints, options, dateFormat, db?.dialect ?? SQLiteDialect(),
        isDraft: isDraft
      ).schema
    }
    guard let db, let engine = db.definitions else { return try declared() }
    return try engine.spelled(declared(), draft: declared(isDraft: true).statements, in: db)
  }
}

extension ColumnDefinition {
  /// A column of a table without a record type; see
  /// ``LarderSQLite/TableSchema/init(_:_:constraints:indexes:options:in:)``.
  public static func column(
    _ name: String, _ type: ColumnType, _ options: ColumnOption<DatabaseValue>...
  ) -> ColumnDefinition { column(name, type, options: options) }

  package static func column(
    _ name: String, _ type: ColumnType, options: [ColumnOption<DatabaseValue>]
  ) -> ColumnDefinition {
    var definition = ColumnDefinition(name: name, type: type)
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue { definition.defaultValue = { _ in value } }
    }
    return definition
  }
}

/// A dialect for text in which values stand as literals. It writes the placeholders that
/// ``LarderSQLite/SQL/literalText(dateFormat:_:)`` then replaces.
private struct DefinitionText: Dialect {
  let dialect: any Dialect

  var reusesPlaceholders: Bool { dialect.reusesPlaceholders }
  var definitions: (any DefinitionDialect)? { dialect.definitions }
  func placeholder(_ number: Int) -> String { "?\(number)" }
  func typeName(of type: ColumnType) -> String { dialect.typeName(of: type) }
  func rewrite(_ fragment: SQLFragment) -> SQLFragment? { dialect.rewrite(fragment) }
}
