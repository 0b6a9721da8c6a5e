import Larder
import Testing

@Suite("Arithmetic with nullable operands")
struct NullableArithmeticTests {
  let db: Database

  init() throws { db = try .world() }

  @Test("Arithmetic with a nullable column gives NULL where the column is NULL")
  func operators() throws {
    let query = Place.order { $0.id }.select {
      (
        $0.elevation + 1.5, $0.elevation - $0.elevation, $0.elevation * 2,
        ($0.elevation + 1) / 0
      )
    }
    #expect(
      query.snapshot.hasPrefix(
        """
        SELECT "place"."elevation" + ?, "place"."elevation" - "place"."elevation", \
        "place"."elevation" * ?, ("place"."elevation" + ?) / ? FROM
        """))
    let rows = try query.fetchAll(db)
    let sums: [Double?] = rows.map(\.0)
    #expect(sums == [45, 5.5, 24.5, nil])
    #expect(rows.map(\.1) == [0, 0, 0, nil] && rows.map(\.2) == [87, 8, 46, nil])
    #expect(rows.map(\.3) == [nil, nil, nil, nil])
  }

  @Test("A nullable and a non-null number can be added and multiplied in either order")
  func mixed() throws {
    let query = Nation.leftJoin(Place.self) { $0.capital == $1.name }.order { $0.0.code }
      .select { nation, place in
        (place.population + nation.code.length, nation.code.length * place.population)
      }
    #expect(query.snapshot.contains(#"length("country"."code") * "place"."population""#))
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [nil, 21_893_097, 709_039])
    #expect(rows.map(\.1) == [nil, 43_786_190, 1_418_074])
  }

  @Test("Negation, remainder and concatenation of nullable operands give NULL where one is NULL")
  func othersThanSums() throws {
    let query = Nation.leftJoin(Place.self) { $0.capital == $1.name }.order { $0.0.code }
      .select { nation, place in
        (
          -place.population, place.population % 10, place.population % place.population,
          place.name + "!", nation.capital + nation.code, nation.code + place.name,
          place.name + nation.capital
        )
      }
    #expect(
      query.snapshot.hasPrefix(
        #"SELECT -"place"."population", "place"."population" % ?, "#))
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [nil, -21_893_095, -709_037])
    #expect(rows.map(\.1) == [nil, 5, 7] && rows.map(\.2) == [nil, 0, 0])
    #expect(rows.map(\.3) == [nil, "北京市!", "Oslo!"])
    #expect(rows.map(\.4) == [nil, "北京市CN", "OsloNO"])
    #expect(rows.map(\.5) == [nil, "CN北京市", "NOOslo"])
    #expect(rows.map(\.6) == [nil, "北京市北京市", "OsloOslo"])
  }

  @Test("Compound assignments to a nullable column leave NULL as it is")
  func update() throws {
    try Place.all.update(db) { $0.elevation += 0.5 }
    try Place.filter { $0.id == 2 }.update(db) { $0.elevation *= 2 }
    try Place.filter { $0.id == 2 }.update(db) { $0.elevation -= 1 }
    let rows = try Place.order { $0.id }.fetchAll(db)
    #expect(rows.map(\.elevation) == [44, 8, 23.5, nil])
  }

  @Test("A nullable and a non-null number can be added, subtracted and divided")
  func mixedOthers() throws {
    let query = Nation.leftJoin(Place.self) { $0.capital == $1.name }.order { $0.0.code }
      .select { nation, place in
        (
          nation.code.length + place.population, place.population - nation.code.length,
          place.population / nation.code.length
        )
      }
    #expect(
      query.snapshot.hasPrefix(
        """
        SELECT length("country"."code") + "place"."population", \
        "place"."population" - length("country"."code"), \
        "place"."population" / length("country"."code") FROM
        """))
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [nil, 21_893_097, 709_039])
    #expect(rows.map(\.1) == [nil, 21_893_093, 709_035])
    #expect(rows.map(\.2) == [nil, 10_946_547, 354_518])
  }
}
