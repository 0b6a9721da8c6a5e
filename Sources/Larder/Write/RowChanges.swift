import LarderSQLite

// UPDATE and DELETE of a query's rows.

extension Query where From: Record {
  /// Updates the query's rows and returns their number.
  ///
  /// A column that is marked ``ColumnOption/version`` is incremented.
  /// - Throws: ``LarderSQLite/DatabaseError``, also for a version that already is the greatest of its type,
  ///   and ``RecordError``.
  @discardableResult
  public func update(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> Int {
    try updating(From.self, change)?.run(db) ?? 0
  }

  /// Updates the query's rows and returns the updated records.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a row that can't be read.
  public func updated(
    _ db: Database, _ change: (inout Assignments<From>) -> Void
  ) throws -> [From] {
    guard let update = try updating(From.self, change) else { return [] }
    return try From.table.readAll(db, update)
  }

  /// Updates the query's rows and returns the values of expressions over the updated rows.
  ///
  /// ```swift
  /// let stock = try Item.filter { $0.id == 5 }.updated(db, returning: { ($0.id, $0.count) }) {
  ///   $0.count -= 1
  /// }
  /// // UPDATE "item" SET "count" = "item"."count" - ? WHERE "item"."id" = ?
  /// // RETURNING "item"."id", "item"."count"
  /// ```
  ///
  /// See [RETURNING](https://www.sqlite.org/lang_returning.html). Throws as `update` does, and
  /// ``LarderSQLite/ConversionError`` for a value that doesn't fit its type.
  public func updated<each Value>(
    _ db: Database,
    returning expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>),
    _ change: (inout Assignments<From>) -> Void
  ) throws -> [(repeat each Value)] {
    try select(expressions).rows(db, of: updating(From.self, change))
  }

  /// Updates the query's rows and returns the values of an expression over the updated rows. Throws as
  /// the form with several expressions does.
  public func updated<Value>(
    _ db: Database, returning expression: (From.QueryFields) -> SQLExpression<Value>,
    _ change: (inout Assignments<From>) -> Void
  ) throws -> [Value] {
    try select(expression).rows(db, of: updating(From.self, change))
  }

  /// Deletes the query's rows and returns their number.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError``, for instance for a view.
  @discardableResult
  public func delete(_ db: Database) throws -> Int {
    try deletion(From.self).run(db)
  }

  /// Deletes the query's rows and returns the deleted records.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError`` for a row that can't be read.
  public func deleted(_ db: Database) throws -> [From] {
    try From.table.readAll(db, deletion(From.self))
  }

  /// Deletes the query's rows and returns the values of expressions over them.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``LarderSQLite/ConversionError`` for a wrong value.
  public func deleted<each Value>(
    _ db: Database,
    returning expressions: (From.QueryFields) -> (repeat SQLExpression<each Value>)
  ) throws -> [(repeat each Value)] {
    try select(expressions).rows(db, of: deletion(From.self))
  }

  /// Deletes the query's rows and returns the values of an expression over them.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``LarderSQLite/ConversionError`` for a wrong value.
  public func deleted<Value>(
    _ db: Database, returning expression: (From.QueryFields) -> SQLExpression<Value>
  ) throws -> [Value] {
    try select(expression).rows(db, of: deletion(From.self))
  }
}

extension Query where From: JoinOfRecord {
  /// Updates the rows of the first table that occur in the join, and returns their number.
  ///
  /// ```swift
  /// City.join(Country.self) { $0.country == $1.code }.filter { $1.isGone }.update(db) { $0.country = nil }
  /// // UPDATE "city" SET "country" = ? WHERE ("id") IN (SELECT "city"."id" FROM "city" JOIN …)
  /// ```
  ///
  /// Throws as the form for queries of one table does.
  @discardableResult
  public func update(
    _ db: Database, _ change: (inout Assignments<From.First>) -> Void
  ) throws -> Int {
    try updating(From.First.self, change)?.run(db) ?? 0
  }

  /// Deletes the rows of the first table that occur in the join, and returns their number.
  /// - Throws: ``LarderSQLite/DatabaseError``, and ``RecordError``, for instance for a view.
  @discardableResult
  public func delete(_ db: Database) throws -> Int {
    try deletion(From.First.self).run(db)
  }
}

extension Table {
  /// The records that a statement returns for the rows that it changes.
  func readAll(_ db: Database, _ change: QueryChange) throws -> [R] {
    try change.rows(db, of: core.sql.columnList) { statement in
      var records: [R] = []
      try db.withRows(of: statement) { statement in
        statement.readAtOnce()
        try readAll(statement, core.identity.first) { records.append($0) }
      }
      return records
    }
  }
}

extension Query {
  /// Whether the query's own condition can stand in the UPDATE or DELETE, rather than a list of selected
  /// keys.
  private var changesOwnRows: Bool {
    select.isPlain && select.tables.aliases.count == 1 && !select.tables.isDerived
  }

  /// The way in which an UPDATE or DELETE of the query's rows uses the table.
  fileprivate var changeUse: TableUse { changesOwnRows ? .change : .row }

  /// The UPDATE of the first table; nil if nothing is assigned.
  ///
  /// - Parameters:
  ///   - isQualified: whether other tables may have columns of the same names.
  ///   - make: makes the statement with its assignments.
  func updating<R: Record>(
    _ type: R.Type, qualified isQualified: Bool = false,
    _ change: (inout Assignments<R>) -> Void,
    by make: @escaping ([SQLFragment]) throws -> SQLFragment
  ) throws -> QueryChange? {
    let core = R.table.core
    try core.checkWritable()
    let alias = select.tables.alias(at: 0)
    var assignments = Assignments<R>(alias)
    QueryScope.run(select.tables) { change(&assignments) }
    if core.hasTimestamps {
      let now = ColumnTimestamp.now
      assignments.stamp(core) { $1.stored(now) }
    }
    let raised = { RecordSQL.raised(core.columns[$0], of: isQualified ? alias : nil) }
    let list = try assignments.list(core, raised: raised)
    if list.isEmpty { return nil }
    var update = QueryChange(core: core, statement: try make(list), use: changeUse)
    if core.mayConvert {
      update.keeping = { [assignments] converting in
        try core.check(assignments.values, converting)
        let list = try assignments.list(core, raised: raised, converting)
        return try make(list)
      }
    }
    return update
  }

  private func updating<R: Record>(
    _ type: R.Type, _ change: (inout Assignments<R>) -> Void
  ) throws -> QueryChange? {
    try updating(type, change) { try changing("UPDATE ", R.table.core, assigning: $0) }
  }

  private func deletion<R: Record>(_ type: R.Type) throws -> QueryChange {
    let core = R.table.core
    try core.checkWritable()
    return QueryChange(core: core, statement: try changing("DELETE FROM ", core), use: changeUse)
  }

  /// The statement, restricted to the query's rows: by the query's own condition or, if the query is
  /// limited or joined, by `key IN (SELECT …)`.
  func changing(
    _ words: StaticString, _ core: TableCore, assigning list: [SQLFragment] = []
  ) throws -> SQLFragment {
    let tables = select.tables
    if changesOwnRows {
      return SQLFragment(
        .change(words, tables.text, assigning: list, where: select.condition), .lowest)
    }
    guard select.groups == nil, select.groupCondition == nil, !select.isDistinct else {
      throw DatabaseError(.misuse, "rows of a grouped or distinct query can't be changed")
    }
    try core.checkHasKey()
    let alias = tables.alias(at: 0)
    let key = core.sql.names(core.sql.key)
    let selected = core.sql.key(of: alias)
    return SQLFragment(
      .change(
        words, core.reference(as: alias.name), assigning: list,
        where: "(\(key)) IN (\(select.fragment(.list(selected))))"), .lowest)
  }
}

extension Selection {
  /// The selection's rows, which a statement returns; empty without a statement.
  fileprivate func rows(_ db: Database, of change: QueryChange?) throws -> [Row] {
    guard let change else { return [] }
    return try change.rows(db, of: columns) {
      try SelectionSource(accesses).rows($0, db, expecting: 0, read)
    }
  }
}

// Calls as other libraries have them, for the compiler's message; see WrongExpressions.swift.

extension Record {
  /// Not available: a query says which rows are meant.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "say which rows: filter { … }.delete(db), or all.delete(db) for every row"
  )
  public static func delete(_ db: Database) -> Int { 0 }

  /// Not available: a query says which rows are meant.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "say which rows: filter { … }.delete(db), or all.delete(db) for every row"
  )
  public static func delete<Condition>(
    _ db: Database, _ condition: (RecordFields<Self>) -> Condition
  ) -> Int { 0 }

  /// Not available: a query says which rows are meant.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "say which rows: filter { … }.update(db) { … }, or all.update(db) { … } for every row"
  )
  public static func update(_ db: Database, _ change: (inout Assignments<Self>) -> Void) -> Int {
    0
  }
}
