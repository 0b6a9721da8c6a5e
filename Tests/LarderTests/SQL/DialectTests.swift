import Larder
import Testing

@Suite("Another dialect") struct DialectTests {
  private func other(_ query: Query<Place>) -> String {
    query.sql(in: OtherDialect()).text.components(after: " FROM ")
  }

  @Test("A dialect numbers its placeholders in the order of the values")
  func placeholders() {
    let query = Place.filter { $0.population > 1 && $0.name < "M" && $0.id.isNotNull }
    #expect(
      other(query) == """
        "place" WHERE "place"."population" > $1 AND "place"."name" < $2 AND "place"."id" IS NOT NULL
        """)
    #expect(query.sql(in: OtherDialect()).arguments.count == 2)
  }

  @Test("A dialect can write null-safe equality in its own way")
  func nullSafeEquality() {
    #expect(
      other(Place.filter { $0.elevation == nil || $0.elevation != 3 }) == """
        "place" WHERE ("place"."elevation" IS NULL \
        OR "place"."elevation" IS DISTINCT FROM $1)
        """)
    #expect(
      other(Place.filter { $0.elevation == $0.elevation })
        == #""place" WHERE "place"."elevation" IS NOT DISTINCT FROM "place"."elevation""#)
  }

  @Test("A dialect can bind a list as a single value")
  func membership() {
    let query = Place.filter { $0.name.in(["Oslo", "北京市"]) && !$0.population.in([1, 2, 3]) }
    #expect(
      other(query)
        == #""place" WHERE "place"."name" = ANY($1) AND NOT "place"."population" = ANY($2)"#)
    let values = query.sql(in: OtherDialect()).arguments.positional.compactMap { $0 as? String }
    #expect(values == ["2 values", "3 values"])
  }

  @Test("A dialect writes its own limit in queries, subqueries and compounds")
  func limit() {
    #expect(
      other(Place.order { $0.name }.limit(3, offset: 5)) == """
        "place" ORDER BY "place"."name" OFFSET $1 ROWS FETCH FIRST $2 ROWS ONLY
        """)
    let largest = Place.aliased("p").order { $0.population.desc }.limit(2).select { $0.name }
    #expect(
      other(Place.filter { $0.name.in(largest) }.limit(1)) == """
        "place" WHERE "place"."name" IN (SELECT "p"."name" FROM "place" AS "p" \
        ORDER BY "p"."population" DESC FETCH FIRST $1 ROWS ONLY) FETCH FIRST $2 ROWS ONLY
        """)
    let both = largest.union(Place.select { $0.country }).limit(4).sql(in: OtherDialect()).text
    #expect(
      both.hasSuffix(#"UNION SELECT "place"."country" FROM "place" FETCH FIRST $2 ROWS ONLY"#))
  }

  @Test("A dialect names the types of casts")
  func types() {
    #expect(
      other(Place.filter { $0.name.cast(to: Int.self) == 1 })
        == #""place" WHERE CAST("place"."name" AS INTEGER_TYPE) = $1"#)
  }

  @Test("A dialect names the types of a table's columns")
  func columnTypes() throws {
    let place = try Place.table.schema(dateFormat: .iso8601, in: OtherDialect())
    #expect(
      place.columns.map(\.type) == [
        "INTEGER_TYPE", "TEXT_TYPE", "INTEGER_TYPE", "TEXT_TYPE", "TEXT_TYPE", "REAL_TYPE",
      ])
    #expect(place.sql.contains(#""id" INTEGER_TYPE PRIMARY KEY,"#))
  }

  @Test("A dialect can rewrite hasPrefix, hasSuffix and position as single forms")
  func forms() throws {
    struct Named: Dialect {
      func placeholder(_ number: Int) -> String { "?" }
      func typeName(of type: ColumnType) -> String { "" }
      func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
        guard case .form(let form, let operands, _) = fragment.content else { return nil }
        return "\(text: "\(form)")(\(.list(operands)))"
      }
    }
    let query = Place.filter {
      $0.name.hasPrefix("O") && $0.name.hasSuffix("lo") && $0.name.position(of: "s") == 1
    }
    #expect(
      query.sql(in: Named()).text.components(after: " WHERE ") == """
        hasPrefix("place"."name", ?) AND hasSuffix("place"."name", ?) \
        AND position("place"."name", ?) IS ?
        """)
  }

  @Test("A dialect numbers the parameters of a record's statements")
  func recordStatements() {
    #expect(
      Nation.table.statements(in: OtherDialect()) == [
        #"INSERT INTO "country" ("code", "name", "capital") VALUES ($1, $2, $3)"#,
        #"UPDATE "country" SET "name" = $1, "capital" = $2 WHERE "code" = $3"#,
        """
        INSERT INTO "country" ("code", "name", "capital") VALUES ($1, $2, $3) \
        ON CONFLICT ("code") DO UPDATE SET "name" = excluded."name", "capital" = excluded."capital"
        """,
        #"DELETE FROM "country" WHERE "code" = $1"#,
        #"SELECT "code", "name", "capital" FROM "country" WHERE "code" = $1"#,
        #"SELECT "code", "name", "capital" FROM "country""#,
      ])
  }

  @Test("A dialect numbers the values of raw SQL together with the others")
  func ownSQL() {
    let query = Place.filter {
      $0.population > 5 && SQLExpression(sql: "unicode(\($0.name.sql)) BETWEEN \(65) AND \(90)")
        && $0.country == "NO"
    }
    #expect(
      other(query) == """
        "place" WHERE "place"."population" > $1 AND (unicode("place"."name") BETWEEN $2 AND $3) \
        AND "place"."country" = $4
        """)
  }

  @Test("A dialect that rewrites nothing writes SQLite's SQL")
  func same() {
    let query = Place.filter { $0.population > 5 }.order { $0.name.desc }
    #expect(query.sql(in: SQLiteDialect()).text == query.sql.text)
  }
}

extension String {
  fileprivate func components(after word: String) -> String {
    guard let range = firstRange(of: word) else { return self }
    return String(self[range.upperBound...])
  }
}
