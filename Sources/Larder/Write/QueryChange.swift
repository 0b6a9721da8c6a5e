import LarderSQLite

/// A statement that changes a table's rows.
struct QueryChange {
  let core: TableCore
  let statement: SQLFragment
  let use: TableUse
  /// Makes the statement for a table that converts values, after it has checked those that are
  /// assigned; nil if no table of the declaration converts any.
  var keeping: (([ConvertingColumn]) throws -> SQLFragment)?

  /// Runs the statement, and returns the number of changed rows.
  func run(_ db: Database) throws -> Int {
    try withStatement(db) { statement in
      let statement = try db.take(statement, for: use)
      defer { db.giveBack(statement) }
      return try statement.run()
    }
  }

  /// Calls a closure with the statement, which returns some columns of each changed row.
  func rows<T>(
    _ db: Database, of columns: SQLFragment, _ body: (PreparedStatement) throws -> T
  ) throws -> T {
    try withStatement(db) { statement in
      func run(_ db: Database, _ columns: SQLFragment) throws -> T {
        try body(db.take(statement.returning(columns), for: use))
      }
      guard try core.misreturns(db, for: use) else { return try run(db, columns) }
      // Should a value be unreadable even so, the rows have changed already, which the transaction undoes.
      return try db.inTransaction { db in
        try run(db, db.engine == nil ? .list(columns.parts.map(Self.keepingType)) : columns)
      }
    }
  }

  /// The value of an expression of RETURNING in its own type, also where ``TableCore/misreturns(_:for:)``:
  /// SQLite takes it for a real number if its expression has the affinity of one, and a plus takes that away.
  private static func keepingType(_ column: SQLFragment) -> SQLFragment {
    "+\(column.parenthesized(in: .sign))"
  }

  private func withStatement<T>(_ db: Database, _ body: (SQLFragment) throws -> T) throws -> T {
    try db.whileSchemaStays {
      guard let keeping else { return try body(statement) }
      let converting = try core.converting(db)
      return try body(converting.isEmpty ? statement : keeping(converting))
    }
  }
}
