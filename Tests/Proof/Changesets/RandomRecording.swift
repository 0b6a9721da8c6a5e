import Larder
import TestSupport

/// Random tables, and random work on them that a session records.
struct RandomRecording {
  var random: SeededGenerator
  private(set) var tables: [Table] = []
  /// Whether some texts are no UTF-8.
  private(set) var hasBrokenText = false

  struct Table {
    let name: String
    var columns: [String]
    /// The column by which others refer to it.
    let parent: String?
    let sql: String

    var identifier: String { name.quoted }
  }

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    hasBrokenText = chance(3)
    let count = Int.random(in: 1...3, using: &random)
    for index in 0..<count { tables.append(makeTable(index)) }
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  // MARK: Tables

  private mutating func makeTable(_ index: Int) -> Table {
    let name = chance(10) ? "a \"table\" ü\(index)" : "t\(index)"
    let columns = (0..<Int.random(in: 2...5, using: &random)).map { number in
      chance(5) ? "c\"\(number)" : "c\(number)"
    }
    var definitions = columns.map { column in "\(column.quoted)\(type())" }
    var constraints: [String] = []
    var options = ""
    var keys: [String] = []
    let kind = Int.random(in: 0..<100, using: &random)
    let first = columns[0].quoted
    switch kind {
    case 0..<35:
      definitions[0] = "\(first) INTEGER PRIMARY KEY"
      keys = [columns[0]]
    case 35..<50:
      definitions[0] = "\(first) TEXT PRIMARY KEY\(chance(30) ? onConflict() : "")"
      keys = [columns[0]]
    case 50..<70:
      keys = chance(50) ? [columns[0], columns[1]] : [columns[1], columns[0]]
      constraints.append("PRIMARY KEY (\(keys.map(\.quoted).joined(separator: ", ")))")
      if chance(50) { options = " WITHOUT ROWID" }
    case 70..<80:
      definitions[0] = "\(first) PRIMARY KEY"
      keys = [columns[0]]
      if chance(50) { options = " WITHOUT ROWID" }
    case 80..<88:
      definitions[0] = "\(first) REAL PRIMARY KEY"
      keys = [columns[0]]
      if chance(50) { options = " WITHOUT ROWID" }
    case 88..<93:
      definitions[0] = "\(first) TEXT COLLATE NOCASE PRIMARY KEY"
      keys = [columns[0]]
    case 93..<97:
      keys = columns
      constraints.append("PRIMARY KEY (\(keys.map(\.quoted).joined(separator: ", ")))")
    default: break
    }
    for column in columns.indices where !keys.contains(columns[column]) {
      definitions[column] += option(of: columns[column])
    }
    let sql =
      "CREATE TABLE \(name.quoted) (\((definitions + constraints).joined(separator: ", ")))\(options)"
    return Table(
      name: name, columns: columns, parent: keys.count == 1 ? keys[0] : nil, sql: sql)
  }

  private mutating func type() -> String {
    pick(["", " INTEGER", " REAL", " TEXT", " NUMERIC", " BLOB"])
  }

  private mutating func onConflict() -> String {
    " ON CONFLICT \(pick(["ABORT", "IGNORE", "REPLACE", "FAIL"]))"
  }

  private mutating func option(of column: String) -> String {
    var option = ""
    if chance(15) { option += " NOT NULL\(chance(20) ? onConflict() : "")" }
    if chance(20) { option += " UNIQUE\(chance(20) ? onConflict() : "")" }
    if chance(10) { option += " CHECK (\(column.quoted) IS NOT \(pick(["3", "'b'", "1.5"])))" }
    if chance(10) { option += " DEFAULT \(pick(["7", "'d'", "NULL"]))" }
    if chance(10) { option += " COLLATE \(pick(["NOCASE", "RTRIM"]))" }
    if chance(20), let table = tables.last(where: { $0.parent != nil }), let key = table.parent {
      option += " REFERENCES \(table.identifier) (\(key.quoted))"
      let actions = ["CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"]
      if chance(50) { option += " ON DELETE \(pick(actions))" }
      if chance(50) { option += " ON UPDATE \(pick(actions))" }
      if chance(30) { option += " DEFERRABLE INITIALLY DEFERRED" }
    }
    return option
  }

  /// A trigger that writes elsewhere, or refuses.
  mutating func trigger(_ number: Int) -> String {
    let table = pick(tables)
    let other = pick(tables)
    let event = pick(["INSERT", "UPDATE", "DELETE"])
    let row = event == "DELETE" ? "old" : "new"
    let column = pick(table.columns).quoted
    let condition = chance(60) ? " WHEN \(row).\(column) IS \(value())" : ""
    let action = pick([
      "INSERT INTO log (what) VALUES (\(row).\(column))",
      "UPDATE \(other.identifier) SET \(pick(other.columns).quoted) = \(value()) WHERE "
        + "\(pick(other.columns).quoted) IS \(value())",
      "DELETE FROM \(other.identifier) WHERE \(pick(other.columns).quoted) IS \(row).\(column)",
      "SELECT RAISE(ABORT, 'no')", "SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')",
    ])
    return "CREATE TRIGGER \"trigger \(number)\" \(pick(["BEFORE", "AFTER"])) \(event) ON "
      + "\(table.identifier)\(condition) BEGIN \(action); END"
  }

  /// The tables and triggers.
  mutating func schema() -> [String] {
    var statements = tables.map(\.sql)
    statements.append(
      chance(50) ? "CREATE TABLE log (id INTEGER PRIMARY KEY, what)" : "CREATE TABLE log (what)")
    for number in 0..<pick([0, 0, 0, 1, 2]) { statements.append(trigger(number)) }
    return statements
  }

  /// What a table elsewhere may have besides.
  mutating func divergence() -> [String] {
    guard chance(50), let last = tables.last else { return [] }
    if chance(15) {
      // No other table refers to it, and no trigger may.
      return [
        "DROP TRIGGER \"trigger 0\"", "DROP TRIGGER \"trigger 1\"",
        "DROP TABLE \(last.identifier)",
      ]
    }
    let table = pick(tables)
    return [
      pick([
        "ALTER TABLE \(table.identifier) ADD COLUMN more DEFAULT \(value())",
        "ALTER TABLE \(table.identifier) ADD COLUMN more AS (\(table.columns[0].quoted))",
        "CREATE UNIQUE INDEX more ON \(table.identifier) (\(pick(table.columns).quoted))",
        trigger(9), trigger(9), trigger(9),
      ])
    ]
  }

  // MARK: Work

  mutating func value() -> String {
    if hasBrokenText, chance(20) { return "CAST(x'61ff' AS TEXT)" }
    return pick([
      "NULL", "0", "1", "2", "3", "4", "5", "-1", "1.0", "2.0", "0.5", "1.5", "-0.0", "0.0",
      "9223372036854775807", "1e300", "'a'", "'A'", "'b'", "''", "'1'", "'2'", "'a '", "'\u{e9}'",
      "'e\u{301}'", "x''", "x'61'", "x'00ff'", "1", "2", "3", "4", "'a'", "'b'",
    ])
  }

  mutating func statement() -> String {
    let table = pick(tables)
    let name = table.identifier
    let conflict = pick(["", "", "", " OR REPLACE", " OR IGNORE", " OR FAIL"])
    let column = pick(table.columns).quoted
    let condition = "\(chance(70) ? table.columns[0].quoted : column) IS \(value())"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45:
      let values = table.columns.map { _ in value() }.joined(separator: ", ")
      let columns = table.columns.map(\.quoted).joined(separator: ", ")
      return "INSERT\(conflict) INTO \(name) (\(columns)) VALUES (\(values))"
    case 45..<75:
      let other = pick(table.columns).quoted
      return "UPDATE\(conflict) \(name) SET \(column) = \(value()), \(other) = \(value()) "
        + "WHERE \(condition)"
    case 75..<80: return "UPDATE\(conflict) \(name) SET \(column) = \(value())"
    case 80..<97: return "DELETE FROM \(name) WHERE \(condition)"
    case 97..<98: return "ANALYZE"
    default: return "DELETE FROM \(name)"
    }
  }

  /// Runs random statements, of which some fail.
  mutating func work(_ count: Int, in db: Database) {
    for _ in 0..<count { _ = try? db.executeStatements(SQL(raw: statement())) }
  }
}

extension String {
  /// As an identifier.
  fileprivate var quoted: String { quotedIdentifier }
}
