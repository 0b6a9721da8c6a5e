import LarderSQLite

// Joins with rows that are chosen for each row: LATERAL, and in SQLite, which has no such join, the keys of those rows.

extension Query where From: SingleSource {
  /// Joins each row with the rows of a query of its own (LATERAL): a limited query gives each row its first few.
  ///
  /// ```swift
  /// Country.all.join(lateral: { country in           // each country with its three largest cities
  ///   City.filter { $0.country == country.code }.order { $0.population.desc }.limit(3)
  /// })
  /// // SQLite:     … FROM "country" JOIN "city" ON ("city"."id") IN (SELECT "city"."id" FROM "city"
  /// //             WHERE "city"."country" = "country"."code" ORDER BY "city"."population" DESC LIMIT ?)
  /// // PostgreSQL: … FROM "country" JOIN LATERAL (SELECT * FROM "city" WHERE …) AS "city" ON TRUE
  /// ```
  ///
  /// The order of the closure's query chooses its rows; that of the result is a step of its own. Rows that have no
  /// match are left out. SQLite finds the rows by their keys, so a row whose key is NULL is left out there, and a
  /// record without a key throws ``LarderSQLite/DatabaseError`` when the query runs, as a grouped query does on either
  /// engine. See [LATERAL](https://www.postgresql.org/docs/current/queries-table-expressions.html#QUERIES-LATERAL).
  public func join<Other: Record>(
    lateral rows: (From.QueryFields) -> Query<Other>
  ) -> Query<Join2<From, Other>> {
    joined(.join, lateral: scoped(rows))
  }

  /// Joins each row with the rows of a query of its own; a row without any gets nil. See `join(lateral:)`.
  public func leftJoin<Other: Record>(
    lateral rows: (From.QueryFields) -> Query<Other>
  ) -> Query<Join2<From, Other?>> {
    joined(.leftJoin, lateral: scoped(rows))
  }
}

extension Query {
  /// Joins each row of two tables with the rows of a query of its own (LATERAL).
  public func join<A, B, Other: Record>(
    lateral rows: (A.QueryFields, B.QueryFields) -> Query<Other>
  ) -> Query<Join3<A, B, Other>> where From == Join2<A, B> {
    joined(.join, lateral: scoped { rows($0.0, $0.1) })
  }

  /// Joins each row of two tables with the rows of a query of its own; rows without any get nil.
  public func leftJoin<A, B, Other: Record>(
    lateral rows: (A.QueryFields, B.QueryFields) -> Query<Other>
  ) -> Query<Join3<A, B, Other?>> where From == Join2<A, B> {
    joined(.leftJoin, lateral: scoped { rows($0.0, $0.1) })
  }

  fileprivate func joined<Other: Record, New: QuerySource>(
    _ kind: SQLOperator, lateral rows: Query<Other>
  ) -> Query<New> {
    let core = Other.table.core
    let chosen = rows.select
    let source = SQLFragment(
      .form(.lateralRows, [chosen.fragment("*")], core.reference(as: core.name)))
    var select = select
    select.join(kind, QueryTableDefinition(name: core.name, source: source, codings: [])) { names in
      SQLExpression<Bool>(chosen.isMember(names.tables.aliases.last ?? .none, core))
    }
    return Query<New>(select)
  }
}

extension Record {
  /// Joins each record with the rows of a query of its own (LATERAL). See `Query.join`.
  public static func join<Other: Record>(
    lateral rows: (RecordFields<Self>) -> Query<Other>
  ) -> Query<Join2<Self, Other>> {
    all.join(lateral: rows)
  }

  /// Joins each record with the rows of a query of its own; a record without any gets nil. See `Query.leftJoin`.
  public static func leftJoin<Other: Record>(
    lateral rows: (RecordFields<Self>) -> Query<Other>
  ) -> Query<Join2<Self, Other?>> {
    all.leftJoin(lateral: rows)
  }
}

extension Select {
  /// Whether a table's row is one of this query's: what SQLite asks where others join the query itself.
  fileprivate func isMember(_ alias: QueryAlias, _ core: TableCore) -> SQLFragment {
    guard groups == nil, groupCondition == nil else {
      return .misuse("the rows of a grouped query can't be joined with each row")
    }
    func key(_ alias: QueryAlias) -> SQLFragment { .list(core.sql.key(of: alias)) }
    let member: SQLFragment =
      core.sql.key.isEmpty
      ? .misuse(
        "SQLite joins the rows of a query with each row by their key: “\(core.name)” has none")
      : "(\(key(alias))) IN (\(fragment(key(tables.alias(at: 0)))))"
    return SQLFragment(.form(.lateralCondition, ["TRUE"], member), isNullable: false)
  }
}
