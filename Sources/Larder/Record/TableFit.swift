import LarderSQLite

/// How a declaration fits the table that a connection has, until the schema changes.
///
/// Only what would lose or mistake a value is a problem; whatever else differs is told by `differences`.
final class TableFit: Sendable {
  /// Whether the key that is to be chosen by SQLite isn't the row id: a record keeps its own.
  let keepsKey: Bool
  /// Whether NULL would be stored for a record without a key.
  let refusesMissingKey: Bool
  /// Whether SQLite's RETURNING gives some columns another type than they have; see
  /// ``TableCore/misreturns(_:for:)``.
  let misreturns: Bool
  /// The columns that make numbers of texts, or round them, by which values of theirs are looked at before they are
  /// written.
  let converting: [ConvertingColumn]
  private let problems: [Problem]

  private struct Problem {
    /// Of statements that do all of this with the table; of all statements if it is empty.
    let use: TableUse
    let text: String
  }

  /// What keeps the table from being used so.
  func problem(for use: TableUse) -> String? {
    problems.first { use.isSuperset(of: $0.use) }?.text
  }

  init(_ declared: TableFitting, _ table: FoundTable, _ schema: SchemaReader) throws {
    var comparison = FitComparison(declared: declared, table: table, schema: schema)
    try comparison.run()
    // What a module's tables store, and by what they find rows, is its own.
    let isKnown =
      try comparison.problems.isEmpty && comparison.converting.isEmpty && !comparison.keepsKey
      || !schema.isVirtual(table)
    problems = isKnown ? comparison.problems.map { Problem(use: $0.use, text: $0.text) } : []
    keepsKey = isKnown && comparison.keepsKey
    refusesMissingKey = isKnown && comparison.refusesMissingKey
    converting = isKnown ? comparison.converting : []
    misreturns = !table.isView && (!table.hasRowID || table.affinity(of: 0) == .real)
  }
}

private struct FitComparison {
  let declared: TableFitting
  let table: FoundTable
  let schema: SchemaReader
  var problems: [(use: TableUse, text: String)] = []
  var keepsKey = false
  var refusesMissingKey = false
  var converting: [ConvertingColumn] = []

  /// Which of the found columns each of the declared ones is.
  private var places: [Int?] = []

  init(declared: TableFitting, table: FoundTable, schema: SchemaReader) {
    self.declared = declared
    self.table = table
    self.schema = schema
  }

  mutating func run() throws {
    places = declared.foldedNames.map(table.index(ofFolded:))
    for column in declared.columns.indices { compare(column) }
    if table.isView { return compareView() }
    compareUnwritten()
    try compareKey()
  }

  private mutating func add(_ text: String, for use: TableUse = []) {
    problems.append((use, text))
  }

  // MARK: Columns

  private mutating func compare(_ index: Int) {
    let column = declared.columns[index]
    guard let found = places[index] else {
      if !table.isRowID(column.name) {
        add("the database's has no column “\(column.name)”", for: .allColumns)
      }
      return
    }
    let kind =
      column.type.kind == .date ? schema.dateFormat.columnType.kind : column.type.kind
    let affinity = table.affinity(of: found)
    if let change = column.change(by: affinity, of: kind) {
      add("“\(column.name)” is \(table.columns[found].type) in the database, \(change)")
    } else if kind == .decimal
      || kind == .text && !column.isNeverNumber && column.type.kind != .date,
      affinity == .numeric || affinity == .real
    {
      converting.append(
        ConvertingColumn(index: index, affinity: affinity, isDecimal: kind == .decimal))
    }
    compareGenerated(column, table.columns[found])
  }

  private mutating func compareGenerated(_ column: ColumnDefinition, _ found: FoundColumn) {
    let problem: String
    if found.isGenerated, column.isWritten {
      problem = """
        “\(column.name)” is generated in the database, and can't be written: say .readOnly, or .generated with \
        its expression
        """
    } else if column.generated != nil, !found.isGenerated, !table.isView {
      problem = """
        “\(column.name)” is declared as generated, and isn't in the database: its values would never be written
        """
    } else {
      return
    }
    add(problem, for: .insertion)
    add(problem, for: [.change, .allColumns])
  }

  /// Columns that no record has a value for, where the table asks for one.
  private mutating func compareUnwritten() {
    var isOpen = table.columns.indices.map { index in
      let column = table.columns[index]
      return column.isNotNull && !column.hasDefault && !column.isGenerated
        && index != table.rowIDColumn
    }
    for (index, place) in places.enumerated() {
      if let place, declared.columns[index].isWritten { isOpen[place] = false }
    }
    let open = isOpen.indices.filter { isOpen[$0] }
    guard let first = open.first else { return }
    let names = open.map { "“\(table.columns[$0].name)”" }.joined(separator: ", ")
    let isOne = open.count == 1
    let isKnown = places.contains(first)
    add(
      """
      the database's has \(isOne ? "a column" : "columns") \(names) that can't be NULL, without a default, which \
      records don't write: \(isKnown ? "write" : "declare") \(isOne ? "it" : "them"), or give \
      \(isOne ? "it a default" : "them defaults")
      """, for: .insertion)
  }

  private mutating func compareView() {
    guard !declared.isView else { return }
    for use in [TableUse.insertion, .change] {
      add(
        """
        it is a view in the database, which can't be written as a table, nor can it be told how many rows its \
        triggers change: say .view, and write to the tables behind it
        """, for: use)
    }
  }

  // MARK: The key

  private typealias UniqueKey = [(column: Int, collation: String?)]

  private mutating func compareKey() throws {
    let key = declared.key.map { declared.columns[$0] }
    let places = declared.key.map { self.places[$0] }
    let isRowID =
      key.count == 1
      && (places[0].map { $0 == table.rowIDColumn } ?? table.isRowID(key[0].name))
    if key.isEmpty || isRowID { return }
    keepsKey = declared.countsRows
    // Where the column can't be NULL, SQLite says so.
    refusesMissingKey = keepsKey && places[0].map { !table.columns[$0].isNotNull } ?? false
    let names = key.map { "“\($0.name)”" }.joined(separator: ", ")
    let columns = places.compactMap(\.self)
    guard columns.count == key.count else { return }
    let uniqueKeys = try schema.uniqueKeys(of: table)
    compareCollations(of: Set(columns), names, uniqueKeys)
    guard try !isUnique(Set(columns), uniqueKeys) else { return }
    add(
      """
      nothing keeps two rows of the database's from having the same \(names), by which a record's row is found: \
      make a unique index of \(key.count == 1 ? "it" : "them"), or change rows by a query
      """, for: .key)
  }

  /// By `ON CONFLICT (code)` SQLite takes the index of those columns for the one that is meant, whatever collation it
  /// has.
  private mutating func compareCollations(
    of columns: Set<Int>, _ names: String, _ uniqueKeys: [UniqueKey]
  ) {
    for key in uniqueKeys where Set(key.map(\.column)) == columns {
      guard let collation = key.lazy.compactMap(\.collation).first else { continue }
      add(
        """
        a unique index of \(names) compares by \(collation), by which an upsert would write to the row of another \
        key: insert and update, or name the columns by onConflict: if that is meant
        """, for: [.insertion, .change, .key])
      return
    }
  }

  /// Whether no two rows are equal in all of some columns, as conditions compare them.
  private func isUnique(_ columns: Set<Int>, _ uniqueKeys: [UniqueKey]) throws -> Bool {
    try uniqueKeys.contains { key in
      try key.allSatisfy { part in
        // By another collation than the column's own more values are equal, unless that is the finest.
        try columns.contains(part.column)
          && (part.collation == nil || schema.isBinary(part.column, of: table))
      }
    }
  }
}

extension ColumnDefinition {
  /// What a column of an affinity makes of the values that are written, or compared with it; nil where they stay
  /// what they are.
  fileprivate func change(by affinity: ColumnAffinity, of kind: ColumnType.Kind) -> String? {
    switch (kind, affinity) {
    case (.integer, .text), (.bool, .text), (.real, .text):
      return """
        which makes texts of numbers, and compares them as such: declare the property as a String, or make the \
        column one of numbers
        """
    case (.integer, .real), (.bool, .real):
      return """
        which makes real numbers of integers: declare the property as a Double, or make the column INTEGER
        """
    case (.text, .numeric), (.text, .real):
      if isNeverNumber || takesNumbers || type.kind == .date { return nil }
      return """
        which makes numbers of texts that look like ones, such as 007: make it TEXT or, for texts that don't, say \
        .sqlType with that type
        """
    default: return nil
    }
  }

  /// Whether its own type is declared as one that makes numbers of texts.
  var takesNumbers: Bool {
    guard let sqlType else { return false }
    let affinity = ColumnAffinity(type: sqlType, isStrict: false)
    return affinity == .numeric || affinity == .real
  }
}
