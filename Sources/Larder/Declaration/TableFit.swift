import LarderSQLite

/// The result of comparing a declaration with a connection's table. It is valid until the schema changes.
///
/// Only differences that would lose or change a value are problems; `differences` reports all others.
final class TableFit: Sendable {
  struct Findings {
    /// The problems, each with the use of the table that has it; empty for every use.
    var problems: [(use: TableUse, text: String)] = []
    /// Whether the key that SQLite should choose isn't the row id, so that a record keeps its own.
    var keepsKey = false
    /// The positions of the key's columns in which NULL would be stored for a record without them.
    var neededKeys: [Int] = []
    /// The columns that convert texts to numbers, or round them. Their values are checked when written.
    var converting: [ConvertingColumn] = []

    var isEmpty: Bool { problems.isEmpty && converting.isEmpty && !keepsKey && neededKeys.isEmpty }
  }

  let findings: Findings
  /// Whether RETURNING gives some columns another type; see ``TableCore/misreturns(_:for:)``.
  let misreturns: Bool

  /// The first problem that rules out this use of the table; nil if there is none.
  func problem(for use: TableUse) -> String? {
    findings.problems.first { use.isSuperset(of: $0.use) }?.text
  }

  init(_ declared: TableFitting, _ table: FoundTable, _ schema: SchemaReader) throws {
    var comparison = FitComparison(declared, table, schema)
    try comparison.run()
    // A module decides what its tables store and how they find rows, so a virtual table has no problems.
    let isKnown = try comparison.findings.isEmpty || !schema.isVirtual(table)
    findings = isKnown ? comparison.findings : Findings()
    misreturns = !table.isView && (!table.hasRowID || table.affinity(of: 0) == .real)
  }
}

private struct FitComparison {
  let declared: TableFitting
  let table: FoundTable
  let schema: SchemaReader
  var findings = TableFit.Findings()
  /// The position of each declared column in the found table; nil if it isn't there.
  private let places: [Int?]

  init(_ declared: TableFitting, _ table: FoundTable, _ schema: SchemaReader) {
    self.declared = declared
    self.table = table
    self.schema = schema
    places = declared.foldedNames.map(table.index(ofFolded:))
  }

  mutating func run() throws {
    for column in declared.columns.indices { compare(column) }
    if table.isView { return compareView() }
    compareUnwritten()
    try compareKey()
  }

  private mutating func add(_ text: String, for use: TableUse = []) {
    findings.problems.append((use, text))
  }

  // MARK: Columns

  private mutating func compare(_ index: Int) {
    let column = declared.columns[index]
    guard let found = places[index] else {
      if !table.isRowID(column.name) {
        add("the table in the database has no column “\(column.name)”", for: .allColumns)
      }
      return
    }
    let kind = column.type.kind == .date ? schema.dateFormat.columnType.kind : column.type.kind
    let affinity = table.affinity(of: found)
    if let change = column.change(by: affinity, of: kind) {
      add("“\(column.name)” is \(table.columns[found].type) in the database, \(change)")
    } else if kind == .decimal
      || kind == .text && column.numbers != .none && column.type.kind != .date,
      affinity == .numeric || affinity == .real
    {
      var conversion: TextConversion = kind == .decimal ? .ofDecimals : []
      if affinity == .real { conversion.insert(.toReal) }
      findings.converting.append(ConvertingColumn(index: index, conversion: conversion))
    }
    compareGenerated(column, table.columns[found])
  }

  private mutating func compareGenerated(_ column: ColumnDefinition, _ found: FoundColumn) {
    let problem: String
    if found.isGenerated, column.isWritten {
      problem = """
        “\(column.name)” is generated in the database, so it can't be written: declare it .readOnly, or \
        .generated with its expression
        """
    } else if column.generated != nil, !found.isGenerated, !table.isView {
      problem = """
        “\(column.name)” is declared as generated, but isn't in the database: its values would never be \
        written
        """
    } else {
      return
    }
    add(problem, for: .insertion)
    add(problem, for: [.change, .allColumns])
  }

  /// Finds columns for which the table requires a value, but records don't write one.
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
    let names = open.map { table.columns[$0].name }.quotedList
    let isOne = open.count == 1
    let isKnown = places.contains(first)
    add(
      """
      in the database, the \(isOne ? "column" : "columns") \(names) can't be NULL and \
      \(isOne ? "has no default" : "have no defaults"), but records don't write \(isOne ? "it" : "them"): \
      \(isKnown ? "write" : "declare") \(isOne ? "it" : "them"), or give \
      \(isOne ? "it a default" : "them defaults")
      """, for: .insertion)
  }

  private mutating func compareView() {
    guard !declared.isView else { return }
    for use in [TableUse.insertion, .change] {
      add(
        """
        it is a view in the database: a view can't be written like a table, since the number of rows that \
        its triggers change is unknown; declare it as .view, and write to its tables
        """, for: use)
    }
  }

  // MARK: The key

  private typealias UniqueKey = [(column: Int, collation: String?)]

  private mutating func compareKey() throws {
    let key = declared.key.map { declared.columns[$0] }
    let places = declared.key.map { self.places[$0] }
    let isRowID =
      key.count == 1 && (places[0].map { $0 == table.rowIDColumn } ?? table.isRowID(key[0].name))
    if key.isEmpty || isRowID { return }
    findings.keepsKey = declared.countsRows
    findings.neededKeys = declared.key.filter(isNeeded)
    let names = key.map(\.name).quotedList
    let columns = places.compactMap(\.self)
    guard columns.count == key.count else { return }
    let uniqueKeys = try schema.uniqueKeys(of: table)
    compareCollations(of: Set(columns), names, uniqueKeys)
    if try isUnique(Set(columns), uniqueKeys) {
      try compareNulls(in: columns, names, uniqueKeys)
      return
    }
    add(
      """
      two rows in the database can have the same \(names), so a record's row can't be found by that key: \
      create a unique index on \(key.count == 1 ? "it" : "them"), or change rows by a query
      """, for: .key)
  }

  /// Whether the database would store NULL for a part of the key that is nil. SQLite itself reports
  /// a NULL in a column that can't be NULL.
  private func isNeeded(_ index: Int) -> Bool {
    guard let place = places[index], declared.columns[index].type.isNullable else { return false }
    let found = table.columns[place]
    if found.isGenerated || !declared.columns[index].isWritten && found.hasDefault { return false }
    return table.admitsNull(place)
  }

  /// Finds a key that many rows can have, because a unique index admits any number of NULLs. A row
  /// whose NULL the property can't hold can't be read anyway.
  private mutating func compareNulls(
    in columns: [Int], _ names: String, _ uniqueKeys: [UniqueKey]
  ) throws {
    let open = zip(columns, declared.key).filter { place, index in
      table.admitsNull(place) && declared.columns[index].type.isNullable
    }
    let certain = Set(columns).subtracting(open.map(\.0))
    guard !open.isEmpty, try !isUnique(certain, uniqueKeys) else { return }
    add(
      """
      \(names) can be NULL in several rows in the database, which then have no order: declare \
      \(columns.count == 1 ? "it" : "them") NOT NULL, or the \
      \(columns.count == 1 ? "property" : "properties") not Optional
      """, for: .place)
  }

  /// Finds a unique index that compares the key by another collation than the columns'. For
  /// `ON CONFLICT (code)` SQLite takes an index of these columns, whatever its collation.
  private mutating func compareCollations(
    of columns: Set<Int>, _ names: String, _ uniqueKeys: [UniqueKey]
  ) {
    for key in uniqueKeys where Set(key.map(\.column)) == columns {
      guard let collation = key.lazy.compactMap(\.collation).first else { continue }
      add(
        """
        a unique index on \(names) compares by \(collation), so an upsert could overwrite the row of another \
        key: use insert and update, or name the columns by onConflict: if that is intended
        """, for: [.insertion, .change, .key])
      return
    }
  }

  /// Whether no two rows have the same values in some columns, as conditions compare them.
  private func isUnique(_ columns: Set<Int>, _ uniqueKeys: [UniqueKey]) throws -> Bool {
    try uniqueKeys.contains { key in
      try key.allSatisfy { part in
        // The column's collation may take values for equal that the index's tells apart, unless it is BINARY.
        try columns.contains(part.column)
          && (part.collation == nil || schema.isBinary(part.column, of: table))
      }
    }
  }
}

extension ColumnDefinition {
  /// How an affinity changes values that are written to the column or compared with it; nil if it doesn't.
  fileprivate func change(by affinity: ColumnAffinity, of kind: ColumnType.Kind) -> String? {
    switch (kind, affinity) {
    case (.integer, .text), (.bool, .text), (.real, .text):
      return """
        which converts numbers to texts, and compares them as texts: declare the property as a String, or \
        the column with a number type
        """
    case (.integer, .real), (.bool, .real):
      return """
        which converts integers to real numbers: declare the property as a Double, or the column INTEGER
        """
    case (.text, .numeric), (.text, .real):
      if numbers != .any || takesNumbers || type.kind == .date { return nil }
      return """
        which converts texts that look like numbers, such as 007: declare it TEXT or, if no text does, use \
        .sqlType with that type
        """
    default: return nil
    }
  }

  /// Whether the column is declared with a type whose affinity converts texts to numbers.
  var takesNumbers: Bool {
    guard let sqlType else { return false }
    let affinity = ColumnAffinity(type: sqlType, isStrict: false)
    return affinity == .numeric || affinity == .real
  }
}
