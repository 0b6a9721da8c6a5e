/// The statements of a record's operations, made of its table's columns alone.
struct RecordSQL {
  let table: String
  let columns: [ColumnDefinition]
  /// The name of each column's parameter, with its colon.
  private let parameters: [String]
  /// The positions of the columns that are written, in order.
  let written: [Int]
  /// The positions of the columns of the primary key, in order.
  let key: [Int]
  /// The position of the column with the version, if there is one.
  let version: Int?

  init(table: String, columns: [ColumnDefinition]) {
    self.table = table.quotedIdentifier
    self.columns = columns
    parameters = Self.parameters(for: columns.map(\.name))
    written = columns.indices.filter { columns[$0].isWritten }
    key = columns.indices.filter { columns[$0].isPrimaryKey }
    version = columns.firstIndex(where: \.isVersion)
  }

  /// A column's own name where SQLite can read it as a parameter's.
  private static func parameters(for names: [String]) -> [String] {
    var taken = Set(names)
    return names.enumerated().map { index, name in
      if !name.isEmpty, name.utf8.allSatisfy(isParameterCharacter) { return ":" + name }
      var substitute = "column_\(index + 1)"
      while !taken.insert(substitute).inserted { substitute += "_" }
      return ":" + substitute
    }
  }

  private static func isParameterCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private func name(_ index: Int) -> String { columns[index].name.quotedIdentifier }

  func names(_ indices: some Sequence<Int>) -> String {
    indices.map(name).joined(separator: ", ")
  }

  /// All columns, as they are read.
  var columnList: String { names(columns.indices) }

  var select: Text { Text("SELECT \(columnList) FROM \(table)") }

  var find: Text {
    Text("\(select.text) WHERE \(condition(key))", key)
  }

  /// Some columns of the row with the record's values in others, or with its key.
  func find(_ chosen: [Int], by target: [Int]) -> Text {
    let target = target.isEmpty ? key : target
    return Text("SELECT \(names(chosen)) FROM \(table) WHERE \(condition(target))", target)
  }

  /// - Parameter policy: what happens where a constraint would be broken; nil for an error.
  func insert(or policy: String? = nil) -> Text {
    let verb = policy.map { "INSERT OR \($0)" } ?? "INSERT"
    guard !written.isEmpty else { return Text("\(verb) INTO \(table) DEFAULT VALUES") }
    let values = written.map { parameters[$0] }.joined(separator: ", ")
    return Text("\(verb) INTO \(table) (\(names(written))) VALUES (\(values))", written)
  }

  /// The same for several rows, without names: row by row, column by column.
  func insert(rows: Int, or policy: String?) -> Text {
    let verb = policy.map { "INSERT OR \($0)" } ?? "INSERT"
    let row = "(" + written.map { _ in "?" }.joined(separator: ", ") + ")"
    let values = Array(repeating: row, count: rows).joined(separator: ", ")
    return Text("\(verb) INTO \(table) (\(names(written))) VALUES \(values)", written)
  }

  /// Sets some columns, or all but the key, of the row with the record's key and version.
  func update(_ chosen: [Int]? = nil) -> Text {
    let chosen = chosen ?? written.filter { !key.contains($0) && $0 != version }
    var assignments = chosen.map { "\(name($0)) = \(parameters[$0])" }
    if let version { assignments.append("\(name(version)) = \(name(version)) + 1") }
    // A row of nothing but its key is still found, or not.
    if assignments.isEmpty { assignments = key.prefix(1).map { "\(name($0)) = \(name($0))" } }
    let condition = key + (version.map { [$0] } ?? [])
    return Text(
      "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(self.condition(condition))",
      chosen + condition)
  }

  /// What raises a column's version in rows that may have any: where none comes after the greatest,
  /// it throws "integer overflow", as `+` does not.
  static func raised(_ column: ColumnDefinition) -> String {
    let name = column.name.quotedIdentifier
    return "CASE WHEN \(name) >= \(column.greatestVersion ?? .max) "
      + "THEN abs(-9223372036854775808) ELSE \(name) + 1 END"
  }

  /// - Parameters:
  ///   - target: the columns whose uniqueness decides whether the row is there; the key's if empty.
  ///   - chosen: what is updated where it is there; all that is written if nil.
  func upsert(onConflict target: [Int] = [], updating chosen: [Int]? = nil) -> Text {
    let target = target.isEmpty ? key : target
    let chosen =
      chosen ?? written.filter { !target.contains($0) && !key.contains($0) && $0 != version }
    var assignments = chosen.map { "\(name($0)) = excluded.\(name($0))" }
    if let version, !target.contains(version) {
      assignments.append("\(name(version)) = \(table).\(name(version)) + 1")
    }
    // Only a row that was updated is returned, and with it its key.
    if assignments.isEmpty, target != key {
      assignments = target.prefix(1).map { "\(name($0)) = excluded.\(name($0))" }
    }
    let insert = insert()
    let action =
      assignments.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(assignments.joined(separator: ", "))"
    return Text("\(insert.text) ON CONFLICT (\(names(target))) \(action)", insert.order)
  }

  var delete: Text {
    let condition = key + (version.map { [$0] } ?? [])
    return Text("DELETE FROM \(table) WHERE \(self.condition(condition))", condition)
  }

  private func condition(_ columns: [Int]) -> String {
    columns.map { "\(name($0)) = \(parameters[$0])" }.joined(separator: " AND ")
  }

  /// A statement, and which columns its parameters stand for, in the order in which SQLite numbers
  /// them: a name that comes again is the same parameter.
  struct Text {
    let text: String
    let order: [Int]

    init(_ text: String, _ order: [Int] = []) {
      self.text = text
      var seen = Set<Int>()
      self.order = order.filter { seen.insert($0).inserted }
    }

    /// The statement, returning the columns of each row that it wrote.
    func returning(_ columns: String) -> Text { Text("\(text) RETURNING \(columns)", order) }
  }
}
