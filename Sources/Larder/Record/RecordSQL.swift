import LarderSQLite

/// The statements of a record's operations, made of its table's columns alone.
struct RecordSQL {
  private let table: SQLFragment
  let columns: [ColumnDefinition]
  /// Each column's name.
  private let names: [SQLFragment]
  /// Each column's parameter.
  private let parameters: [SQLFragment]
  /// The positions of the columns that are written, in order.
  let written: [Int]
  /// The positions of the columns of the primary key, in order.
  let key: [Int]
  /// The position of the column with the version, if there is one.
  let version: Int?

  /// - Parameter table: the table's name.
  init(table: SQLFragment, columns: [ColumnDefinition]) {
    self.table = table
    self.columns = columns
    names = columns.map { SQLFragment(text: $0.name.quotedIdentifier) }
    parameters = Self.parameters(for: columns.map(\.name)).enumerated().map {
      SQLFragment(.parameter($1, $0))
    }
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

  func names(_ indices: some Sequence<Int>) -> SQLFragment { .list(indices.map { names[$0] }) }

  /// All columns, as they are read.
  var columnList: SQLFragment { names(columns.indices) }

  var select: SQLFragment { "SELECT \(columnList) FROM \(table)" }

  var find: SQLFragment { find(columns.indices, by: []) }

  /// The rows whose key, of one column, is one of some values.
  func find(keys: [any DatabaseValueConvertible]) -> SQLFragment {
    "\(select) WHERE \(names(key)) IN (\(.list(keys.map { SQLFragment(value: $0) })))"
  }

  /// Some columns of the row with the record's values in others, or with its key.
  func find(_ chosen: some Sequence<Int>, by target: [Int]) -> SQLFragment {
    let condition = condition(target.isEmpty ? key : target)
    return "SELECT \(names(chosen)) FROM \(table) WHERE \(condition)"
  }

  /// - Parameter policy: what happens where a constraint would be broken; nil for an error.
  func insert(or policy: String? = nil) -> SQLFragment {
    let row = written.isEmpty ? nil : SQLFragment.list(written.map { parameters[$0] })
    return insert(or: policy, row.map { "(\($0))" })
  }

  /// The same for an engine that numbers rows where the column is left out, rather than NULL.
  ///
  /// - Parameters:
  ///   - left: the column that is left out; nil for none.
  ///   - ignores: whether rows that break a constraint are left out.
  func insert(leavingOut left: Int?, ignoring ignores: Bool) -> SQLFragment {
    let row = SQLFragment.list(written.filter { $0 != left }.map { parameters[$0] })
    return insert(leavingOut: left, ignoring: ignores, row.parenthesized)
  }

  /// The same for several rows, row by row, column by column.
  func insert(rows: Int, leavingOut left: Int?, ignoring ignores: Bool) -> SQLFragment {
    let values = SQLFragment.list(
      written.filter { $0 != left }.map { SQLFragment(.parameter(nil, $0)) })
    return insert(
      leavingOut: left, ignoring: ignores,
      .list(Array(repeating: values.parenthesized, count: rows)))
  }

  private func insert(
    leavingOut left: Int?, ignoring ignores: Bool, _ rows: SQLFragment
  ) -> SQLFragment {
    let written = written.filter { $0 != left }
    let values: SQLFragment =
      written.isEmpty ? "DEFAULT VALUES" : "(\(names(written))) VALUES \(rows)"
    return "INSERT INTO \(table) \(values)\(text: ignores ? " ON CONFLICT DO NOTHING" : "")"
  }

  /// The same for several rows, without names: row by row, column by column.
  func insert(rows: Int, or policy: String?) -> SQLFragment {
    let values = SQLFragment.list(written.map { SQLFragment(.parameter(nil, $0)) })
    return insert(
      or: policy, .list(Array(repeating: values.parenthesized, count: rows)))
  }

  private func insert(or policy: String?, _ rows: SQLFragment?) -> SQLFragment {
    let verb = policy.map { "INSERT OR \($0)" } ?? "INSERT"
    guard let rows else { return "\(text: verb) INTO \(table) DEFAULT VALUES" }
    return "\(text: verb) INTO \(table) (\(names(written))) VALUES \(rows)"
  }

  /// Sets some columns, or all but the key, of the row with the record's key and version.
  func update(_ chosen: [Int]? = nil) -> SQLFragment {
    let chosen = chosen ?? written.filter { !key.contains($0) && $0 != version }
    var assignments = chosen.map { assignment($0, parameters[$0]) }
    if let version { assignments.append(assignment(version, "\(names[version]) + 1")) }
    // A row of nothing but its key is still found, or not.
    if assignments.isEmpty { assignments = key.prefix(1).map { assignment($0, names[$0]) } }
    return "UPDATE \(table) SET \(.list(assignments)) WHERE \(keyCondition)"
  }

  /// What raises a column's version in rows that may have any, and fails where none comes after the
  /// greatest.
  static func raised(_ column: ColumnDefinition) -> SQLFragment {
    .integer("\(name: column.name) + 1", in: .min...(column.greatestVersion ?? .max))
  }

  /// - Parameters:
  ///   - target: the columns whose uniqueness decides whether the row is there; the key's if empty.
  ///   - chosen: what is updated where it is there; all that is written if nil.
  ///   - assigned: what stands behind SET, instead of columns.
  ///   - left: a column that is left out of what is inserted.
  func upsert(
    onConflict target: [Int] = [], updating chosen: [Int]? = nil, set assigned: SQLFragment? = nil,
    leavingOut left: Int? = nil
  ) -> SQLFragment {
    let target = target.isEmpty ? key : target
    let insert = left == nil ? insert() : insert(leavingOut: left, ignoring: false)
    // What the engine numbers is no row that is there.
    if left != nil, target == key { return insert }
    if let assigned {
      return "\(insert) ON CONFLICT (\(names(target))) DO UPDATE SET \(assigned)"
    }
    let chosen =
      chosen ?? written.filter { !target.contains($0) && !key.contains($0) && $0 != version }
    var assignments = chosen.map { assignment($0, "excluded.\(names[$0])") }
    if let version, !target.contains(version) {
      assignments.append(assignment(version, next(version)))
    }
    // Only a row that was updated is returned, and with it its key.
    if assignments.isEmpty, target != key {
      assignments = target.prefix(1).map { assignment($0, "excluded.\(names[$0])") }
    }
    let action: SQLFragment =
      assignments.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(.list(assignments))"
    return "\(insert) ON CONFLICT (\(names(target))) \(action)"
  }

  var delete: SQLFragment { "DELETE FROM \(table) WHERE \(keyCondition)" }

  /// The next version of a row that is there.
  func next(_ version: Int) -> SQLFragment { "\(table).\(names[version]) + 1" }

  private func assignment(_ column: Int, _ value: SQLFragment) -> SQLFragment {
    "\(names[column]) = \(value)"
  }

  /// The row with the record's key and version.
  private var keyCondition: SQLFragment { condition(key + (version.map { [$0] } ?? [])) }

  private func condition(_ columns: [Int]) -> SQLFragment {
    .list(
      columns.map { SQLFragment(names[$0], .equal, parameters[$0]) }, separator: " AND ")
  }
}

extension SQLFragment {
  /// The statement, returning some columns of each row that it wrote.
  func returning(_ columns: SQLFragment) -> SQLFragment { "\(self) RETURNING \(columns)" }
}

/// A statement of a record's, ready to run: its text, and which columns its parameters stand for, in
/// the order in which SQLite numbers them: a name that comes again is the same parameter.
@usableFromInline
final class RecordStatement: Sendable {
  @usableFromInline let sql: FixedSQL
  let order: [Int]

  var text: String { sql.text }

  /// Values beside the record's, whose placeholders stand behind all of its parameters.
  let values: [(any DatabaseValueConvertible)?]

  /// - Parameter dialect: that of the engine for which it is; nil for what is the same for all.
  init(_ fragment: SQLFragment, in dialect: (any Dialect)? = nil) {
    let (text, values, columns) = fragment.statement(in: dialect)
    sql = FixedSQL(text)
    order = columns
    self.values = values
  }

  /// Binds a record's properties, and the values.
  func bind(_ record: UnsafeRawPointer, _ layout: RecordLayout, to arena: BindingArena) throws {
    try layout.bind(record, order, to: arena)
    if values.isEmpty { return }
    for (index, value) in values.enumerated() {
      let parameter = ParameterBinder(
        arena: arena, index: Int32(truncatingIfNeeded: order.count + index + 1))
      if let value { try value.bind(to: parameter) } else { try parameter.bindNull() }
    }
  }
}
