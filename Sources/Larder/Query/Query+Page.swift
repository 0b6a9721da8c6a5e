// Keyset pagination: a page begins after the values of the last row, instead of counting rows with OFFSET,
// so that every page is as fast as the first one.

import LarderSQLite

extension Query {
  /// A page of the query's rows: the first one, or the one that follows another.
  ///
  /// ```swift
  /// let query = City.all.order { $0.population.desc }
  /// let first = try query.page(db, limit: 20)
  /// let second = try query.page(db, after: first.next, limit: 20)
  /// // … WHERE "city"."population" <= ? AND ("city"."population" < ? OR
  /// // "city"."population" = ? AND "city"."id" > ?)
  /// // ORDER BY "city"."population" DESC, "city"."id" LIMIT ?
  /// ```
  ///
  /// A page begins after the last row of the previous one, whatever was inserted or deleted since. It is as
  /// fast as the first one if an index has the query's order. The primary keys of all joined tables are added
  /// to the order to make it total. NULLs are ordered too, except in the key: where an Optional key can be
  /// NULL in the database, many rows can have that key, and this throws
  /// ``RecordError/declaration(table:problem:)``.
  ///
  /// The cursor is URL-safe text. It contains the last row's values of the ordering terms, which anybody
  /// can read. An altered cursor throws ``PageError`` or begins elsewhere in the same rows, no more; so does
  /// one of another order, but not one of another filter. A limit below 1 throws ``PageError/limit(_:)``. A
  /// query that is grouped, distinct or limited, or that reads from a table without a key such as a
  /// ``CommonTable``, throws ``LarderSQLite/DatabaseError``.
  public func page(
    _ db: Database, after cursor: String? = nil, limit: Int
  ) throws -> Page<From.QueryRow> {
    let (read, columns) = reader
    return try PagedSelect(select, From.self).page(db, of: columns, after: cursor, limit: limit) {
      try read(QueryCursor($0))
    }
  }
}

extension Selection {
  /// A page of the selection's rows: the first one, or the one that follows another. See
  /// ``Query/page(_:after:limit:)``, whose rules hold here too.
  ///
  /// ```swift
  /// let timeline = Entry.all.join(Feed.self) { $0.feed == $1.id }.order { entry, _ in entry.date.desc }
  ///   .select { ($0.title, $1.name) }
  /// let page = try timeline.page(db, after: cursor, limit: 20)
  /// ```
  ///
  /// Throws as that function does, and ``LarderSQLite/DatabaseError`` for a selection that is filtered after
  /// it was made, since its rows have no keys: filter the query before.
  public func page(
    _ db: Database, after cursor: String? = nil, limit: Int
  ) throws -> Page<Row> {
    let source = SelectionSource(accesses)
    return try paged(select).page(
      db, of: columns, count: accesses.count, after: cursor, limit: limit
    ) {
      do {
        return try read(RecordRow($0, source.positions.first, source.layout))
      } catch {
        throw source.describe(error, $0)
      }
    }
  }
}

extension Mapped {
  /// A page of the rows; see ``Selection/page(_:after:limit:)``. Throws as that function does.
  public func page<Result>(
    _ db: Database, after cursor: String? = nil, limit: Int
  ) throws -> Page<Result> where Statement == Selection<Result> {
    try statement.page(db, after: cursor, limit: limit)
  }
}
