import LarderSQLite

/// A column of the database's table that converts texts to numbers, which would change some values.
struct ConvertingColumn: Sendable {
  /// The column's position in the declaration.
  let index: Int
  let conversion: TextConversion

  /// Whether reading the column would give another value than was written.
  func changes(_ value: DatabaseValue) -> Bool {
    guard case .text(let text) = value else { return false }
    return conversion.changes(text)
  }
}

extension TableCore {
  /// The columns that convert values. Looks at the database's table, unless none of the declaration does.
  func converting(_ db: Database) throws -> [ConvertingColumn] {
    guard mayConvert else { return [] }
    try db.look(at: self, for: [])
    return fitting.converting(db)
  }

  /// Throws if one of the columns would change a value that is assigned to it.
  func check(
    _ assigned: [(name: String, value: DatabaseValue)], _ converting: [ConvertingColumn]
  ) throws {
    for column in converting {
      for (name, value) in assigned
      where name.isSame(as: columns[column.index].name) && column.changes(value) {
        throw problem(of: column, key: [])
      }
    }
  }

  /// The assigned expression, which fails where its column would change the value.
  func kept(
    _ expression: SQLFragment, in name: String, _ converting: [ConvertingColumn]
  ) -> SQLFragment {
    // A plain value is checked before the statement runs, which gives a better error.
    guard expression.kind != .value,
      let column = converting.first(where: { columns[$0.index].name.isSame(as: name) })
    else { return expression }
    return .call(
      "larder_kept", expression.parenthesized(in: .lowest),
      SQLFragment(text: "\(column.conversion.rawValue)"), SQLFragment(value: name))
  }

  /// Whether a column holds texts that some tables would convert to numbers.
  var mayConvert: Bool {
    columns.contains {
      $0.type.kind == .decimal || $0.type.kind == .text && ($0.takesNumbers || $0.numbers == .few)
    }
  }

  func problem(of column: ConvertingColumn, key: [DatabaseValue]) -> RecordError {
    let name = columns[column.index].name
    if column.conversion.contains(.ofDecimals) {
      return .conversion(
        table: self.name, column: name, key: key, error: ConversionError(.notExact, Double.self))
    }
    return .declaration(
      table: self.name,
      problem: """
        “\(name)” converts texts to numbers in the database, which would change this value: declare it TEXT
        """)
  }
}
