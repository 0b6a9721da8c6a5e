import Foundation
import Larder
import TestSupport

/// A table named `t` at random, and another that it could become.
struct RandomTable {
  enum Key: CaseIterable {
    case none, rowID, autoincrement, descending, int, text, tableDescending, withoutRowID
    /// A text whose key has the column's collation, and one whose key has another.
    case binaryText, textKey
  }

  struct Column {
    var name: String
    var type: String
    var constraint = ""
    /// What it is computed from; nil for an ordinary column.
    var expression: String?

    var sql: String {
      [name, type, expression.map { "AS (\($0))" } ?? constraint].filter { !$0.isEmpty }
        .joined(separator: " ")
    }
  }

  var key: Key
  var isStrict: Bool
  var columns: [Column]
  /// Those that stand behind the columns.
  var constraints: [String] = []

  static let types = [
    "INTEGER", "INT", "REAL", "TEXT", "BLOB", "ANY", "", "NUMERIC", "VARCHAR(9)", "DOUBLE",
  ]

  init(_ random: inout SeededGenerator) {
    key = .allCases[Int.random(in: 0..<Key.allCases.count, using: &random)]
    isStrict = random.chance(20)
    columns = [Column(name: "id", type: "INTEGER")]
    for name in ["a", "b", "c", "d"].prefix(Int.random(in: 1...4, using: &random)) {
      let constraint = random.chance(15) ? Self.constraint(&random) : ""
      columns.append(
        Column(name: name, type: Self.type(isStrict, &random), constraint: constraint))
    }
    // Rows are to be told apart, and conflicts to happen, in the new table.
    if random.chance(10) { compute(columns.count - 1) }
  }

  private static func type(_ isStrict: Bool, _ random: inout SeededGenerator) -> String {
    types[Int.random(in: 0..<(isStrict ? 6 : types.count), using: &random)]
  }

  mutating func compute(_ index: Int, as expression: String = "id || '!'") {
    guard index > 0 else { return }
    columns[index].expression = expression
    columns[index].type = "TEXT"
    columns[index].constraint = ""
  }

  /// Another table with most of the same columns. Every other time only a type differs, which is
  /// what nothing else refuses.
  func changed(_ random: inout SeededGenerator) -> RandomTable {
    var new = self
    if random.chance(50) {
      let index = Int.random(in: 1..<columns.count, using: &random)
      let constraint = columns[index].constraint
      if constraint.hasPrefix("UNIQUE"), random.chance(50) {
        new.columns[index].constraint =
          constraint == "UNIQUE" ? "UNIQUE ON CONFLICT IGNORE" : "UNIQUE"
      } else if columns[index].expression == nil {
        new.columns[index].type = Self.type(isStrict, &random)
      }
      return new
    }
    if random.chance(40) {
      new.key = .allCases[Int.random(in: 0..<Key.allCases.count, using: &random)]
    }
    if random.chance(20) { new.isStrict.toggle() }
    for index in new.columns.indices.dropFirst() {
      if new.columns[index].expression == nil, random.chance(25) || new.isStrict {
        new.columns[index].type = new.sameOrOther(index, &random)
      }
      if random.chance(25) { new.columns[index].constraint = Self.constraint(&random) }
      if random.chance(5) {
        new.compute(index)
      } else if random.chance(30) {
        new.columns[index].expression = nil
      }
    }
    if random.chance(20), new.columns.count > 2 {
      new.columns.remove(at: Int.random(in: 1..<new.columns.count, using: &random))
    }
    if random.chance(12) {
      new.columns.append(Column(name: "e", type: Self.type(new.isStrict, &random)))
    }
    if random.chance(30) { new.columns.shuffle(using: &random) }
    return new
  }

  private func sameOrOther(_ index: Int, _ random: inout SeededGenerator) -> String {
    let same = columns[index].type
    let isFine = !isStrict || Self.types.prefix(6).contains(same)
    return isFine && random.chance(50) ? same : Self.type(isStrict, &random)
  }

  static func constraint(_ random: inout SeededGenerator) -> String {
    let constraints = [
      "NOT NULL ON CONFLICT REPLACE DEFAULT 7", "UNIQUE ON CONFLICT REPLACE",
      "UNIQUE ON CONFLICT IGNORE", "COLLATE NOCASE", "UNIQUE", "NOT NULL ON CONFLICT IGNORE",
      "CHECK (t.id IS NOT 'never')",
    ]
    return constraints[Int.random(in: 0..<constraints.count, using: &random)]
  }

  /// Whether another declares something else, in any order of the columns.
  func differs(from other: RandomTable) -> Bool {
    func essence(_ table: RandomTable) -> [String] {
      // Two names of one type, and of one key; a check is the same wherever it stands.
      let check = " CHECK (t.id IS NOT 'never')"
      let columns = table.columns.map {
        $0.sql.replacingOccurrences(of: " INT ", with: " INTEGER ")
          .replacingOccurrences(of: check, with: "")
      }
      let isChecked = table.columns.contains { $0.sql.hasSuffix(check) }
      let key = table.key == .tableDescending ? Key.rowID : table.key
      return columns.map { $0.hasSuffix(" INT") ? $0 + "EGER" : $0 }.sorted()
        + table.constraints.sorted() + ["\(key)", "\(table.isStrict)", "\(isChecked)"]
    }
    return essence(self) != essence(other)
  }

  var hasRowID: Bool { key != .withoutRowID }

  /// Whether the column `id` is the row id.
  var keyIsRowID: Bool { [.rowID, .autoincrement, .tableDescending].contains(key) }

  func sql(_ name: String = "t") -> String {
    var lines = columns.map { column -> String in
      guard column.name == "id" else { return column.sql }
      switch key {
      case .none: return "id INTEGER"
      case .rowID: return "id INTEGER PRIMARY KEY"
      case .autoincrement: return "id INTEGER PRIMARY KEY AUTOINCREMENT"
      case .descending: return "id INTEGER PRIMARY KEY DESC"
      case .int: return "id INT PRIMARY KEY"
      case .text: return "id TEXT PRIMARY KEY COLLATE NOCASE"
      case .tableDescending: return "id INTEGER"
      case .binaryText: return "id TEXT PRIMARY KEY"
      case .textKey: return "id TEXT"
      case .withoutRowID: return "id ANY NOT NULL PRIMARY KEY"
      }
    }
    if key == .tableDescending { lines.append("PRIMARY KEY (id DESC)") }
    if key == .textKey { lines.append("PRIMARY KEY (id COLLATE NOCASE)") }
    lines += constraints
    let options = (isStrict ? ["STRICT"] : []) + (hasRowID ? [] : ["WITHOUT ROWID"])
    return
      "CREATE TABLE \(name) (\(lines.joined(separator: ", "))) \(options.joined(separator: ", "))"
  }

  /// The names of the columns that are written.
  var written: [String] { columns.filter { $0.expression == nil }.map(\.name) }
}
