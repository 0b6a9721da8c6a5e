import Larder
import PostgresSupport
import Synchronization
import Testing

@Suite("A batch of records that fails")
struct BatchFailureTests {
  let db: Database

  init() throws { db = try City.norway() }

  private func cities(_ count: Int, _ wrong: [Int: City] = [:]) -> [City] {
    (0..<count).map {
      wrong[$0] ?? City(id: Int64($0 + 101), name: "City \($0)", population: $0)
    }
  }

  private let oslo = City(id: 5000, name: "Oslo", population: 1)
  private let negative = City(id: 5001, name: "Atlantis", population: -1)

  @Test(
    "A failing batch inserts nothing, and its error has the record's index",
    arguments: [0, 1, 127, 128, 500, 998, 999]
  )
  func constraint(index: Int) throws {
    let failure = BatchFailure { try City.insert(db, contentsOf: cities(1000, [index: oslo])) }
    #expect(failure?.index == index)
    let error = failure?.error as? DatabaseError
    #expect(error?.constraint?.kind == .unique)
    #expect(error?.constraint?.columns == ["name"])
    #expect(try City.fetchAll(db) == City.norwegian)
    #expect(!db.isInTransaction)
  }

  @Test(
    "A failing batch throws the statement's own error if no single record fails",
    .refused(.functions)
  )
  func nobodysFault() throws {
    // The function only refuses the first record it is asked about.
    let refusals = Doorman()
    try db.createFunction("is_refused", argumentCount: 0, deterministic: false) {
      _ in
      refusals.isFirst() ? 1 : 0
    }
    try db.executeStatements(
      """
      CREATE TEMP TRIGGER closed BEFORE INSERT ON city WHEN is_refused()
      BEGIN SELECT RAISE(ABORT, 'closed'); END
      """)
    let error = failure(DatabaseError.self) { try City.insert(db, contentsOf: cities(20)) }
    #expect(error?.message == "closed")
    #expect(try City.fetchAll(db) == City.norwegian)
    try City.insert(db, contentsOf: cities(20))
    #expect(try City.all.fetchCount(db) == 23)
  }

  /// Tells the first call from later ones.
  private final class Doorman: Sendable {
    private let wasAsked = Atomic(false)
    func isFirst() -> Bool { !wasAsked.exchange(true, ordering: .relaxed) }
  }

  @Test(
    "The error of a failing batch from a lazy sequence has the record's index",
    arguments: [0, 1023, 1024, 2500]
  )
  func lazySequence(index: Int) throws {
    let failure = BatchFailure {
      try City.insert(db, contentsOf: cities(3000, [index: oslo]).lazy.map { $0 })
    }
    #expect(failure?.index == index)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("If two records of a batch conflict, its error has the second one's index")
  func amongThemselves() throws {
    let twin = City(id: 5000, name: "City 3", population: 1)
    let failure = BatchFailure { try City.insert(db, contentsOf: cities(50, [40: twin])) }
    #expect(failure?.index == 40)
  }

  @Test("A failing batch leaves the outer transaction open")
  func outerTransaction() throws {
    try db.inTransaction { db in
      var hamar = City(id: 50, name: "Hamar", population: 28_535)
      try hamar.insert(db)
      let failure = BatchFailure { try City.insert(db, contentsOf: cities(300, [200: oslo])) }
      #expect(failure?.index == 200)
      var bodø = City(id: 51, name: "Bodø", population: 43_000)
      try bodø.insert(db)
    }
    #expect(try City.fetchAll(db).map(\.id) == [1, 2, 3, 50, 51])
  }

  @Test(
    "A failing batch's error has the index of the record that its policy rejects",
    .onlySQLite(.replacing), arguments: ConflictPolicy.allCases
  )
  func policies(policy: ConflictPolicy) throws {
    // Record 5 violates a unique constraint, to which the policies apply. Record 20 violates a
    // check, which .replace can't resolve.
    let cities = cities(40, [5: oslo, 20: negative])
    if policy == .ignore {
      try City.insert(db, contentsOf: cities, or: policy)
      #expect(try City.fetchAll(db).count == 41)
    } else {
      let failure = BatchFailure { try City.insert(db, contentsOf: cities, or: policy) }
      #expect(failure?.index == (policy == .replace ? 20 : 5))
      #expect((failure?.error as? DatabaseError)?.code == .constraint)
      #expect(try City.fetchAll(db) == City.norwegian)
    }
  }

  @Test("A failing batch with policy .rollback ends the outer transaction")
  func rollback() throws {
    #expect(throws: (any Error).self) {
      try db.inTransaction { db in
        var hamar = City(id: 50, name: "Hamar", population: 28_535)
        try hamar.insert(db)
        try City.insert(db, contentsOf: cities(300, [200: oslo]), or: .rollback)
      }
    }
    #expect(!db.isInTransaction)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test(
    "A batch's error has the record and column of a value that can't be stored",
    arguments: [0, 130, 299])
  func conversion(index: Int) throws {
    struct Reading: Record {
      var id: Int64?
      var level: Double
      var serial: UInt64

      struct Columns: Sendable {
        let id = Column("id", \Reading.id, .primaryKey)
        let level = Column("level", \Reading.level)
        let serial = Column("serial", \Reading.serial)
      }
      static let columns = Columns()
      static let table = Table("city", Reading.init, columns.id, columns.level, columns.serial)
    }
    let db = try Database.empty()
    try db.define("CREATE TABLE city (id INTEGER PRIMARY KEY, level REAL, serial INTEGER)")
    var readings = (0..<300).map { Reading(id: Int64($0), level: 0.5, serial: 1) }
    readings[index].level = .nan
    var failure = BatchFailure { try Reading.insert(db, contentsOf: readings) }
    #expect(failure?.index == index)
    var error = ConversionFailure(failure?.error)
    #expect(error?.column == "level")
    #expect(error?.key == [.integer(Int64(index))])
    #expect(error?.kind == .notANumber)
    #expect(
      error?.sql?.hasPrefix(#"INSERT INTO "city" ("id", "level", "serial") VALUES ("#) == true)

    readings[index].level = 1
    readings[index].serial = .max
    failure = BatchFailure { try Reading.insert(db, contentsOf: readings) }
    error = ConversionFailure(failure?.error)
    #expect(failure?.index == index)
    #expect(error?.column == "serial")
    #expect(error?.kind == .notExact)
    #expect(try Reading.fetchAll(db).isEmpty)

    failure = BatchFailure { try Reading.inserted(db, contentsOf: readings) }
    #expect(failure?.index == index)
    #expect(ConversionFailure(failure?.error)?.column == "serial")
    #expect(try Reading.fetchAll(db).isEmpty)
  }

  @Test("A failing batch's error has a readable description")
  func description() {
    let error = failure(RecordError.self) {
      try City.insert(db, contentsOf: cities(20, [7: oslo]))
    }
    let beginning = "record 7 of the batch for “city” couldn't be written, so none was: "
    if TestEngine.isPostgres {
      #expect(error?.description.hasPrefix("\(beginning)PostgreSQL error 23505: ") == true)
    } else {
      #expect(
        error?.description
          == "\(beginning)SQLite error 2067: UNIQUE constraint failed: city.name — while executing "
          + "“\(City.table.insertSQL)”")
    }
  }

  @Test("A failing batch that returns its records inserts nothing either")
  func withKeys() throws {
    let failure = BatchFailure { try City.inserted(db, contentsOf: cities(20, [7: oslo])) }
    #expect(failure?.index == 7)
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}
