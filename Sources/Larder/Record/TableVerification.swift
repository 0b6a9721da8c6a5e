import LarderSQLite

extension Table {
  /// Checks, in a test, that records like these come back from a database as
  /// they were written; throws if they don't.
  ///
  /// ```swift
  /// @Test func declarations() throws {
  ///   try City.table.verify(City(id: 1, name: "Oslo", district: "Frogner", founded: day))
  /// }
  /// ```
  ///
  /// The table's initializer makes each record again from its properties, and each column's coding stores and
  /// reads its property in a database in memory. One ``RecordError/declaration(table:problem:)`` reports all
  /// values that aren't equal then. Give properties of the same type different values, or it doesn't show
  /// that they are exchanged. An initializer or a coding that rounds or trims passes the test with values
  /// that are rounded or trimmed already.
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
      + changed.map { "the initializer changes the value of “\(columns[$0].name)”" }
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
      return isEqual ? nil : "“\(name)” isn't read back as the value that was stored"
    } catch let failure as ColumnFailure {
      return "“\(name)” can't be stored: \(failure.error)"
    } catch {
      return "“\(name)” can't be read back: \(error)"
    }
  }
}
