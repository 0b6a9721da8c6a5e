import Larder

/// A column as a step by names declares it.
struct NamedColumn {
  private let name: String
  private let type: (swift: String, value: ColumnType, sqlType: String?)
  /// The options, each as text and as a value. Those of a column that is changed in place have no keys.
  private var options: [(text: String, option: ColumnOption<DatabaseValue>, isKey: Bool)] = []

  var text: String { text(options) }
  var definition: ColumnDefinition {
    .column(name, type.value, options: options.map(\.option))
  }
  var changedText: String { text(options.filter { !$0.isKey }) }
  var changedDefinition: ColumnDefinition {
    .column(name, type.value, options: options.filter { !$0.isKey }.map(\.option))
  }

  init(_ column: ColumnSchema, of table: TableSchema, in schema: Schema) {
    name = column.name
    let isNumber = table.rowIDColumn == column.name || column.isNumbered
    type = Self.type(
      column, isOptional: isNumber || !column.isNotNull && column.primaryKeyPosition == 0,
      isServer: table.engine != nil, isStrict: table.isStrict)
    if table.isAutoincrement, table.rowIDColumn == column.name {
      options.append((".autoincrement", .autoincrement, true))
    } else if column.primaryKeyPosition > 0 {
      options.append((".primaryKey", .primaryKey, true))
    }
    if table.uniqueConstraints.contains([column.name]) {
      options.append((".unique", .unique, true))
    }
    if table.hasOwnIndex(column) { options.append((".indexed", .indexed, true)) }
    if let sqlType = type.sqlType {
      let engine = table.engine == nil ? "sqlite" : "postgres"
      options.append(
        (
          ".sqlType(\(engine): \(sqlType.swiftLiteral))",
          table.engine == nil ? .sqlType(sqlite: sqlType) : .sqlType(postgres: sqlType), false
        ))
    }
    if let collation = column.collation, table.engine == nil {
      options.append((".collate(\(collation.swiftLiteral))", .collate(collation), false))
    }
    if let value = column.default, !column.isNumbered { addDefault(value) }
    for check in column.checks {
      options.append((".check(\(check.swiftLiteral))", .check(SQL(raw: check)), false))
    }
    if let expression = column.generated {
      let stored = column.isStored ? ", stored: true" : ""
      options.append(
        (
          ".generated(\(expression.swiftLiteral)\(stored))",
          .generated(SQL(raw: expression), stored: column.isStored), false
        ))
    }
    addReference(column, table, schema)
  }

  private mutating func addDefault(_ value: String) {
    let tokens = value.sqlTokens
    if type.value == .integer || type.value == .integer.optional, let number = Int64(value) {
      options.append((".default(\(number))", .default(.integer(number)), false))
    } else if tokens.count == 1, value.hasPrefix("'"), type.swift.hasPrefix("String"),
      let text = tokens[0].name
    {
      options.append((".default(\(text.swiftLiteral))", .default(.text(text)), false))
    } else {
      options.append(
        (".default(sql: \(value.swiftLiteral))", .default(sql: SQL(raw: value)), false))
    }
  }

  private mutating func addReference(
    _ column: ColumnSchema, _ table: TableSchema, _ schema: Schema
  ) {
    guard let key = table.foreignKeys.first(where: { $0.columns == [column.name] }) else { return }
    let targets =
      key.referencedColumns.isEmpty
      ? schema.table(key.referencedTable)?.primaryKey ?? [] : key.referencedColumns
    guard let target = targets.first else { return }
    let actions = [("onDelete", key.onDelete), ("onUpdate", key.onUpdate)].filter {
      $0.1 != .noAction
    }.map { ", \($0.0): .\(Self.caseName(of: $0.1))" }.joined()
    let deferred = key.isDeferred ? ", deferred: true" : ""
    options.append(
      (
        ".references(\(key.referencedTable.swiftLiteral), column: \(target.swiftLiteral)\(actions)\(deferred))",
        .references(
          key.referencedTable, column: target, onDelete: key.onDelete, onUpdate: key.onUpdate,
          deferred: key.isDeferred), false
      ))
  }

  private static func caseName(of action: ForeignKeyAction) -> String {
    switch action {
    case .noAction: "noAction"
    case .restrict: "restrict"
    case .setNull: "setNull"
    case .setDefault: "setDefault"
    case .cascade: "cascade"
    }
  }

  private func text(_ options: [(text: String, option: ColumnOption<DatabaseValue>, isKey: Bool)])
    -> String
  {
    ".column("
      + ([name.swiftLiteral, type.swift + ".self"] + options.map(\.text)).joined(separator: ", ")
      + ")"
  }

  // MARK: Types

  /// The Swift type that the column's declared type stands for, and the SQL type if that isn't the Swift type's own.
  private static func type(
    _ column: ColumnSchema, isOptional: Bool, isServer: Bool, isStrict: Bool
  ) -> (swift: String, value: ColumnType, sqlType: String?) {
    let known = isServer ? serverTypes : fileTypes
    let declared = isServer ? column.type.lowercased() : column.type.uppercased()
    var (swift, value, isOwn) =
      known[declared].map { ($0.0, $0.1, true) } ?? ("String", .text, false)
    if !isServer, known[declared] == nil {
      let affinity = declared.isEmpty ? "ANY" : affinity(of: declared)
      if let found = known[affinity] { (swift, value) = found }
      isOwn = declared.isEmpty && !isStrict
    }
    return (
      swift + (isOptional ? "?" : ""), isOptional ? value.optional : value,
      isOwn ? nil : column.type
    )
  }

  /// The strict type for a declared one; see [affinity](https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
  private static func affinity(of type: String) -> String {
    if type.contains("INT") { return "INTEGER" }
    if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return "TEXT" }
    if type.contains("BLOB") { return "BLOB" }
    if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) { return "REAL" }
    return "ANY"
  }

  private static let fileTypes: [String: (String, ColumnType)] = [
    "INTEGER": ("Int64", .integer), "REAL": ("Double", .real), "TEXT": ("String", .text),
    "BLOB": ("[UInt8]", .blob), "ANY": ("DatabaseValue", .any),
  ]

  private static let serverTypes: [String: (String, ColumnType)] = [
    "bigint": ("Int64", .integer), "double precision": ("Double", .real), "text": ("String", .text),
    "bytea": ("[UInt8]", .blob), "boolean": ("Bool", .integer), "uuid": ("UUID", .blob),
    "timestamp with time zone": ("Date", .real),
  ]
}

/// An index or constraint of a table that doesn't belong to a column alone, as a step by names declares it.
struct NamedConstraint {
  let text: String
  let constraint: TableConstraint<Never>
  let columns: [String]
  /// Whether a step can remove it.
  let isRemovable: Bool

  static func all(of table: TableSchema) -> [NamedConstraint] {
    unique(table) + checks(table) + keys(table) + indexes(table)
  }

  private static func unique(_ table: TableSchema) -> [NamedConstraint] {
    table.uniqueConstraints.filter { $0.count > 1 }.map { columns in
      NamedConstraint(
        text: ".unique(\(columns.map(\.swiftLiteral).joined(separator: ", ")))",
        constraint: .unique(columns: columns), columns: columns, isRemovable: true)
    }
  }

  private static func checks(_ table: TableSchema) -> [NamedConstraint] {
    let own = table.columns.flatMap(\.checks)
    return table.checks.filter { !own.contains($0) }.map { check in
      NamedConstraint(
        text: ".check(\(check.swiftLiteral))", constraint: .check(SQL(raw: check)), columns: [],
        isRemovable: false)
    }
  }

  private static func keys(_ table: TableSchema) -> [NamedConstraint] {
    table.foreignKeys.filter { $0.columns.count > 1 && !$0.referencedColumns.isEmpty }.map { key in
      let lists = [key.columns, key.referencedColumns].map {
        "[\($0.map(\.swiftLiteral).joined(separator: ", "))]"
      }
      return NamedConstraint(
        text:
          ".foreignKey(\(lists[0]), references: \(key.referencedTable.swiftLiteral), columns: \(lists[1]))",
        constraint: .foreignKey(
          key.columns, references: key.referencedTable, columns: key.referencedColumns,
          onDelete: key.onDelete, onUpdate: key.onUpdate, deferred: key.isDeferred),
        columns: key.columns, isRemovable: false)
    }
  }

  private static func indexes(_ table: TableSchema) -> [NamedConstraint] {
    table.indexes.compactMap { index in
      let columns = index.columns.compactMap(\.self)
      // An index on expressions, or in another order, takes SQL.
      guard columns.count == index.columns.count,
        index.terms.count == columns.count,
        table.engine != nil
          || index.terms.map(\.normalizedSQL) == columns.map(\.quotedIdentifier.normalizedSQL),
        !(columns.count == 1
          && table.columns.contains { $0.name == columns[0] && table.hasOwnIndex($0) }
          && index.name.foldedName == "\(table.name)_\(columns[0])_index".foldedName)
      else { return nil }
      let isNamed =
        index.name.foldedName
        != ([table.name] + columns + ["index"]).joined(separator: "_").foldedName
      let arguments =
        columns.map(\.swiftLiteral) + (index.isUnique ? ["unique: true"] : [])
        + (index.condition.map { ["where: \($0.swiftLiteral)"] } ?? [])
        + (isNamed ? ["name: \(index.name.swiftLiteral)"] : [])
      return NamedConstraint(
        text: ".index(\(arguments.joined(separator: ", ")))",
        constraint: .index(
          columns: columns, unique: index.isUnique, where: index.condition.map { SQL(raw: $0) },
          name: isNamed ? index.name : nil),
        columns: columns, isRemovable: true)
    }
  }
}
