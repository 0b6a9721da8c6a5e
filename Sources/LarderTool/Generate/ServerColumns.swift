import Larder
import LarderTerminal

/// The column types of the tables and views in a server's current schema, by the catalog.
struct ServerColumns {
  /// The types by the names of relations and columns; for a domain, its base type, and `enum` for each
  /// enumeration. An array has a pair of brackets for each dimension that it was declared with.
  private var types: [String: [String: String]] = [:]
  /// Comments on relations that get no record: foreign tables.
  private(set) var others: [String] = []

  init(_ db: Database) throws {
    let rows = try db.executeQuery(
      """
      WITH RECURSIVE bases (type, base, kind, next) AS (
        SELECT oid, oid, typtype, typbasetype FROM pg_type
        UNION ALL
        SELECT b.type, t.oid, t.typtype, t.typbasetype
        FROM bases b JOIN pg_type t ON t.oid = b.next WHERE b.kind = 'd'
      )
      SELECT c.relname::text, a.attname::text,
        CASE WHEN b.kind = 'e' THEN 'enum' WHEN e.typtype = 'e' THEN 'enum[]'
          ELSE format_type(b.base, NULL) END || repeat('[]', a.attndims - 1)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN bases b ON b.type = a.atttypid AND b.kind <> 'd'
        JOIN pg_type t ON t.oid = b.base
        LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm')
      """)
    while try rows.next() {
      types[try rows.get(at: 0), default: [:]][try rows.get(at: 1)] = try rows.get(at: 2)
    }
    others = try db.executeQuery(
      """
      SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_schema() AND c.relkind = 'f'
      ORDER BY c.relname COLLATE "C"
      """
    ).map {
      let name = try $0.get(at: 0, as: String.self)
      return "“\(name)” is a foreign table, which can't have records.".commented
    }
  }

  func knowledge(of column: ColumnSchema, _ relation: String) -> ColumnKnowledge {
    .serverType(types[relation]?[column.name] ?? column.type)
  }
}

extension PropertyStorage {
  /// The storage for a server's type, which is named without its length. Nil for a type that a query can only
  /// read with a cast to text.
  init?(serverType: String) {
    switch serverType {
    case "smallint", "integer", "bigint", "oid": self = .integer
    case "double precision": self = .real
    case "real": self = PropertyStorage(type: "Float", columnType: .real)
    case "boolean": self = .bool
    case "text", "character varying", "character", "name", "xml", "\"char\"", "enum", "citext",
      "interval", "inet", "cidr", "macaddr", "macaddr8", "bit", "bit varying", "int4range",
      "int8range", "numrange", "tsrange", "tstzrange", "daterange", "pg_lsn",
      "time without time zone", "time with time zone":
      self = .text
    case "bytea": self = .blob
    case "uuid": self = PropertyStorage(type: "UUID", columnType: .ofUUIDs)
    case "timestamp with time zone", "timestamp without time zone", "date":
      self = PropertyStorage(type: "Date", columnType: .ofDates)
    case "numeric", "money": self = PropertyStorage(type: "Decimal", columnType: .ofDecimals)
    case "json", "jsonb":
      self = PropertyStorage(type: JSONForms.anyType, coding: ".json", columnType: .text)
    default:
      guard serverType.hasSuffix("[]"),
        let element = PropertyStorage(serverType: String(serverType.dropLast(2)))
      else { return nil }
      self = PropertyStorage(type: "[\(element.type)]", coding: ".array", columnType: .text)
    }
  }

  /// The server's column type if the declaration has no `sqlType`.
  var usualServerType: String {
    if coding == ".json" { return "jsonb" }
    if coding == ".array" { return Self.arrays[oneDimension]?.type ?? "" }
    return switch columnType {
    case .integer: "bigint"
    case .real: "double precision"
    case .blob: "bytea"
    case .bool: "boolean"
    case .ofUUIDs: "uuid"
    case .ofDates: "timestamp with time zone"
    case .ofDecimals: "numeric"
    default: "text"
    }
  }
}

extension PropertyStorage {
  /// The server's type of each type of arrays, and the kind of the elements.
  private static let arrays: [String: (type: String, kind: ColumnType.Kind)] = [
    "[String]": ("text[]", .text), "[Int]": ("bigint[]", .integer),
    "[Double]": ("double precision[]", .real), "[Bool]": ("boolean[]", .bool),
    "[Data]": ("bytea[]", .blob), "[UUID]": ("uuid[]", .uuid), "[Decimal]": ("numeric[]", .decimal),
    "[Date]": ("timestamp with time zone[]", .date), "[\(JSONForms.anyType)]": ("jsonb[]", .any),
  ]

  /// The type of an array, or of the inner arrays of nested ones: the server's type doesn't tell them apart.
  private var oneDimension: String {
    var type = type
    while type.hasPrefix("[[") { type = String(type.dropFirst().dropLast()) }
    return type
  }

  /// The form of the coding's values.
  var form: StoredForm {
    switch coding {
    case ".json": .json
    case ".array": .array(words != nil ? .text : Self.arrays[oneDimension]?.kind ?? .any)
    default: .own
    }
  }
}

extension ColumnType {
  fileprivate static let ofUUIDs = ColumnType(.uuid)
  fileprivate static let ofDates = ColumnType(.date)
  fileprivate static let ofDecimals = ColumnType(.decimal)
}

extension ColumnSchema {
  /// Whether the server generates the column's values by an identity or any sequence.
  var hasNumbers: Bool { !identity.isEmpty || self.default?.hasPrefix("nextval(") == true }
}

extension PropertyPlan {
  /// Plans the property of a server's column; nil if its values can't be read.
  init?(
    _ column: ColumnSchema, ofServerType type: String, _ name: String, of table: TableSchema,
    isView: Bool
  ) {
    guard var storage = PropertyStorage(serverType: type) else { return nil }
    let isKey = !isView && table.primaryKey == [column.name] && column.hasNumbers
    if isKey, storage == .integer { storage = .key }
    self.column = column
    self.name = name
    self.storage = storage
    evidence = ColumnEvidence()
    isOptional = isView || !column.isNotNull || storage == .key
    if column.generated == nil, column.identity == "GENERATED ALWAYS AS IDENTITY", !isKey {
      options.append(.readOnly)
    }
  }
}

extension RecordPlan {
  /// Adds comments on the columns whose values can't be read.
  mutating func noteUnreadable(_ columns: [ColumnKnowledge]) {
    for (column, knowledge) in zip(table.columns, columns) {
      guard case .serverType(let type) = knowledge, property(of: column.name) == nil,
        !column.name.isEmpty
      else { continue }
      unreadable.insert(column.name)
      let name = column.name.quotedIdentifier
      let reason =
        PropertyStorage(serverType: type) == nil
        ? "is \(type), which a query reads as text: \(name)::text"
        : "has the same name as another column except for case"
      let isNeeded = column.isNotNull && column.default == nil && !isView
      let need = isNeeded ? " A record can't be inserted without it." : ""
      notes.append("Left out: “\(column.name)” \(reason).\(need)".commented)
    }
  }

  /// Whether a column of the primary key can't be read, so that a record wouldn't identify a row.
  var lacksKey: Bool { !isView && table.primaryKey.contains(where: unreadable.contains) }

  /// Whether an expression names a column that has no property.
  func namesUnreadable(_ expression: String) -> Bool {
    !unreadable.isEmpty
      && expression.sqlTokens.contains { $0.identifier.map(unreadable.contains) ?? false }
  }
}
