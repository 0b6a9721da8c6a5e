import LarderSQLite

/// The statements of a record's operations, made of its table's columns alone.
struct RecordSQL {
  private let table: SQLFragment
  /// The table's name before those of columns, which is never qualified.
  private let alias: SQLFragment
  let columns: [ColumnDefinition]
  private let names: [SQLFragment]
  private let parameters: [SQLFragment]
  /// The positions of the columns that are written, of those of the key, and of the version.
  let written: [Int]
  let key: [Int]
  let version: Int?
  /// The positions of the timestamps of inserts, and of all writes.
  let created: [Int]
  let updated: [Int]

  init(table: SQLFragment, name: String, columns: [ColumnDefinition]) {
    self.table = table
    alias = SQLFragment(text: name.quotedIdentifier)
    self.columns = columns
    names = columns.map { SQLFragment(text: $0.name.quotedIdentifier) }
    parameters = Self.parameters(for: columns.map(\.name)).enumerated().map {
      SQLFragment(.parameter($1, $0))
    }
    written = columns.indices.filter { columns[$0].isWritten }
    key = columns.indices.filter { columns[$0].isPrimaryKey }
    version = columns.firstIndex(where: \.isVersion)
    created = columns.indices.filter { columns[$0].timestamp?.isOfCreation == true }
    updated = columns.indices.filter { columns[$0].timestamp?.isOfCreation == false }
  }

  /// The parameters' names: a column's own name if SQLite can read it as a parameter's, else a substitute.
  private static func parameters(for names: [String]) -> [String] {
    var taken = Set(names)
    return names.enumerated().map { index, name in
      let isParameter = name.utf8.allSatisfy { $0.isSQLWord && $0 != UInt8(ascii: "$") }
      if isParameter, !name.isEmpty { return ":" + name }
      var substitute = "column_\(index + 1)"
      while !taken.insert(substitute).inserted { substitute += "_" }
      return ":" + substitute
    }
  }

  func names(_ indices: some Sequence<Int>) -> SQLFragment { .list(indices.map { names[$0] }) }

  /// The key's columns of a table under a name.
  func key(of alias: QueryAlias) -> [SQLFragment] { key.map { alias.column(columns[$0].name) } }

  var columnList: SQLFragment { names(columns.indices) }

  var select: SQLFragment { "SELECT \(columnList) FROM \(table)" }

  var find: SQLFragment { find(columns.indices, by: []) }

  /// A SELECT of the rows whose key, a single column, is one of these values.
  func find(keys: [any DatabaseValueConvertible]) -> SQLFragment {
    "\(select) WHERE \(names(key)) IN (\(.list(keys.map { SQLFragment(value: $0) })))"
  }

  /// A SELECT of some columns from the row that has the record's values in the target columns, or its key.
  func find(_ chosen: some Sequence<Int>, by target: [Int]) -> SQLFragment {
    let condition = condition(target.isEmpty ? key : target)
    return "SELECT \(names(chosen)) FROM \(table) WHERE \(condition)"
  }

  /// An INSERT of a row, or of several with unnamed parameters, which go row by row, column by column.
  ///
  /// - Parameters:
  ///   - count: the number of rows; nil for one whose parameters have names.
  ///   - policy: what SQLite does if a constraint would be violated; nil for an error.
  ///   - left: the column that is left out, for an engine that numbers a row only then, rather than for NULL.
  ///   - ignores: whether another engine leaves out rows that break a constraint.
  func insert(
    rows count: Int? = nil, or policy: String? = nil, leavingOut left: Int? = nil,
    ignoring ignores: Bool = false
  ) -> SQLFragment {
    let written = written.filter { $0 != left }
    let row = SQLFragment.list(
      written.map { count == nil ? parameters[$0] : SQLFragment(.parameter(nil, $0)) })
    let rows = SQLFragment.list(Array(repeating: row.parenthesized, count: count ?? 1))
    let values: SQLFragment =
      written.isEmpty ? "DEFAULT VALUES" : "(\(names(written))) VALUES \(rows)"
    let verb = policy.map { "INSERT OR \($0)" } ?? "INSERT"
    let end = ignores ? " ON CONFLICT DO NOTHING" : ""
    return "\(text: verb) INTO \(table) \(values)\(text: end)"
  }

  /// An UPDATE of some columns, or of all but the key, in the row with the record's key and version.
  func update(_ chosen: [Int]? = nil) -> SQLFragment {
    let assigned = assigned(chosen, besides: key)
    var assignments = assigned.map { assignment($0, parameters[$0]) }
    if let version { assignments.append(assignment(version, "\(names[version]) + 1")) }
    // A table without other columns than the key still needs an UPDATE, which tells whether the row exists.
    if assignments.isEmpty { assignments = key.prefix(1).map { assignment($0, names[$0]) } }
    return "UPDATE \(table) SET \(.list(assignments)) WHERE \(keyCondition)"
  }

  /// An expression that raises a version column in any rows. It fails if the version is the greatest already.
  static func raised(_ column: ColumnDefinition, of alias: QueryAlias?) -> SQLFragment {
    let version = SQLFragment(text: (alias?.prefix ?? "") + column.name.quotedIdentifier)
    return .integer("\(version) + 1", in: .min...(column.greatestVersion ?? .max))
  }

  /// - Parameters:
  ///   - target: the columns whose uniqueness decides whether the row exists; the key's if empty.
  ///   - chosen: the columns to update if the row exists; all that are written if nil.
  ///   - assigned: the assignments behind SET, instead of columns.
  ///   - left: a column that is left out of the INSERT.
  func upsert(
    onConflict target: [Int] = [], updating chosen: [Int]? = nil, set assigned: SQLFragment? = nil,
    leavingOut left: Int? = nil
  ) -> SQLFragment {
    let target = target.isEmpty ? key : target
    let insert = insert(leavingOut: left)
    // A row that the engine is yet to number can't exist already.
    if left != nil, target == key { return insert }
    let assignments = assigned.map { [$0] } ?? assignments(onConflict: target, updating: chosen)
    let action: SQLFragment =
      assignments.isEmpty ? "DO NOTHING" : "DO UPDATE SET \(.list(assignments))"
    // A dialect may fold a column by its collation, and so does its unique index.
    let terms = target.map { column -> SQLFragment in
      let definition = columns[column]
      guard definition.knownCollation != nil, let coding = definition.comparisonCoding else {
        return names[column]
      }
      return SQLFragment(
        .grouping, SQLFragment(text: definition.name.quotedIdentifier, coding: coding))
    }
    return "\(insert) ON CONFLICT (\(.list(terms))) \(action)"
  }

  /// Whether such an upsert leaves an existing row as it is, since there is nothing to update.
  func upsertKeepsRows(onConflict target: [Int], updating chosen: [Int]?) -> Bool {
    assignments(onConflict: target.isEmpty ? key : target, updating: chosen).isEmpty
  }

  private func assignments(onConflict target: [Int], updating chosen: [Int]?) -> [SQLFragment] {
    var assignments = assigned(chosen, besides: target + key).map {
      assignment($0, "excluded.\(names[$0])")
    }
    if let version, !target.contains(version) {
      assignments.append(assignment(version, next(version)))
    }
    // RETURNING gives only a row that was written, and so its key: one column is assigned for that.
    if assignments.isEmpty, target != key {
      assignments = target.prefix(1).map { assignment($0, "excluded.\(names[$0])") }
    }
    return assignments
  }

  /// The columns that an update writes from the record: the chosen ones and the timestamps, or all but those
  /// of a key, the version and the time of creation.
  private func assigned(_ chosen: [Int]?, besides key: [Int]) -> [Int] {
    guard let chosen else {
      return written.filter { !key.contains($0) && $0 != version && !created.contains($0) }
    }
    return updated.isEmpty ? chosen : chosen + updated.filter { !chosen.contains($0) }
  }

  var delete: SQLFragment { "DELETE FROM \(table) WHERE \(keyCondition)" }

  /// The next version of an existing row.
  func next(_ version: Int) -> SQLFragment { "\(alias).\(names[version]) + 1" }

  private func assignment(_ column: Int, _ value: SQLFragment) -> SQLFragment {
    "\(names[column]) = \(value)"
  }

  private var keyCondition: SQLFragment { condition(key + (version.map { [$0] } ?? [])) }

  private func condition(_ columns: [Int]) -> SQLFragment {
    .list(columns.map { SQLFragment(names[$0], .equal, parameters[$0]) }, separator: " AND ")
  }
}

extension SQLFragment {
  func returning(_ columns: SQLFragment) -> SQLFragment { "\(self) RETURNING \(columns)" }
}

/// A record's statement, ready to run: its text, and the columns of its parameters in the order in which
/// SQLite numbers them. A repeated name is the same parameter.
@usableFromInline
package final class RecordStatement: Sendable {
  @usableFromInline package let sql: FixedSQL
  package let order: [Int]

  package var text: String { sql.text }

  /// Values besides the record's own. Their placeholders come after all of its parameters.
  let values: [(any DatabaseValueConvertible)?]

  /// - Parameter dialect: the engine's dialect; nil for a text that is the same for all engines.
  init(_ fragment: SQLFragment, in dialect: (any Dialect)? = nil) {
    let (text, values, columns) = fragment.statement(in: dialect)
    sql = FixedSQL(text)
    order = columns
    self.values = values
  }

  func bind(_ record: UnsafeRawPointer, _ layout: RecordLayout, to arena: BindingArena) throws {
    try layout.bind(record, order, to: arena)
    if _slowPath(!values.isEmpty) { try bindValues(to: arena) }
  }

  private func bindValues(to arena: BindingArena) throws {
    for (index, value) in values.enumerated() {
      let parameter = ParameterBinder(
        arena: arena, index: Int32(truncatingIfNeeded: order.count + index + 1))
      if let value { try value.bind(to: parameter) } else { try parameter.bindNull() }
    }
  }
}
