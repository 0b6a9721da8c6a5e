import Larder
import LarderSQLite
import PostgresSupport
import Testing

@Suite("Backfills")
struct BackfillTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try migrator().migrate(db)
    for number in 1...10 {
      try db.executeUpdate("INSERT INTO word (kind, text) VALUES ('k', \("\(number)"))")
    }
  }

  /// A table, and then the migrations to test.
  private func migrator(_ others: Migration...) -> Migrator {
    Migrator(
      [
        Migration(
          "word",
          .create(
            "word", .column("kind", String.self, .primaryKey),
            .column("text", String.self, .primaryKey),
            .column("length", Int.self, .default(-1)), options: .withoutRowID))
      ] + others)
  }

  private func lengths() throws -> [Int] {
    try db.executeQuery("SELECT length FROM word ORDER BY text").map { try $0.get(at: 0) }
  }

  @Test(
    "An expression fills all rows, or those that meet a condition, in batches of the key's order")
  func expression() throws {
    let migrator = migrator(
      Migration("a", .backfill("length", of: "word", with: "length(text)", rows: 3)),
      Migration("b", .backfill("length", of: "word", with: "0", where: "text = '10'", rows: 1)))
    try migrator.migrate(db)
    #expect(try lengths() == [1, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    #expect(try !db.tableExists("larder_backfill"))
    #expect(try migrator.pending(db) == [])
  }

  @Test(
    "After a failure the next attempt goes on behind the last committed batch, and fills no row twice"
  )
  func resuming() throws {
    struct Stopped: Error {}
    let seen = Lock<[String]>([])
    let stops = Lock(true)
    let migrator = migrator(
      Migration(
        "code",
        .backfill("length", of: "word", from: "text", rows: 3) { (text: String) throws -> Int in
          if text == "5", stops.withLock({ $0 }) { throw Stopped() }
          seen.withLock { $0.append(text) }
          return Int(text) ?? 0
        }))
    let error = failure(MigrationError.self) { try migrator.migrate(db) }
    guard case .failed("code", let reason) = error, reason is Stopped else {
      Issue.record("\(error as Any)")
      return
    }
    // The batches are 1, 10, 2 and 3, 4, 5.
    #expect(try lengths() == [1, 10, 2, -1, -1, -1, -1, -1, -1, -1])
    #expect(try migrator.pending(db) == ["code"])
    stops.withLock { $0 = false }
    seen.withLock { $0 = [] }
    try migrator.migrate(db)
    #expect(seen.withLock { $0 } == ["3", "4", "5", "6", "7", "8", "9"])
    #expect(try lengths() == [1, 10, 2, 3, 4, 5, 6, 7, 8, 9])
    #expect(try !db.tableExists("larder_backfill"))
  }

  @Test("Others can write between the batches of a backfill")
  func others() throws {
    let sizes = Lock<[Int]>([])
    let migrator = migrator(
      Migration("a", .backfill("length", of: "word", with: "length(text)", rows: 4)))
    let isInTransaction = Lock<[Bool]>([])
    try migrator.migrate(db) { progress in
      if progress.duration == nil { isInTransaction.withLock { $0.append(db.isInTransaction) } }
      sizes.withLock { $0.append(progress.index) }
    }
    #expect(isInTransaction.withLock { $0 } == [false])
    #expect(sizes.withLock { $0 } == [1, 1])
  }

  @Test("A backfill beside other steps is refused, since it runs outside of a transaction")
  func mixed() throws {
    let migrator = migrator(
      Migration(
        "both", .add(.column("letters", Int?.self), to: "word"),
        .backfill("letters", of: "word", with: "1")))
    let error = failure(MigrationError.self) { try migrator.migrate(db) }
    #expect(error?.description.contains("“both” has a backfill beside other steps") == true)
  }

  @Test("A dry run fills a copy, and reports the rows")
  func dryRun() throws {
    let migrator = migrator(
      Migration("a", .backfill("length", of: "word", with: "length(text)", rows: 4)))
    let report = try migrator.dryRun(db)
    #expect(report.isSuccess)
    #expect(try lengths().allSatisfy { $0 == -1 })
  }
}
