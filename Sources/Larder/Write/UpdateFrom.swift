import LarderSQLite

// UPDATE … FROM: the rows of a join's first table get values of the other tables.

extension Query {
  /// Updates the rows of the first table that occur in the join, also with values of the second table, and
  /// returns their number.
  ///
  /// ```swift
  /// City.join(Country.self) { $0.country == $1.code }.update(db) { $0.name = $0.name + ", " + $1.name }
  /// // UPDATE "city" SET "name" = "city"."name" || ? || "country"."name"
  /// // FROM "country" WHERE "city"."country" = "country"."code"
  /// ```
  ///
  /// All joins have to be inner ones, and the query neither grouped nor limited. If a row has several rows of
  /// the other tables beside it, it gets the values of one of them, and nothing says of which. See
  /// [UPDATE FROM](https://www.sqlite.org/lang_update.html#update_from).
  ///
  /// Throws ``LarderSQLite/DatabaseError`` and ``RecordError`` as the form for queries of one table does.
  @discardableResult
  public func update<A: Record, B: SingleSource>(
    _ db: Database, _ change: (inout Assignments<A>, B.QueryFields) -> Void
  ) throws -> Int where From == Join2<A, B> {
    try updatingFromOthers(A.self) { [fields] in change(&$0, fields.1) }?.run(db) ?? 0
  }

  /// Updates the rows of the first of three tables, as in a join of two.
  @discardableResult
  public func update<A: Record, B: SingleSource, C: SingleSource>(
    _ db: Database, _ change: (inout Assignments<A>, B.QueryFields, C.QueryFields) -> Void
  ) throws -> Int where From == Join3<A, B, C> {
    try updatingFromOthers(A.self) { [fields] in change(&$0, fields.1, fields.2) }?.run(db) ?? 0
  }

  /// Updates the rows of the first of four tables, as in a join of two.
  @discardableResult
  public func update<A: Record, B: SingleSource, C: SingleSource, D: SingleSource>(
    _ db: Database,
    _ change: (inout Assignments<A>, B.QueryFields, C.QueryFields, D.QueryFields) -> Void
  ) throws -> Int where From == Join4<A, B, C, D> {
    try updatingFromOthers(A.self) { [fields] in
      change(&$0, fields.1, fields.2, fields.3)
    }?.run(db) ?? 0
  }

  /// Not available: a left join may have no row to take values from.
  @available(
    *, unavailable,
    message: """
      a left join may have no row to take values from: use join, or assign a subquery's value in \
      update(db) { $0.x = … }
      """
  )
  @discardableResult @_documentation(visibility: internal)
  public func update<A: Record, B: Record>(
    _ db: Database, _ change: (inout Assignments<A>, OptionalFields<B>) -> Void
  ) throws -> Int where From == Join2<A, B?> { 0 }

  private func updatingFromOthers<R: Record>(
    _ type: R.Type, _ change: (inout Assignments<R>) -> Void
  ) throws -> QueryChange? {
    try updating(type, qualified: true, change) { try updateFromOthers(R.table.core, $0) }
  }

  /// The UPDATE whose FROM has all tables but the first. Their conditions move to its WHERE, since a server
  /// doesn't know the updated table in those of joins.
  private func updateFromOthers(_ core: TableCore, _ list: [SQLFragment]) throws -> SQLFragment {
    var others: [SQLFragment] = []
    var conditions = select.condition.map { [$0] } ?? []
    var rest = select.tables.text
    while others.count + 1 < select.tables.aliases.count {
      guard rest.operation == .on, let condition = rest.right, let join = rest.left,
        join.operation == .join, let table = join.right, let left = join.left, select.isPlain
      else {
        throw DatabaseError(
          .misuse,
          "only the rows of plain inner joins can be updated with values of the joined tables")
      }
      others.insert(table, at: 0)
      conditions.insert(condition, at: 0)
      rest = left
    }
    var all = Select(select.tables)
    for condition in conditions { all.add(condition: condition) }
    return SQLFragment(
      .change(
        "UPDATE ", core.reference(as: select.tables.alias(at: 0).name), assigning: list,
        from: .list(others), where: all.condition), .lowest)
  }
}
