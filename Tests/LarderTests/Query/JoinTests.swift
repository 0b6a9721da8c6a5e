import Larder
import Testing

@Suite("Joins of two to four tables")
struct JoinTests {
  private let db: Database

  init() throws { db = try .world() }

  private func joins<From>(_ query: Query<From>) -> String {
    let text = query.snapshot
    return text.range(of: " FROM ").map { String(text[$0.upperBound...]) } ?? text
  }

  @Test("An inner join omits unmatched rows, and a left join has nil for them")
  func two() throws {
    let inner = Nation.join(Place.self) { $0.capital == $1.name }
    #expect(
      joins(inner) == #""country" JOIN "place" ON "country"."capital" IS "place"."name""#)
    let pairs = try inner.order { $0.0.code }.fetchAll(db)
    #expect(pairs.map { "\($0.0.code) \($0.1.id ?? 0)" } == ["CN 1", "NO 3"])

    let left = Nation.leftJoin(Place.self) { $0.capital == $1.name }
    #expect(
      joins(left) == #""country" LEFT JOIN "place" ON "country"."capital" IS "place"."name""#)
    let all = try left.order { $0.0.code }.fetchAll(db)
    #expect(all.map { "\($0.0.code) \($0.1?.id ?? 0)" } == ["AQ 0", "CN 1", "NO 3"])
  }

  @Test("A third table can be inner or left joined")
  func three() throws {
    let pairs = Place.join(Nation.self) { $0.country == $1.code }
    let inner = pairs.join(Place.self) { place, nation, other in
      other.country == nation.code && other.id > place.id
    }
    #expect(
      joins(inner) == """
        "place" JOIN "country" ON "place"."country" = "country"."code" \
        JOIN "place" AS "place_2" ON "place_2"."country" = "country"."code" \
        AND "place_2"."id" > "place"."id"
        """)
    let found = try inner.order { place, _, other in [place.id.asc, other.id.asc] }.fetchAll(db)
    #expect(found.map { "\($0.0.id ?? 0) \($0.2.id ?? 0)" } == ["1 2", "1 4", "2 4"])

    let left = pairs.leftJoin(Place.self) { place, nation, other in
      other.country == nation.code && other.id > place.id
    }
    #expect(
      joins(left) == """
        "place" JOIN "country" ON "place"."country" = "country"."code" \
        LEFT JOIN "place" AS "place_2" ON "place_2"."country" IS "country"."code" \
        AND "place_2"."id" > "place"."id"
        """)
    let all = try left.order { place, _, other in [place.id.asc, other.id.asc] }.fetchAll(db)
    #expect(
      all.map { "\($0.0.id ?? 0) \($0.2?.id ?? 0)" } == ["1 2", "1 4", "2 4", "3 0", "4 0"])
    #expect(try left.fetchCount(db) == 5)
  }

  @Test("A fourth table can be inner or left joined")
  func four() throws {
    let triples = Place.join(Nation.self) { $0.country == $1.code }
      .leftJoin(Place.self) { place, nation, capital in nation.capital == capital.name }
    let inner = triples.join(Nation.self) { _, nation, capital, other in
      other.capital == capital.name && other.code != "NO"
    }
    #expect(
      joins(inner) == """
        "place" JOIN "country" ON "place"."country" = "country"."code" \
        LEFT JOIN "place" AS "place_2" ON "country"."capital" IS "place_2"."name" \
        JOIN "country" AS "country_2" ON "country_2"."capital" IS "place_2"."name" \
        AND "country_2"."code" <> ?
        """)
    let found = try inner.order { place, _, _, _ in place.id }.fetchAll(db)
    #expect(found.map { "\($0.0.id ?? 0) \($0.3.code)" } == ["1 CN", "2 CN", "4 CN"])

    let left = triples.leftJoin(Nation.self) { _, _, capital, other in
      other.capital == capital.name && other.code != "NO"
    }
    #expect(
      joins(left) == """
        "place" JOIN "country" ON "place"."country" = "country"."code" \
        LEFT JOIN "place" AS "place_2" ON "country"."capital" IS "place_2"."name" \
        LEFT JOIN "country" AS "country_2" ON "country_2"."capital" IS "place_2"."name" \
        AND "country_2"."code" IS NOT ?
        """)
    let all = try left.order { place, _, _, _ in place.id }.fetchAll(db)
    #expect(
      all.map { "\($0.0.id ?? 0) \($0.2?.name ?? "–") \($0.3?.code ?? "–")" }
        == ["1 北京市 CN", "2 北京市 CN", "3 Oslo –", "4 北京市 CN"])
  }
}
