import TestSupport
extension CraftedFile {
  /// A file whose schema is random: tables, indexes, views and triggers over expressions that call
  /// whatever there is, and texts in `sqlite_schema` that are exchanged, cut and put together.
  static func random(using random: inout SeededGenerator) -> CraftedFile {
    var schema = RandomSchema(random: random)
    let sql = schema.sql()
    random = schema.random
    return CraftedFile("random schema", sql, isSlow: schema.isSlow)
  }
}

private struct RandomSchema {
  var random: SeededGenerator
  /// Whether it computes values of any length.
  var isSlow = false

  private mutating func pick<T>(_ choices: [T]) -> T {
    choices[Int.random(in: 0..<choices.count, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  mutating func sql() -> String {
    isSlow = chance(40)
    var statements: [String] = []
    if chance(20) { statements.append("PRAGMA journal_mode = wal") }
    if chance(15) {
      statements.append(pick(["PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'"]))
    }
    let tables = ["city", "town", "person"].prefix(Int.random(in: 1...3, using: &random))
    for table in tables {
      statements.append("CREATE TABLE \(table) (id INTEGER PRIMARY KEY, name, x)")
      statements.append(
        "INSERT INTO \(table) (name, x) VALUES (1, 'Oslo'), (2, 2.5), (NULL, x'00ff'), (4, '')")
    }
    if chance(20) {
      statements.append(
        pick([
          "CREATE VIRTUAL TABLE doc USING fts5 (name, content = 'city')",
          "CREATE VIRTUAL TABLE doc USING fts4 (name, x)",
          "CREATE VIRTUAL TABLE doc USING rtree (id, a, b)",
          "CREATE VIRTUAL TABLE doc USING fts5 (name, tokenize = 'trigram')",
        ]))
      statements.append("INSERT INTO doc VALUES ('a', 'b')")
    }
    for table in tables {
      if chance(40) {
        statements.append("CREATE INDEX \(table)_i ON \(table) (\(cheap()))")
      }
      if chance(30) {
        statements.append("CREATE VIEW \(table)_v AS SELECT id, \(cheap()) FROM \(table)")
      }
      if chance(30) {
        statements.append(
          "CREATE TRIGGER \(table)_t AFTER \(pick(["INSERT", "DELETE", "UPDATE"])) ON \(table) "
            + "BEGIN SELECT \(cheap()); END")
      }
      if chance(80) { statements.append(rewritten(table)) }
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) { statements.append(damage()) }
    return statements.joined(separator: ";\n") + ";"
  }

  /// An expression that takes no time, which is computed while the file is made.
  private mutating func cheap() -> String {
    pick([
      "wire(name)", "wire_twice(name)", "name || wire(1)", "abs(x)", "name", "x", "lower(name)",
    ])
  }

  private mutating func rewritten(_ table: String) -> String {
    var parts = ["id INTEGER PRIMARY KEY", "name", "x"]
    for index in 0..<Int.random(in: 1...6, using: &random) {
      let expression = expression(depth: Int.random(in: 0...4, using: &random))
      parts.append(
        pick([
          "g\(index) AS (\(expression))", "g\(index) AS (\(expression)) NOT NULL",
          "g\(index) INT AS (\(expression)) NOT NULL", "CHECK (\(expression))",
          "CHECK ((\(expression)) IS NOT 7)", "d\(index) DEFAULT (\(expression))",
        ]))
    }
    // Columns come before constraints.
    parts = parts.filter { !$0.hasPrefix("CHECK") } + parts.filter { $0.hasPrefix("CHECK") }
    let tail = pick(["", "", "", " STRICT", " WITHOUT ROWID", "; DROP TABLE person", " -- x"])
    return CraftedFile.rewriting(
      table, to: "CREATE TABLE \(table) (\(parts.joined(separator: ", ")))\(tail)"
    ).trimmingSemicolon
  }

  private mutating func expression(depth: Int) -> String {
    guard depth > 0 else {
      return pick([
        "name", "x", "id", "1", "NULL", "'Oslo'", "x'00ff'", "2000000000", "-1", "1e300", "'%.*c'",
        "'$.a'", "'{\"a\":[1,2]}'", "''", "wire(name)", "wire_twice(x)",
      ])
    }
    func next() -> String { expression(depth: depth - 1) }
    switch Int.random(in: 0..<(isSlow ? 14 : 8), using: &random) {
    case 0: return "(\(next()) || \(next()))"
    case 1: return "wire(\(next()))"
    case 2: return "wire_twice(\(next()), \(next()))"
    case 3: return "CASE WHEN \(next()) THEN \(next()) ELSE \(next()) END"
    case 4: return "coalesce(\(next()), \(next()))"
    case 5:
      let function = pick(["lower", "length", "typeof", "abs", "json", "date", "quote", "unicode"])
      return "\(function)(\(next()))"
    case 6:
      return
        "(\(next()) \(pick(["+", "-", "*", "=", "<", "IS", "AND", "LIKE", "GLOB", "->>"])) \(next()))"
    case 7: return "CAST(\(next()) AS \(pick(["TEXT", "BLOB", "INT", "REAL"])))"
    case 8: return "hex(zeroblob(\(pick(["100000", "250000", "500000", "2000000000"]))))"
    case 9: return "instr(\(next()), \(next()))"
    case 10: return "replace(\(next()), \(next()), \(next()))"
    case 11: return "printf(\(next()), \(next()), \(next()))"
    case 12:
      return
        "\(pick(["trim", "ltrim", "rtrim", "json_patch", "max", "substr"]))(\(next()), \(next()))"
    default: return "zeroblob(\(next()))"
    }
  }

  /// Something else in the rows of the schema.
  private mutating func damage() -> String {
    pick([
      "UPDATE sqlite_schema SET sql = sql || '; DROP TABLE city' WHERE type = 'index'",
      "UPDATE sqlite_schema SET sql = sql || '; ATTACH ''secret'' AS s'",
      "UPDATE sqlite_schema SET sql = substr(sql, 1, \(Int.random(in: 5...60, using: &random)))",
      "UPDATE sqlite_schema SET sql = replace(sql, 'name', 'wire_twice(name)')",
      "UPDATE sqlite_schema SET rootpage = \(Int.random(in: -1...9, using: &random)) WHERE name = 'city'",
      "UPDATE sqlite_schema SET name = 'sqlite_' || name WHERE type = 'index'",
      "UPDATE sqlite_schema SET type = 'view' WHERE name = 'town'",
      "UPDATE sqlite_schema SET tbl_name = 'nowhere' WHERE type IN ('index', 'trigger')",
      "UPDATE sqlite_schema SET name = name || char(0) || 'x'",
      "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema",
      "INSERT INTO sqlite_schema VALUES ('trigger', 't', 'city', 0, 'CREATE TRIGGER t DELETE ON city BEGIN SELECT wire_twice(1); END')",
      "UPDATE sqlite_schema SET sql = NULL WHERE type = 'table'",
      "UPDATE sqlite_schema SET sql = CAST(sql AS BLOB)",
    ])
  }
}

extension String {
  fileprivate var trimmingSemicolon: String { hasSuffix(";") ? String(dropLast()) : self }
}
