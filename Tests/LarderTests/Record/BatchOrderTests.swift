import Larder
import PostgresSupport
import Testing

@Suite("Batches whose records refer to each other")
struct BatchOrderTests {
  private struct Part: Record, Equatable {
    var id: Int64?
    var name: String
    var whole: Int64?

    struct Columns: Sendable {
      let id = Column("id", \Part.id, .primaryKey)
      let name = Column("name", \Part.name, .unique)
      let whole = Column("whole", \Part.whole, .references(Part.self))
    }
    static let columns = Columns()
    static let table = Table("part", Part.init, columns.id, columns.name, columns.whole)
  }

  let db: Database

  init() throws {
    db = try Database.empty()
    try Part.table.create(db)
  }

  /// A list in which each record refers to the next one, and the last to none.
  private func chain(_ count: Int) -> [Part] {
    (1...count).map {
      Part(id: Int64($0), name: "part \($0)", whole: $0 < count ? Int64($0 + 1) : nil)
    }
  }

  private func batch(_ body: () throws -> Void) -> (index: Int, kind: ConstraintViolation.Kind?)? {
    guard case .batch("part", let index, let error)? = failure(RecordError.self, body) else {
      return nil
    }
    return (index, (error as? DatabaseError)?.constraint?.kind)
  }

  @Test(
    "A batch may refer to later records of the same batch",
    arguments: [1, 2, 3, 127, 128, 129, 300, 2500])
  func order(count: Int) throws {
    try Part.insert(db, contentsOf: chain(count))
    #expect(try Part.all.fetchCount(db) == count)
    try Part.all.delete(db)
    // PostgreSQL gets a sequence that isn't an array a thousand records at a time, so that only
    // these can refer to each other.
    if TestEngine.isPostgres, count > 1000 { return }
    try Part.insert(db, contentsOf: chain(count).lazy.map { $0 })
    #expect(try Part.all.fetchCount(db) == count)
    try Part.all.delete(db)
    // Inserting one by one, PostgreSQL refuses a record that refers to a later one.
    if TestEngine.isPostgres { return }
    #expect(try Part.inserted(db, contentsOf: chain(count)).count == count)
    #expect(try db.value("PRAGMA defer_foreign_keys") == 0)
    #expect(violation("INSERT INTO part VALUES (NULL, 'x', -1)", db) == .foreignKey)
  }

  @Test(
    "A batch's error names the first record at fault, even if others refer to each other",
    .onlySQLite(.keys),
    arguments: [10, 300])
  func fault(count: Int) throws {
    var parts = chain(count)
    parts[3].name = "part 2"
    #expect(
      batch { try Part.insert(db, contentsOf: parts) }.map { [$0.index == 3, $0.kind == .unique] }
        == [true, true])
    #expect(batch { _ = try Part.inserted(db, contentsOf: parts) }?.index == 3)
    parts = chain(count)
    parts[5].whole = 9999
    parts[7].whole = 9998
    for body in [
      { _ = try Part.inserted(db, contentsOf: parts) }, { try Part.insert(db, contentsOf: parts) },
      { try Part.insert(db, contentsOf: parts.lazy.map { $0 }) },
    ] {
      let found = batch(body)
      #expect(found?.index == 5)
      #expect(found?.kind == .foreignKey)
      #expect(try Part.all.fetchCount(db) == 0)
      #expect(try db.value("PRAGMA defer_foreign_keys") == 0)
      #expect(!db.isInTransaction)
    }
  }

  @Test("A batch keeps an outer transaction's setting of deferred foreign keys", .onlySQLite(.keys))
  func transactions() throws {
    try db.inTransaction { db in
      try Part.insert(db, contentsOf: chain(300))
      #expect(violation("INSERT INTO part VALUES (NULL, 'x', -1)", db) == .foreignKey)
      var bad = chain(300)
      for index in bad.indices {
        bad[index].id? += 1000; bad[index].name += "'"; bad[index].whole? += 1000
      }
      bad[200].whole = -1
      #expect(batch { try Part.insert(db, contentsOf: bad) }?.index == 200)
    }
    #expect(try Part.all.fetchCount(db) == 300)
    try db.inTransaction { db in
      try db.executeUpdate("PRAGMA defer_foreign_keys = ON")
      try db.executeUpdate("DELETE FROM part")
      try Part.insert(db, contentsOf: chain(300))
      #expect(try db.value("PRAGMA defer_foreign_keys") == 1)
    }
  }
}
