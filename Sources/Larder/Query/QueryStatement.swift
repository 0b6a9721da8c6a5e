import LarderSQLite

/// A statement that returns rows: a ``Query``, a ``Selection``, a ``Compound``, or one that is ``Mapped``.
public protocol QueryStatement<Row> {
  /// The type of a row.
  associatedtype Row
  /// The statement with its arguments, for reading, logging and tests.
  var sql: SQL { get }
  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  func sql(for db: Database) -> SQL
  /// All rows.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` or ``LarderSQLite/ConversionError`` for a
  ///   row that can't be read.
  func fetchAll(_ db: Database) throws -> [Row]
  /// Calls a closure with each row in turn, without keeping any.
  /// - Throws: the errors of ``fetchAll(_:)``, and those of the closure.
  func forEach(_ db: Database, _ body: (Row) throws -> Void) throws
  /// At most `count` rows, after skipping `offset` rows. A negative number counts as zero.
  func limit(_ count: Int, offset: Int) -> Self
  /// The statement limited to its first row.
  @_documentation(visibility: internal)
  var first: Self { get }
}

extension QueryStatement {
  /// The first row, or nil if there is none. Throws as ``fetchAll(_:)`` does, for instance
  /// ``LarderSQLite/ConversionError`` for a value that doesn't fit its type.
  public func fetchOne(_ db: Database) throws -> Row? { try first.fetchAll(db).first }

  /// Calls a closure with arrays of at most `count` rows in turn, without keeping any other. One statement
  /// reads all of them. Throws the errors of ``fetchAll(_:)``, and those of the closure.
  ///
  /// ```swift
  /// try City.order { $0.id }.forEach(db, batchesOf: 1_000) { cities in try send(cities) }
  /// ```
  public func forEach(
    _ db: Database, batchesOf count: Int, _ body: ([Row]) throws -> Void
  ) throws {
    var batch: [Row] = []
    try forEach(db) { row in
      batch.append(row)
      guard batch.count >= count else { return }
      try body(batch)
      batch.removeAll(keepingCapacity: true)
    }
    if !batch.isEmpty { try body(batch) }
  }

  /// The number of selected rows; an aggregate without groups makes one row of all. Throws
  /// ``LarderSQLite/DatabaseError``.
  public func fetchCount(_ db: Database) throws -> Int {
    let sql = sql(for: db)
    return try db.value(
      "SELECT count(*) FROM (\(sql)) AS counted", arguments: Arguments(), as: Int.self) ?? 0
  }

  /// The plan by which SQLite would run the statement, which isn't run. Throws
  /// ``LarderSQLite/DatabaseError`` for an invalid statement.
  public func explain(_ db: Database) throws -> QueryPlan { try QueryPlan(db, sql(for: db)) }

  /// The indexes that would make the statement faster, found by
  /// ``LarderSQLite/Database/suggestedIndexes(for:)``; empty if there are none.
  ///
  /// ```swift
  /// print(try City.filter { $0.name == "Oslo" }.suggestedIndexes(db).map(\.sql))
  /// ```
  ///
  /// Throws ``LarderSQLite/DatabaseError`` for an invalid statement, and
  /// ``LarderSQLite/UnsupportedByEngine`` if the engine isn't SQLite.
  public func suggestedIndexes(_ db: Database) throws -> [IndexSchema] {
    try db.suggestedIndexes(for: sql(for: db))
  }
}

/// A statement whose rows can be combined with another's: a query, a selection or a ``Compound``.
public protocol CombinableStatement<Row>: QueryStatement {
  /// The statement as a part of compounds.
  @_documentation(visibility: internal)
  var compound: Compound<Row> { get }
}

extension CombinableStatement {
  /// The rows of this and another query, without duplicates. See ``Compound``.
  public func union(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" UNION ", other.compound)
  }
  /// The rows of this and another query, with duplicates.
  public func union(all other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" UNION ALL ", other.compound)
  }
  /// The rows that both queries have, without duplicates.
  public func intersect(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" INTERSECT ", other.compound, isTighter: true)
  }
  /// The rows of this query that the other doesn't have, without duplicates.
  public func except(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" EXCEPT ", other.compound)
  }
}
