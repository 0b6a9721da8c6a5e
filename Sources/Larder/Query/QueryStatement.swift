import LarderSQLite

/// A statement that returns rows: a ``Query``, a ``Selection``, a ``Compound``, or one that is ``Mapped``.
public protocol QueryStatement<Row> {
  /// What a row is.
  associatedtype Row
  /// The statement with its arguments, for reading, logging and tests.
  var sql: SQL { get }
  /// The statement as it is written for a database's engine.
  @_documentation(visibility: internal)
  func sql(for db: Database) -> SQL
  /// All rows.
  func fetchAll(_ db: Database) throws -> [Row]
  /// Calls a closure with one row after the other, and keeps none.
  func forEach(_ db: Database, _ body: (Row) throws -> Void) throws
  /// No more rows than this, after leaving out some. A negative number counts as zero.
  func limit(_ count: Int, offset: Int) -> Self
  /// The statement with its first row alone.
  @_documentation(visibility: internal)
  var first: Self { get }
}

extension QueryStatement {
  /// The first row, or nil if there is none. Throws ``LarderSQLite/DatabaseError`` as all that runs a
  /// statement, and ``LarderSQLite/ConversionError`` for a value that doesn't fit its type.
  public func fetchOne(_ db: Database) throws -> Row? { try first.fetchAll(db).first }

  /// The number of rows as they are selected: an aggregate makes one of all. Throws
  /// ``LarderSQLite/DatabaseError``.
  public func fetchCount(_ db: Database) throws -> Int {
    let sql = sql(for: db)
    return try db.value(
      "SELECT count(*) FROM (\(sql)) AS counted", arguments: Arguments(), as: Int.self) ?? 0
  }

  /// How SQLite would run the statement, which doesn't run. Throws ``LarderSQLite/DatabaseError`` for
  /// one that isn't valid.
  public func explain(_ db: Database) throws -> QueryPlan { try QueryPlan(db, sql(for: db)) }

  /// The indexes that would make it faster, by
  /// ``LarderSQLite/Database/suggestedIndexes(for:)``: none where there are none.
  ///
  /// ```swift
  /// print(try City.filter { $0.name == "Oslo" }.suggestedIndexes(db).map(\.sql))
  /// ```
  ///
  /// Throws ``LarderSQLite/DatabaseError`` for a statement that isn't valid, and
  /// ``LarderSQLite/UnsupportedByEngine`` where the engine isn't SQLite.
  public func suggestedIndexes(_ db: Database) throws -> [IndexSchema] {
    try db.suggestedIndexes(for: sql(for: db))
  }
}

/// A statement that SQLite combines with others.
@_documentation(visibility: internal)
public protocol CombinableStatement<Row>: QueryStatement {
  /// The statement as a part of compound ones.
  var compound: Compound<Row> { get }
}

extension CombinableStatement {
  /// What this and another query have, each row once. See ``Compound``.
  public func union(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" UNION ", other.compound)
  }
  /// What this and another query have.
  public func unionAll(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" UNION ALL ", other.compound)
  }
  /// What is in both, each row once.
  public func intersect(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" INTERSECT ", other.compound, isTighter: true)
  }
  /// What is in this but not in the other, each row once.
  public func except(_ other: some CombinableStatement<Row>) -> Compound<Row> {
    compound.combined(" EXCEPT ", other.compound)
  }
}
