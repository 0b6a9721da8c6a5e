import LarderSQLite

// Running queries.

extension Query {
  /// All rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` or ``LarderSQLite/ConversionError`` for a
  ///   row that can't be read.
  @inlinable
  public func fetchAll(_ db: Database) throws -> [From.QueryRow] {
    var rows: [From.QueryRow] = []
    rows.reserveCapacity(select.expectedRowCount)
    let (read, columns) = reader
    // `forEach` isn't used: its closure would copy each row instead of moving it.
    try db.withRows(of: select.statement(columns, db)) { statement in
      statement.readAtOnce()
      let cursor = QueryCursor(statement)
      while try statement.step() { rows.append(try read(cursor)) }
    }
    return rows
  }

  /// The query limited to its first row.
  @_documentation(visibility: internal)
  public var first: Query {
    var first = self
    first.select.limit = min(1, select.limit ?? 1)
    return first
  }

  /// Calls a closure with each row in turn, without keeping any.
  /// - Throws: the errors of ``fetchAll(_:)``, and those of the closure.
  @inlinable
  public func forEach(_ db: Database, _ body: (From.QueryRow) throws -> Void) throws {
    let (read, columns) = reader
    try db.withRows(of: select.statement(columns, db)) { statement in
      let cursor = QueryCursor(statement)
      while try statement.step() { try body(read(cursor)) }
    }
  }

  /// The number of rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a table unlike its declaration.
  public func fetchCount(_ db: Database) throws -> Int {
    try db.value(select.rowCount(reader.columns), as: Int.self, default: 0)
  }

  /// Whether the query has any rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a table unlike its declaration.
  public func exists(_ db: Database) throws -> Bool {
    try db.value("SELECT \(select.exists)", as: Bool.self, default: false)
  }
}
