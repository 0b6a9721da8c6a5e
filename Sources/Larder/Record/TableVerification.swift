import LarderSQLite

extension Table {
  /// Throws where records like these wouldn't come back from a database as they were written: for a test.
  ///
  /// ```swift
  /// @Test func declarations() throws {
  ///   try City.table.verify(City(id: 1, name: "Oslo", district: "Frogner", founded: day))
  /// }
  /// ```
  ///
  /// Each record is made again of its properties by the table's initializer, and each property is stored and
  /// read again by its column's coding, in a database in memory. What isn't equal then is told in one
  /// ``RecordError/declaration(table:problem:)``, with all that was found. Properties of one type should have
  /// different values, or it doesn't show that they are exchanged; an initializer or a coding that rounds or
  /// trims what it is given is right with values that are so already.
  public func verify(_ samples: R...) throws {
    try core.check()
    let db = try Database()
    var problems: [String] = []
    for sample in samples {
      let found = try withUnsafePointer(to: sample) { try core.problems(of: $0, db) }
      problems += found.filter { !problems.contains($0) }
    }
    guard problems.isEmpty else {
      throw RecordError.declaration(table: name, problem: problems.joined(separator: "; "))
    }
  }
}

extension TableCore {
  fileprivate func problems(of record: UnsafeRawPointer, _ db: Database) throws -> [String] {
    let exchanged = initializer.exchangedColumns(record)
    let changed = exchanged == nil ? initializer.changedColumns(record) : []
    return (exchanged.map { [problem(ofExchanged: $0)] } ?? [])
      + changed.map { "the initializer makes another value of “\(columns[$0].name)”" }
      + columns.indices.compactMap { codingProblem(of: $0, record, db) }
  }

  private func codingProblem(
    of column: Int, _ record: UnsafeRawPointer, _ db: Database
  ) -> String? {
    let name = columns[column].name
    do {
      let isEqual = try db.withRows(
        FixedSQL("SELECT ?"), bind: { try layout.bind(record, [column], to: $0) }
      ) { statement in
        guard try statement.step() else { return false }
        return try layout.withValue(of: column, statement.reader(at: 0)) {
          initializer.value(of: column, in: record)?.isEqual(toValueIn: $0) ?? false
        }
      }
      return isEqual ? nil : "“\(name)” comes back as another value than was stored"
    } catch let failure as ColumnFailure {
      return "“\(name)” can't be stored: \(failure.error)"
    } catch {
      return "“\(name)” can't be read as it is stored: \(error)"
    }
  }
}
