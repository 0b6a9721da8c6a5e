import Larder
import PostgresSupport
import Testing

private enum InvalidTown: Error, Equatable {
  case negativePopulation, untouchable, unreadable
}

/// A record with all hooks.
private struct Hamlet: RecordHooks, Equatable {
  var id: Int64?
  var name: String
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \Hamlet.id, .primaryKey)
    let name = Column("name", \Hamlet.name)
    let population = Column("population", \Hamlet.population)
  }
  static let columns = Columns()
  static let table = Table("city", Hamlet.init, columns.id, columns.name, columns.population)

  func validate() throws {
    if population < 0 { throw InvalidTown.negativePopulation }
  }
  mutating func willInsert(_ db: Database) throws {
    if name == "Atlantis" { throw InvalidTown.untouchable }
    name += "+"
  }
  mutating func willUpdate(_ db: Database) throws {
    if name == "Atlantis" { throw InvalidTown.untouchable }
    name += "*"
  }
  func willDelete(_ db: Database) throws {
    if name.hasPrefix("Oslo") { throw InvalidTown.untouchable }
  }
  mutating func didFetch() throws {
    if name == "?" { throw InvalidTown.unreadable }
    population *= 10
  }
}

@Suite("Hooks of records")
struct HookTests {
  let db: Database

  init() throws { db = try City.database() }

  private func stored() throws -> [String] { try City.fetchAll(db).map(\.name) }

  @Test("willInsert changes a record before each kind of insertion")
  func willInsert() throws {
    var oslo = Hamlet(id: nil, name: "Oslo", population: 1)
    try oslo.insert(db)
    #expect(oslo == Hamlet(id: 1, name: "Oslo+", population: 1))
    var bergen = Hamlet(id: nil, name: "Bergen", population: 1)
    try bergen.insert(db, or: .ignore)
    var hamar = Hamlet(id: 3, name: "Hamar", population: 1)
    try hamar.upsert(db)
    _ = try Hamlet(id: nil, name: "Molde", population: 1).inserted(db)
    var voss = Hamlet(id: nil, name: "Voss", population: 1)
    try voss.save(db)
    #expect(try stored() == ["Oslo+", "Bergen+", "Hamar+", "Molde+", "Voss+"])
    let towns = (0..<2000).map { Hamlet(id: nil, name: "\($0)", population: 1) }
    try Hamlet.insert(db, contentsOf: towns)
    _ = try Hamlet.inserted(db, contentsOf: [Hamlet(id: nil, name: "x", population: 1)])
    #expect(try stored().count == 2006)
    #expect(try stored().allSatisfy { $0.hasSuffix("+") && !$0.hasSuffix("++") })
  }

  @Test("Hooks that a record doesn't implement do nothing")
  func defaults() throws {
    struct Plain: RecordHooks, Equatable {
      var id: Int64?
      var name: String
      var population: Int
      static let columns = [Column("id", \Plain.id, .primaryKey)]
      static let table = Table(
        "city", Plain.init, columns[0], Column("name", \.name), Column("population", \.population))
    }
    var oslo = Plain(id: nil, name: "Oslo", population: 1)
    try oslo.insert(db)
    oslo.population = 2
    try oslo.update(db)
    #expect(try Plain.fetchAll(db) == [Plain(id: 1, name: "Oslo", population: 2)])
    #expect(try oslo.delete(db))
  }

  @Test("willUpdate changes a record before each kind of update")
  func willUpdate() throws {
    var oslo = Hamlet(id: nil, name: "Oslo", population: 1)
    try oslo.insert(db)
    try oslo.update(db)
    #expect(try stored() == ["Oslo+*"])
    try oslo.update(db, Hamlet.columns.name)
    #expect(try stored() == ["Oslo+**"])
    #expect(try oslo.update(db, changedSince: oslo))
    #expect(try stored() == ["Oslo+***"])
    oslo = try oslo.updated(db)
    try oslo.save(db)
    #expect(try stored() == ["Oslo+*****"])
  }

  @Test("An error thrown by a hook refuses the record, and nothing is written")
  func refusing() throws {
    var kept = Hamlet(id: 1, name: "Molde", population: 1)
    try kept.insert(db)
    let before = try City.fetchAll(db)
    var wrong = Hamlet(id: 1, name: "Nowhere", population: -1)
    #expect(throws: InvalidTown.negativePopulation) { try wrong.insert(db) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.insert(db, or: .replace) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.inserted(db) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.update(db) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.update(db, Hamlet.columns.name) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.update(db, changedSince: kept) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.updated(db) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.save(db) }
    #expect(throws: InvalidTown.negativePopulation) { try wrong.upsert(db) }
    var atlantis = Hamlet(id: 1, name: "Atlantis", population: 1)
    #expect(throws: InvalidTown.untouchable) { try atlantis.insert(db) }
    #expect(throws: InvalidTown.untouchable) { try atlantis.update(db) }
    #expect(throws: InvalidTown.untouchable) {
      try Hamlet(id: 1, name: "Oslo", population: 1).delete(db)
    }
    #expect(try City.fetchAll(db) == before)
    #expect(!db.isInTransaction)
  }

  @Test("An error thrown by a hook for one record undoes its batch", arguments: [0, 127, 1500])
  func batch(index: Int) throws {
    var towns = (0..<2000).map { Hamlet(id: nil, name: "\($0)", population: 1) }
    towns[index].population = -1
    var failure = BatchFailure { try Hamlet.insert(db, contentsOf: towns) }
    #expect(failure?.index == index)
    #expect(failure?.error as? InvalidTown == .negativePopulation)
    failure = BatchFailure { try Hamlet.inserted(db, contentsOf: towns) }
    #expect(failure?.index == index)
    #expect(try stored().isEmpty)
  }

  @Test("didFetch is called once for each record that is read")
  func didFetch() throws {
    try City.insert(db, contentsOf: City.norwegian)
    #expect(try Hamlet.find(db, 1).population == 7_090_370)
    #expect(try Hamlet.fetchOne(db, 1)?.population == 7_090_370)
    #expect(try Hamlet.fetchAll(db).map(\.population) == [7_090_370, 2_919_400, 2_145_650])
    #expect(try Hamlet.fetchAll(db, keys: [1]).map(\.population) == [7_090_370])
    #expect(
      try Hamlet.fetchAll(db, sql: "SELECT * FROM city WHERE id = 1").map(\.population) == [
        7_090_370
      ]
    )
    try db.executeUpdate("UPDATE city SET name = '?' WHERE id = 3")
    var seen = 0
    #expect(throws: InvalidTown.unreadable) { try Hamlet.forEach(db) { _ in seen += 1 } }
    #expect(seen == 2)
    #expect(throws: InvalidTown.unreadable) { try Hamlet.find(db, 3) }
  }

  @Test("Hooks can use the database, and call the operation they belong to")
  func recursion() throws {
    struct Chain: RecordHooks {
      var id: Int64
      var length: Int

      struct Columns: Sendable {
        let id = Column("id", \Chain.id, .primaryKey)
        let length = Column("length", \Chain.length)
      }
      static let columns = Columns()
      static let table = Table("chain", Chain.init, columns.id, columns.length)

      mutating func willInsert(_ db: Database) throws {
        guard length > 0 else { return }
        var next = Chain(id: id + 1, length: length - 1)
        try next.insert(db)
        length = try Chain.fetchAll(db).count
      }
      mutating func willUpdate(_ db: Database) throws {
        if let next = try Chain.fetchOne(db, id + 1) { try next.update(db) }
        length += 1
      }
      func willDelete(_ db: Database) throws {
        try Chain.fetchOne(db, id + 1)?.delete(db)
      }
    }
    try db.define("CREATE TABLE chain (id INTEGER PRIMARY KEY, length INTEGER)")
    var first = Chain(id: 1, length: 5)
    try first.insert(db)
    #expect(try Chain.order { $0.id }.fetchAll(db).map(\.length) == [5, 4, 3, 2, 1, 0])
    try first.update(db)
    #expect(try Chain.order { $0.id }.fetchAll(db).map(\.length) == [6, 5, 4, 3, 2, 1])
    try first.delete(db)
    #expect(try Chain.fetchAll(db).isEmpty)
  }

  @Test("A hook that closes the database fails its operation")
  func closing() throws {
    struct Closing: RecordHooks {
      var id: Int64?
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Closing.id, .primaryKey)
        let name = Column("name", \Closing.name)
      }
      static let columns = Columns()
      static let table = Table("city", Closing.init, columns.id, columns.name)

      mutating func willInsert(_ db: Database) throws { try db.close() }
      func willDelete(_ db: Database) throws { try db.close() }
    }
    let oslo = Closing(id: 1, name: "Oslo")
    #expect(throws: (any Error).self) { try Closing.insert(db, contentsOf: [oslo]) }
    let other = try City.norway()
    #expect(failure(DatabaseError.self) { try oslo.delete(other) }?.code == .misuse)
    let third = try City.norway()
    #expect(failure(DatabaseError.self) { try oslo.inserted(third) }?.code == .misuse)
  }
}
