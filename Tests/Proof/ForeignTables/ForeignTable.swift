import Larder
import TestSupport

/// A table as another program could have made it.
struct ForeignTable {
  enum Collation { case binary, noCase, rightTrim }

  let sql: String
  /// Which columns of the record there are.
  let present: [Bool]
  let collations: [Collation]
  /// Whether no two rows have the same key.
  let isUnique: Bool
  /// Whether everything is as the record needs it, so that nothing may be refused.
  let isPlain: Bool
  /// Whether the table has columns that SQLite computes, which nobody else writes.
  let generated: [Bool]

  private struct ColumnText {
    var text: String
    var keeps: Bool
    var collation: Collation
    var isGenerated: Bool
  }

  init<R: ForeignRecord>(_ type: R.Type, _ random: inout SeededGenerator) {
    let names = R.columnNames
    let isStrict = random.chance(8)
    var isPlain = true
    var present = Array(repeating: true, count: names.count)
    var columns: [ColumnText] = []
    for index in names.indices.dropFirst() {
      let column = Self.column(index, isStrict: isStrict, &random)
      columns.append(column)
      if random.chance(1), !R.keyNames.contains(names[index]) {
        present[index] = false
        isPlain = false
      }
      if !column.keeps || column.isGenerated { isPlain = false }
    }
    let key = Self.key(type, isStrict: isStrict, &random)
    if !key.keeps { isPlain = false }
    var lines: [String] = []
    for index in names.indices where present[index] {
      let text = index == 0 ? key.column : columns[index - 1].text
      lines.append("\(Self.spelled(names[index], &random)) \(text)")
    }
    if random.chance(40) { lines.shuffle(using: &random) }
    switch random.pick([0, 0, 0, 0, 0, 1, 2, 3, 4]) {
    case 1: lines.append("extra \(isStrict ? "INT" : "unsigned big int")")
    case 2: lines.append("extra TEXT NOT NULL DEFAULT 'x'")
    case 3:
      lines.append("extra INTEGER NOT NULL")
      isPlain = false
    case 4:
      lines.append("extra INTEGER GENERATED ALWAYS AS (5) \(random.pick(["STORED", "VIRTUAL"]))")
    default: break
    }
    if random.chance(10) {
      lines.append("document TEXT DEFAULT '{}' CHECK (json_valid(document) OR document IS NULL)")
    }
    if random.chance(5), present[1], !isStrict {
      lines.append("shown GENERATED ALWAYS AS (upper(\(names[1].quotedIdentifier)))")
    }
    if let constraint = key.constraint { lines.append(constraint) }
    let options = [key.options, isStrict ? "STRICT" : nil].compactMap(\.self)
    let table = Self.spelled(R.table.name, &random)
    let temporary = random.chance(4) ? "TEMP " : ""
    let sql = """
      CREATE \(temporary)TABLE \(table) (\(lines.joined(separator: ", "))) \
      \(options.joined(separator: ", "))
      """
    var others = key.indexes.map { "\($0[0]) ON \(table) \($0[1])" }
    if present[1], present[2] {
      others += Self.others(names, &random).map { $0.replacing("$T", with: table) }
    }
    self.sql = ([sql] + others).joined(separator: "; ")
    self.present = present
    self.isPlain = isPlain
    isUnique = key.isUnique
    generated = [false] + columns.map(\.isGenerated)
    collations = [key.collation] + columns.map(\.collation)
  }

  /// Indexes and triggers, none of which keeps a row out.
  private static func others(_ names: [String], _ random: inout SeededGenerator) -> [String] {
    let (name, age) = (names[1].quotedIdentifier, names[2].quotedIdentifier)
    return [
      "CREATE INDEX \"by name\" ON $T (lower(\(name)) DESC, \(age))",
      "CREATE INDEX \"of adults\" ON $T (\(age)) WHERE \(age) > 5",
      "CREATE INDEX \"of documents\" ON $T (json_valid(\(name)))",
      "CREATE INDEX \"without case\" ON $T (\(name) COLLATE NOCASE)",
      "CREATE TRIGGER added AFTER INSERT ON $T BEGIN INSERT INTO log (line) VALUES (new.\(name)); END",
      "CREATE TRIGGER changed AFTER UPDATE ON $T BEGIN DELETE FROM log; END",
    ].filter { _ in random.chance(8) }
  }

  // MARK: Names

  /// A name in one of SQLite's ways to quote it, in any case of ASCII.
  private static func spelled(_ name: String, _ random: inout SeededGenerator) -> String {
    var name = name
    if random.chance(20) {
      name = String(name.map { $0.isASCII && random.chance(50) ? Character($0.uppercased()) : $0 })
    }
    switch random.pick([0, 1, 2]) {
    case 0 where !name.contains("`"): return "`\(name)`"
    case 1 where !name.contains("]"): return "[\(name)]"
    default: return name.quotedIdentifier
    }
  }

  // MARK: Columns

  private static let types: [(name: String, affinity: String)] = [
    ("INTEGER", "INTEGER"), ("INT", "INTEGER"), ("bigint", "INTEGER"),
    ("integer unsigned", "INTEGER"),
    ("FLOATING POINT", "INTEGER"), ("CHARINT", "INTEGER"), ("TEXT", "TEXT"),
    ("varchar(20)", "TEXT"),
    ("CHAR(36)", "TEXT"), ("REAL", "REAL"), ("DOUBLE PRECISION", "REAL"), ("float", "REAL"),
    ("NUMERIC", "NUMERIC"), ("decimal(10,2)", "NUMERIC"), ("boolean", "NUMERIC"),
    ("DATETIME", "NUMERIC"),
    ("STRING", "NUMERIC"), ("json", "NUMERIC"), ("ANY", "NUMERIC"), ("BLOB", "BLOB"), ("", "BLOB"),
    // Those of Django, Rails, Core Data, Room, Entity Framework and others.
    ("bool", "NUMERIC"), ("datetime(6)", "NUMERIC"), ("TIMESTAMP", "NUMERIC"), ("date", "NUMERIC"),
    ("uuid", "NUMERIC"), ("tinyint(1)", "INTEGER"), ("smallint unsigned", "INTEGER"),
    ("INT8", "INTEGER"), ("nvarchar(100)", "TEXT"), ("CLOB", "TEXT"), ("char(32)", "TEXT"),
    ("varchar", "TEXT"), ("DOUBLE", "REAL"), ("FLOAT", "REAL"), ("decimal", "NUMERIC"),
    ("tinyblob", "BLOB"),
  ]
  private static let strictTypes: [(name: String, affinity: String)] = [
    ("INTEGER", "INTEGER"), ("INT", "INTEGER"), ("TEXT", "TEXT"), ("REAL", "REAL"), ("ANY", "BLOB"),
    ("BLOB", "BYTES"),
  ]

  /// The types that keep what the record writes into a column.
  private static func keeps(_ column: Int, _ affinity: String, isStrict: Bool) -> Bool {
    let kept: [[String]] = [
      ["INTEGER", "NUMERIC", "BLOB"], ["TEXT", "BLOB"], ["INTEGER", "NUMERIC", "BLOB"],
      isStrict ? ["REAL", "BLOB"] : ["REAL", "INTEGER", "NUMERIC", "BLOB"],
      ["INTEGER", "NUMERIC", "BLOB"], ["TEXT", "BLOB"],
      isStrict ? ["BLOB", "BYTES"] : ["TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB"],
    ]
    return kept[column].contains(affinity)
  }

  private static func column(
    _ index: Int, isStrict: Bool, _ random: inout SeededGenerator
  ) -> ColumnText {
    let types = isStrict ? strictTypes : types
    var type = random.pick(types)
    if random.chance(90) {
      type = random.pick(types.filter { keeps(index, $0.affinity, isStrict: isStrict) })
    }
    var text = type.name
    let isNullable = [2, 3, 6].contains(index)
    if !isNullable, random.chance(40) { text += " NOT NULL" }
    if random.chance(20) { text += " DEFAULT \(random.pick(["5", "'x'", "NULL", "(1 + 1)"]))" }
    if random.chance(5) { text += " CHECK (1)" }
    var collation = Collation.binary
    if index == 1, random.chance(15) {
      collation = random.pick([.noCase, .rightTrim])
      text += collation == .noCase ? " COLLATE NOCASE" : " COLLATE rtrim"
    }
    let isGenerated = !text.contains("DEFAULT") && random.chance(1)
    if isGenerated {
      text += " GENERATED ALWAYS AS (\(["", "'Gen'", "5", "1.5", "1", "'7'", "x'37'"][index]))"
    }
    return ColumnText(
      text: text, keeps: keeps(index, type.affinity, isStrict: isStrict), collation: collation,
      isGenerated: isGenerated)
  }

  // MARK: Keys

  private struct KeyForm {
    var column: String
    var constraint: String?
    var options: String?
    var indexes: [[String]] = []
    var keeps = true
    var isUnique = true
    var collation = Collation.binary
  }

  private static func key<R: ForeignRecord>(
    _ type: R.Type, isStrict: Bool, _ random: inout SeededGenerator
  ) -> KeyForm {
    if R.self == TextKey.self { return textKey(isStrict: isStrict, &random) }
    let names = R.keyNames.map(\.quotedIdentifier).joined(separator: ", ")
    if R.self == PairKey.self { return pairKey(names, &random) }
    let isChosen = R.self == ChosenKey.self
    switch Int.random(in: 0..<22, using: &random) {
    case 17: return KeyForm(column: "integer NOT NULL PRIMARY KEY AUTOINCREMENT")
    case 18: return KeyForm(column: "INTEGER PRIMARY KEY ASC")
    case 19:
      return KeyForm(
        column: "INTEGER NOT NULL", constraint: "CONSTRAINT \"the key\" PRIMARY KEY (\(names) ASC)")
    case 20:
      return KeyForm(
        column: isStrict ? "INT PRIMARY KEY NOT NULL" : "bigint NOT NULL PRIMARY KEY",
        keeps: !isChosen)
    case 21:
      return KeyForm(
        column: "INTEGER", constraint: "PRIMARY KEY (\(names) DESC)",
        options: "WITHOUT ROWID", keeps: !isChosen)
    case 0, 1, 2: return KeyForm(column: "INTEGER PRIMARY KEY")
    case 3: return KeyForm(column: "integer PRIMARY KEY AUTOINCREMENT")
    case 4: return KeyForm(column: "INTEGER NOT NULL PRIMARY KEY")
    case 5: return KeyForm(column: "integer", constraint: "PRIMARY KEY (\(names))")
    case 6: return KeyForm(column: "INT PRIMARY KEY", keeps: !isChosen)
    case 7: return KeyForm(column: "INT NOT NULL PRIMARY KEY", keeps: !isChosen)
    case 8: return KeyForm(column: "INTEGER PRIMARY KEY DESC", keeps: !isChosen)
    case 9: return KeyForm(column: "INTEGER UNIQUE", keeps: !isChosen)
    case 10:
      return KeyForm(column: "INTEGER PRIMARY KEY", options: "WITHOUT ROWID", keeps: !isChosen)
    case 11:
      return KeyForm(
        column: "INTEGER", indexes: [["CREATE UNIQUE INDEX \"by key\"", "(\(names))"]],
        keeps: !isChosen)
    case 12:
      return KeyForm(
        column: "INTEGER",
        indexes: [["CREATE UNIQUE INDEX \"by key\"", "(\(names)) WHERE \(names) > 5"]],
        keeps: false, isUnique: false)
    case 13: return KeyForm(column: "INTEGER", keeps: false, isUnique: false)
    case 14: return KeyForm(column: "TEXT PRIMARY KEY", keeps: false)
    case 15: return KeyForm(column: "REAL PRIMARY KEY", keeps: false)
    default:
      return KeyForm(
        column: isStrict
          ? "ANY PRIMARY KEY" : random.pick(["NUMERIC", "BLOB", "BIGINT", ""]) + " PRIMARY KEY",
        keeps: !isChosen)
    }
  }

  private static func textKey(isStrict: Bool, _ random: inout SeededGenerator) -> KeyForm {
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1: return KeyForm(column: "TEXT PRIMARY KEY")
    case 2:
      return KeyForm(column: (isStrict ? "TEXT" : "VARCHAR(36)") + " NOT NULL PRIMARY KEY")
    case 3:
      return KeyForm(column: "TEXT PRIMARY KEY COLLATE NOCASE", collation: .noCase)
    case 4: return KeyForm(column: "TEXT COLLATE RTRIM UNIQUE", collation: .rightTrim)
    case 5: return KeyForm(column: "TEXT PRIMARY KEY", options: "WITHOUT ROWID")
    case 6: return KeyForm(column: "TEXT", keeps: false, isUnique: false)
    case 7:
      return KeyForm(column: (isStrict ? "INT" : "NUMERIC") + " PRIMARY KEY", keeps: false)
    default:
      // By a coarser collation than the column's.
      return KeyForm(
        column: "TEXT", constraint: "UNIQUE (code COLLATE NOCASE)", keeps: false, isUnique: true)
    }
  }

  private static func pairKey(_ names: String, _ random: inout SeededGenerator) -> KeyForm {
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return KeyForm(column: "INTEGER", constraint: "PRIMARY KEY (\(names))")
    case 2:
      return KeyForm(
        column: "INTEGER", constraint: "PRIMARY KEY (name, id)", options: "WITHOUT ROWID")
    case 3: return KeyForm(column: "INTEGER", constraint: "UNIQUE (name DESC, id)")
    case 4:
      return KeyForm(
        column: "INTEGER", indexes: [["CREATE UNIQUE INDEX \"by key\"", "(id, name)"]])
    default:
      return KeyForm(
        column: "INTEGER", indexes: [["CREATE UNIQUE INDEX \"by key\"", "(id, name, age)"]],
        keeps: false, isUnique: false)
    }
  }

  /// Whether a text is another in a column, or less than it: as its collation has it.
  func folded(_ text: String, in column: Int) -> [UInt8] {
    var bytes = Array(text.utf8)
    switch collations[column] {
    case .binary: break
    case .noCase: bytes = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    case .rightTrim: while bytes.last == 0x20 { bytes.removeLast() }
    }
    return bytes
  }
}
