import LarderSQLite

/// A column of a found table that makes numbers of texts: of some that are written it would make other values.
struct ConvertingColumn: Sendable {
  /// Its position in the declaration.
  let index: Int
  /// Numeric or real.
  let affinity: ColumnAffinity
  /// Whether the texts are Decimals.
  let isDecimal: Bool

  /// Whether another value would be read than is written.
  func changes(_ value: DatabaseValue) -> Bool {
    guard case .text(let text) = value else { return false }
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    guard let number = DecimalNumber(Array(text.utf8.drop(while: isSpace)).trimmed(isSpace)) else {
      return false
    }
    guard isDecimal else { return true }
    // Of real numbers SQLite keeps 15 digits, of integers those of 64 bits.
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
  /// Throws where a column would make another value of a record's than is written.
  func checkConverting(
    _ column: ConvertingColumn, _ record: UnsafeRawPointer, _ db: Database
  ) throws {
    let value = try layout.value(of: column.index, in: record, db.dateFormat)
    if column.changes(value) { throw problem(of: column, key: key(of: record, db)) }
  }

  /// The same for what a query assigns. Looks at the table before.
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

  /// Whether a column has texts that some tables would convert.
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
        “\(name)” makes numbers of texts in the database, and would make another value of this one: make it TEXT
        """)
  }
}
