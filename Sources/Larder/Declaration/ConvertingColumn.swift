import LarderSQLite

/// A column of the database's table that converts texts to numbers, and so would
/// change some of the values that are written to it.
struct ConvertingColumn: Sendable {
  /// The column's position in the declaration.
  let index: Int
  /// The column's affinity: numeric or real.
  let affinity: ColumnAffinity
  /// Whether the texts are Decimals.
  let isDecimal: Bool

  /// Whether reading the column would give another value than was written.
  func changes(_ value: DatabaseValue) -> Bool {
    guard case .text(let text) = value else { return false }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let number = DecimalNumber(Array(text.utf8.drop(while: isSpace)).trimmed(isSpace)) else {
      return false
    }
    guard isDecimal else { return true }
    // SQLite keeps 15 digits of a real number, and all digits of a 64-bit integer.
    if affinity == .numeric, number.exponent >= 0, Int64(text) != nil { return false }
    return number.digits.count > 15 || !(-290...290).contains(number.exponent)
  }
}

extension [UInt8] {
  fileprivate func trimmed(_ isSpace: (UInt8) -> Bool) -> Self {
    var bytes = self
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return bytes
  }
}

extension TableCore {
  /// Throws if the column would change the record's value when it is stored.
  func checkConverting(
    _ column: ConvertingColumn, _ record: UnsafeRawPointer, _ db: Database
  ) throws {
    let value = try layout.value(of: column.index, in: record, db.dateFormat)
    if column.changes(value) { throw problem(of: column, key: key(of: record, db)) }
  }

  /// Throws if a column would change a value that a query assigns. Looks at the database's table first.
  func checkConverting(
    _ assigned: [(name: String, value: DatabaseValue)], _ db: Database
  ) throws {
    try db.look(at: self, for: [])
    for column in fitting.converting(db) {
      for (name, value) in assigned
      where name.isSame(as: columns[column.index].name) && column.changes(value) {
        throw problem(of: column, key: [])
      }
    }
  }

  /// Whether a column holds texts that some tables would convert to numbers.
  var mayConvert: Bool {
    columns.contains { $0.type.kind == .decimal || $0.type.kind == .text && $0.takesNumbers }
  }

  private func problem(of column: ConvertingColumn, key: [DatabaseValue]) -> RecordError {
    let name = columns[column.index].name
    guard !column.isDecimal else {
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
