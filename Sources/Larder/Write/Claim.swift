import LarderSQLite

// UPDATE of a query's first rows, of which no two callers get the same one.

extension Query where From: Record {
  /// Updates at most `limit` of the query's rows, the first in its order, and returns the updated records in
  /// that order. No other caller gets the same rows, if the update takes them out of the query.
  ///
  /// ```swift
  /// let jobs = try Job.filter { $0.due <= now && $0.lockedAt == nil }
  ///   .order { ($0.due, $0.id) }
  ///   .claim(db, limit: 10) { $0.lockedAt = .value(now) }
  /// // UPDATE "job" SET "lockedAt" = ? WHERE ("id") IN (SELECT "job"."id" FROM "job" WHERE …
  /// //   ORDER BY "job"."due", "job"."id" LIMIT ?) RETURNING …
  /// ```
  ///
  /// SQLite has one writer at a time. On PostgreSQL the rows are locked before they are updated, and rows
  /// that others have locked are skipped
  /// ([SKIP LOCKED](https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE)): callers
  /// don't wait for each other.
  ///
  /// Throws as ``updated(_:_:)`` does, and ``LarderSQLite/DatabaseError`` if nothing is assigned.
  public func claim(
    _ db: Database, limit: Int, _ change: (inout Assignments<From>) -> Void
  ) throws -> [From] {
    let core = From.table.core
    guard select.groups == nil, select.groupCondition == nil, !select.isDistinct,
      !select.tables.isDerived
    else {
      throw DatabaseError(.misuse, "rows of a grouped, distinct or nested query can't be claimed")
    }
    let query = self.limit(min(limit, select.limit ?? limit), offset: select.offset)
    let isServer = db.engine != nil
    let update = try query.updating(From.self, change) { list in
      isServer
        ? try query.lockingUpdate(core, list) : try query.changing("UPDATE ", core, assigning: list)
    }
    guard let update else {
      throw DatabaseError(.misuse, "the claim assigns nothing: others would get the same rows")
    }
    if isServer { return try From.table.claimed(db, update) }
    guard select.order != nil, limit > 1 else { return try From.table.readAll(db, update) }
    // RETURNING has an order of its own. The keys are read before, since the update may change the terms of
    // the order.
    return try db.inTransaction { db in
      let keys = try query.keys(core, db)
      return try From.table.readAll(db, update, in: keys)
    }
  }

  /// The keys of the query's rows, in order.
  private func keys(_ core: TableCore, _ db: Database) throws -> [[DatabaseValue]: Int] {
    let key = core.sql.key(of: select.tables.alias(at: 0))
    let statement = try select.statement(.list(key), db)
    var keys: [[DatabaseValue]: Int] = [:]
    try db.withRows(of: statement) { statement in
      statement.readAtOnce()
      while try statement.step() {
        keys[try key.indices.map { try DatabaseValue(column: statement.reader(at: $0)) }] =
          keys.count
      }
    }
    return keys
  }

  /// The UPDATE of rows that it locks first, for a server. Its table `larder_claim` has the places of the
  /// rows in the query's order.
  private func lockingUpdate(_ core: TableCore, _ list: [SQLFragment]) throws -> SQLFragment {
    try core.checkHasKey()
    let alias = select.tables.alias(at: 0)
    let key = core.sql.key(of: alias)
    let names = key.indices.map { SQLFragment(text: "larder_\($0 + 1)") }
    let selected = SQLFragment.list(zip(key, names).map { "\($0) AS \($1)" })
    let condition = SQLFragment.list(
      zip(key, names).map { "\($0) = larder_claim.\($1)" }, separator: " AND ")
    let update = SQLFragment(
      .change(
        "UPDATE ", core.reference(as: alias.name), assigning: list, from: "larder_claim",
        where: condition), .lowest)
    // Materialized, because a subquery of the UPDATE may run more than once, and lock more rows each time.
    return """
      WITH larder_locked AS MATERIALIZED (\(select.fragment(selected)) FOR UPDATE SKIP LOCKED), \
      larder_claim AS (SELECT *, row_number() OVER () AS larder_place FROM larder_locked) \(update)
      """
  }
}

extension Table {
  /// The records of a locking update, in the order of their places.
  fileprivate func claimed(_ db: Database, _ update: QueryChange) throws -> [R] {
    let place = core.columns.count
    return try update.rows(
      db, of: "\(core.sql.columnList), larder_claim.larder_place"
    ) { statement in
      try readAll(db, statement) { try Int(column: statement.reader(at: place)) }
    }
  }

  /// The records that an update returns, in the order of their keys' numbers.
  fileprivate func readAll(
    _ db: Database, _ update: QueryChange, in places: [[DatabaseValue]: Int]
  ) throws -> [R] {
    try update.rows(db, of: core.sql.columnList) { statement in
      try readAll(db, statement) {
        let key = try core.sql.key.map { try DatabaseValue(column: statement.reader(at: $0)) }
        return places[key] ?? places.count
      }
    }
  }

  private func readAll(
    _ db: Database, _ statement: PreparedStatement, by place: () throws -> Int
  ) throws -> [R] {
    var records: [(place: Int, record: R)] = []
    try db.withRows(of: statement) { statement in
      statement.readAtOnce()
      try readAll(statement, core.identity.first) { records.append((try place(), $0)) }
    }
    records.sort { $0.place < $1.place }
    return records.map(\.record)
  }
}
