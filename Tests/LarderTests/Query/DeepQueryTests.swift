import Larder
import PostgresSupport
import Testing

@Suite("Very large queries") struct DeepQueryTests {
  @Test(
    "A query of 20,000 conditions is built, written and freed without a stack overflow")
  func manyConditions() throws {
    var query = City.all
    for number in 0..<20_000 { query = query.filter { $0.id != Int64(number) } }
    #expect(query.sql.arguments.count == 20_000)
    #expect(query.snapshot.hasSuffix(#" AND "city"."id" IS NOT ?"#))

    let condition = City.filter { city in
      (1..<20_000).reduce(city.id == 0) { $0 || city.id == Int64($1) }
    }
    #expect(condition.sql.arguments.count == 20_000)
    let nested = City.filter { city in
      (0..<20_000).reduce(city.id == 0) { condition, _ in !condition }
    }
    #expect(nested.snapshot.utf8.count > 4 * 20_000)
  }

  @Test("A query beyond SQLite's depth limit throws instead of crashing")
  func tooDeep() throws {
    let db = try Database.empty()
    try City.table.create(db)
    let query = City.filter { city in
      (0..<20_000).reduce(city.id == 0) { condition, number in
        number.isMultiple(of: 2) ? condition && city.id != 1 : condition || city.id == 2
      }
    }
    #expect(throws: DatabaseError.self) { try query.fetchAll(db) }
    #expect(try City.all.fetchCount(db) == 0)
  }
}
