import Larder
import PostgresSupport
import TestSupport
import Testing

/// A measured value, whose station and kind make groups.
private struct Reading: Record, Equatable {
  var id: Int64?
  var station: String?
  var kind: Int
  var value: Double

  struct Columns: Sendable {
    let id = Column("id", \Reading.id, .primaryKey)
    let station = Column("station", \Reading.station)
    let kind = Column("kind", \Reading.kind)
    let value = Column("value", \Reading.value)
  }
  static let columns = Columns()
  static let table = Table(
    "reading", Reading.init, columns.id, columns.station, columns.kind, columns.value)
}

@Suite("The first row of each group")
struct DistinctRowTests {
  let db: Database
  private let all: [Reading]

  init() throws {
    db = try Database.empty()
    try Reading.table.create(db)
    var generator = SeededGenerator(seed: 8)
    let stations = ["a", "b", "C", nil]
    try Reading.insert(
      db,
      contentsOf: (0..<200).map { _ in
        Reading(
          id: nil, station: stations.randomElement(using: &generator) ?? nil,
          kind: Int.random(in: 0..<4, using: &generator),
          value: Double(Int.random(in: 0..<9, using: &generator)))
      })
    all = try Reading.order { $0.id }.fetchAll(db)
  }

  /// The first of each group in order, and then by their keys, as Swift finds them.
  private func firsts<Group: Hashable>(
    _ rows: [Reading], by group: (Reading) -> Group, _ isBefore: (Reading, Reading) -> Bool
  ) -> Set<Int64?> {
    let sorted = rows.enumerated().sorted {
      isBefore($0.element, $1.element)
        || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
    var seen: Set<Group> = []
    return Set(sorted.filter { seen.insert(group($0)).inserted }.map(\.id))
  }

  @Test("`distinct` with a closure keeps the first row of each group, in the query's order")
  func first() throws {
    let largest = try Reading.order { $0.value.desc }.distinct { $0.station }.fetchAll(db)
    #expect(largest.count == 4)
    #expect(Set(largest.map(\.id)) == firsts(all, by: \.station) { $0.value > $1.value })
    #expect(zip(largest, largest.dropFirst()).allSatisfy { $0.value >= $1.value })
    let pairs = try Reading.filter { $0.value > 2 }.order { ($0.station, $0.value) }
      .distinct { ($0.station, $0.kind) }.fetchAll(db)
    let expected = firsts(
      all.filter { $0.value > 2 }, by: { [$0.station ?? "-", "\($0.kind)"] }
    ) {
      ($0.station ?? "", $0.value) < ($1.station ?? "", $1.value)
    }
    #expect(Set(pairs.map(\.id)) == expected)
    // Without an order, the key decides.
    let byKey = try Reading.all.distinct { $0.kind }.order { $0.id }.fetchAll(db)
    #expect(Set(byKey.map(\.id)) == firsts(all, by: \.kind) { _, _ in false })
    #expect(try Reading.all.distinct { $0.kind % 2 }.fetchCount(db) == 2)
  }

  @Test("PostgreSQL's DISTINCT ON finds the same rows", .enabled(if: TestEngine.isPostgres))
  func distinctOn() throws {
    let found = try Reading.order { ($0.kind, $0.value.desc) }.distinct { $0.kind }.fetchAll(db)
    let same = try Reading.fetchAll(
      db, sql: "SELECT DISTINCT ON (kind) * FROM reading ORDER BY kind, value DESC, id")
    #expect(found == same)
  }

  @Test("Steps after it work on the chosen rows")
  func steps() throws {
    let first = Reading.order { $0.value.desc }.distinct { $0.station }
    let high = first.filter { $0.station != nil }
    #expect(try high.fetchCount(db) == 3)
    #expect(try high.limit(2).fetchAll(db).count == 2)
    #expect(try high.select { $0.value.max() }.fetchOne(db) == 8)
    #expect(try first.filter { $0.station == nil }.fetchOne(db) != nil)
    let twice = try first.distinct { $0.kind % 1 }.fetchAll(db)
    #expect(twice.count == 1)
    let joined = try first.join(Reading.self) { $0.id == $1.id }.fetchAll(db)
    #expect(joined.count == 4 && joined.allSatisfy { $0.0 == $0.1 })
    #expect(try high.update(db) { $0.value = .value(100) } == 3)
    #expect(try Reading.filter { $0.value == 100 }.fetchCount(db) == 3)
    #expect(try first.delete(db) == 4)
    #expect(try Reading.all.fetchCount(db) == 196)
  }

  @Test("A grouped, distinct or limited query has no first rows, and can't be claimed either")
  func refused() throws {
    for query in [
      Reading.all.limit(5), Reading.all.distinct(), Reading.all.group { $0.kind },
    ] {
      #expect(throws: DatabaseError.self) { try query.distinct { $0.kind }.fetchAll(db) }
    }
    #expect(throws: DatabaseError.self) {
      try Reading.all.distinct { $0.kind }.claim(db, limit: 1) { $0.value = .value(1) }
    }
  }
}
