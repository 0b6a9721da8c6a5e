import FoundationEssentials
import Larder

/// The catalog of the current schema's tables and views, as far as it says more than their columns' types:
/// enumerations, comments, partitions and inheritance.
struct ServerCatalog {
  /// The enumerations of columns and arrays, by the names of relations and columns.
  private var enums: [String: [String: ServerEnum]] = [:]
  /// The comments on relations.
  private var comments: [String: String] = [:]
  private var columnComments: [String: [String: String]] = [:]
  /// Sentences about partitions and inheritance, by relation.
  private var notes: [String: [String]] = [:]

  init(_ db: Database) throws {
    try readEnums(db)
    try readComments(db)
    try readInheritance(db)
  }

  private mutating func readEnums(_ db: Database) throws {
    let rows = try db.executeQuery(
      """
      WITH RECURSIVE bases (type, base, next) AS (
        SELECT oid, CASE WHEN typcategory = 'A' THEN typelem ELSE oid END,
          CASE WHEN typcategory = 'A' THEN typelem ELSE typbasetype END FROM pg_type
        UNION ALL
        SELECT b.type, t.oid, CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.typbasetype END
        FROM bases b JOIN pg_type t ON t.oid = b.next
      )
      SELECT c.relname::text, a.attname::text, format_type(t.oid, NULL),
        (SELECT jsonb_agg(e.enumlabel ORDER BY e.enumsortorder)::text FROM pg_enum e WHERE e.enumtypid = t.oid),
        obj_description(t.oid, 'pg_type'), quote_ident(n.nspname) || '.' || quote_ident(t.typname)
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        JOIN bases b ON b.type = a.atttypid JOIN pg_type t ON t.oid = b.base AND t.typtype = 'e'
        JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
      """)
    while try rows.next() {
      let labels = try rows.get(at: 3, as: String?.self) ?? "[]"
      enums[try rows.get(at: 0), default: [:]][try rows.get(at: 1)] = ServerEnum(
        name: try rows.get(at: 2), fullName: try rows.get(at: 5),
        labels: try JSONDecoder().decode([String].self, from: Data(labels.utf8)),
        comment: try rows.get(at: 4))
    }
  }

  private mutating func readComments(_ db: Database) throws {
    let rows = try db.executeQuery(
      """
      SELECT c.relname::text, a.attname::text, d.description
      FROM pg_class c JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
      """)
    while try rows.next() {
      let relation: String = try rows.get(at: 0)
      if let column = try rows.get(at: 1, as: String?.self) {
        columnComments[relation, default: [:]][column] = try rows.get(at: 2)
      } else {
        comments[relation] = try rows.get(at: 2)
      }
    }
  }

  private mutating func readInheritance(_ db: Database) throws {
    try db.executeQuery(
      """
      SELECT relname::text, pg_get_partkeydef(oid) FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind = 'p' AND NOT relispartition
      """
    ).forEach {
      let key = try $0.get(at: 1, as: String.self)
      notes[try $0.get(at: 0), default: []].append(
        "Not declared: PARTITION BY \(key).".commented)
    }
    try db.executeQuery(
      """
      SELECT c.relname::text, p.relname::text,
        c.relnamespace = current_schema()::regnamespace, p.relnamespace = current_schema()::regnamespace
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
      WHERE c.relkind = 'r' AND NOT c.relispartition ORDER BY p.relname COLLATE "C", c.relname COLLATE "C"
      """
    ).forEach { row in
      let (child, parent): (String, String) = (try row.get(at: 0), try row.get(at: 1))
      if try row.get(at: 2, as: Bool.self) {
        notes[child, default: []].append(
          "Not declared: it inherits from “\(parent)”, whose queries find these rows too.".commented
        )
      }
      if try row.get(at: 3, as: Bool.self) {
        notes[parent, default: []].append(
          "Queries also find the rows of “\(child)”, which inherits from it.".commented)
      }
    }
  }

  func enumeration(of column: String, _ relation: String) -> ServerEnum? {
    enums[relation]?[column]
  }

  /// Adds the comments and notes of a record's table.
  func describe(_ record: inout RecordPlan) {
    let relation = record.table.name
    record.documentation = comments[relation]
    record.notes += notes[relation] ?? []
    for place in record.properties.indices {
      record.properties[place].documentation =
        columnComments[relation]?[record.properties[place].column.name]
    }
  }
}

extension String {
  /// The texts in a server's spelling of `column IN ('a', 'b')`, such as
  /// `((kind)::text = ANY (ARRAY['a'::text, 'b'::text]))`, which may be beside `column IS NULL`; nil for any
  /// other condition.
  func textsListed(ofColumn column: String) -> [String]? {
    var texts: [String] = []
    var rest = ""
    var characters = self[...]
    while let character = characters.popFirst() {
      guard character == "'" else {
        if !" ()[]\n".contains(character) { rest.append(character) }
        continue
      }
      var text = ""
      while let next = characters.popFirst() {
        if next == "'" {
          guard characters.first == "'" else { break }
          characters.removeFirst()
        }
        text.append(next)
      }
      texts.append(text)
      rest.append("?")
    }
    for cast in ["::charactervarying", "::text", "::bpchar"] { rest.replace(cast, with: "") }
    for name in [column, column.quotedIdentifier] {
      let name = name.filter { !" ()[]".contains($0) }
      let list = Array(repeating: "?", count: texts.count).joined(separator: ",")
      let conditions = ["\(name)=ANYARRAY\(list)"] + (texts.count == 1 ? ["\(name)=?"] : [])
      for condition in conditions
      where [condition, "\(condition)OR\(name)ISNULL", "\(name)ISNULLOR\(condition)"].contains(rest)
      {
        return texts.isEmpty
          ? nil : texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
      }
    }
    return nil
  }
}
