import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

/// Tests of full-text indexes together with migrations, observation, backups, schema changes and
/// pools.
@Suite("Full-text indexes with other features")
struct FullTextCompanyTests {
  private func makePool(_ folder: ScratchFolder, _ name: String = "letters.db") throws
    -> DatabasePool
  {
    let pool = try DatabasePool(path: folder.path + "/" + name)
    try migrator.migrate(pool)
    return pool
  }

  private let migrator = Migrator([
    Migration("letters") { try Letter.table.create($0) },
    Migration("words") { try Letter.text.create($0) },
  ])

  @Test(
    "A migration can create a full-text index, and a dry run of it changes nothing",
    .onlySQLite(.files))
  func migrations() throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue(path: folder.path + "/letters.db")
    let report = try migrator.dryRun(queue)
    #expect("\(report)".contains("letter_text"))
    #expect(try queue.read { try $0.schema().isEmpty })
    try migrator.migrate(queue)
    try queue.inTransaction { db in
      try Letter.insert(db, contentsOf: Letter.letters)
      #expect(try found(.all(of: "york"), db) == [3, 4])
    }
  }

  @Test("An observed search updates when the record's table changes", .onlySQLite(.files))
  func observed() async throws {
    let folder = try ScratchFolder()
    let pool = try makePool(folder)
    var values = pool.values { try found(.all(of: "york"), $0) }.makeAsyncIterator()
    #expect(try await values.next() == [])
    try await pool.inTransaction { try Letter.insert($0, contentsOf: Letter.letters) }
    #expect(try await values.next() == [3, 4])
    try await pool.inTransaction { _ = try Letter.filter { $0.id == 3 }.delete($0) }
    #expect(try await values.next() == [4])
    // The update of `sender`, which isn't indexed, gives the same value, which isn't reported.
    try await pool.inTransaction { try Letter.filter { $0.id == 4 }.update($0) { $0.sender = "z" } }
    try await pool.inTransaction {
      try Letter.filter { $0.id == 4 }.update($0) { $0.subject = "Bergen" }
    }
    try await pool.inTransaction { try Letter.filter { $0.id == 4 }.update($0) { $0.body = nil } }
    #expect(try await values.next() == [])
  }

  @Test(
    "The feed of changes reports a record's changes, and none of its full-text index",
    .onlySQLite(.files))
  func feed() async throws {
    let folder = try ScratchFolder()
    let pool = try makePool(folder)
    let (began, beginning) = AsyncStream<Void>.makeStream()
    let feed = pool.changes(of: Letter.self) { _ in beginning.yield() }
    let first = Task {
      for try await transaction in feed { return transaction.changes.count }
      return 0
    }
    for await _ in began { break }
    try await pool.inTransaction { try Letter.insert($0, contentsOf: Letter.letters) }
    #expect(try await first.value == 4)
  }

  @Test(
    "A backup contains the full-text index, which stays up to date in the copy", .onlySQLite(.files)
  )
  func copies() throws {
    let folder = try ScratchFolder()
    let pool = try makePool(folder)
    let path = folder.path + "/copy.db"
    try pool.inTransaction { try Letter.insert($0, contentsOf: Letter.letters) }
    let copy = try Database(path: path)
    try pool.read { try $0.backup(to: copy) }
    #expect(try found(.all(of: "york"), copy) == [3, 4])
    try Letter.text.verify(copy)
    try Letter.all.delete(copy)
    #expect(try found(.all(of: "york"), copy) == [])
  }

  @Test("Rebuilding a record's table keeps its full-text index", .onlySQLite(.definitions))
  func rebuild() throws {
    let db = try Letter.database()
    try db.executeUpdate("ALTER TABLE letter ADD COLUMN old TEXT")
    try Letter.table.rebuild(db, losing: .columns)
    #expect(try Letter.table.differences(db) == [])
    #expect(try Letter.text.differences(db) == [])
    try Letter.text.verify(db)
    _ = try Letter(id: 9, subject: "York", body: nil, sender: "").inserted(db)
    #expect(try found(.all(of: "york"), db) == [3, 4, 9])
  }

  @Test(
    "The schema of records and full-text indexes matches the database, and its steps create both",
    .onlySQLite(.definitions))
  func schema() throws {
    let db = try Letter.database()
    let declared = Schema(tables: [try Letter.table.schema()], others: try Letter.text.schema())
    #expect(declared.differences(from: try Schema(db)) == [])
    for step in declared.steps(from: Schema(tables: [])) {
      #expect(!"\(step)".isEmpty)
    }
    let other = try Database()
    for step in declared.steps(from: try Schema(other)) { try step.execute(other) }
    try Letter.insert(other, contentsOf: Letter.letters)
    #expect(try found(.all(of: "york"), other) == [3, 4])
  }

  @Test(
    "Readers of a pool find what the writer has just committed to the index", .onlySQLite(.files)
  )
  func pool() async throws {
    let folder = try ScratchFolder()
    let pool = try makePool(folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          for round in 0..<25 {
            try await pool.inTransaction { db in
              _ = try Letter(
                id: Int64(number * 100 + round), subject: "word\(round)", body: nil, sender: ""
              ).inserted(db)
            }
            let ids = try await pool.read { try found(.all(of: "word\(round)"), $0) }
            #expect(ids.contains(Int64(number * 100 + round)))
          }
        }
      }
      try await group.waitForAll()
    }
    try await pool.inTransaction { try Letter.text.verify($0) }
  }

  @Test("The bigram tokenizer finds China's divisions by any part of their names")
  func divisions() throws {
    let db = try Database.empty()
    try NamedDivision.table.create(db)
    try NamedDivision.text.create(db)
    let rows = try CSVFile("china-divisions").rows.map {
      NamedDivision(code: try #require(Int($0[0])), name: $0[1])
    }
    try NamedDivision.insert(db, contentsOf: rows)
    for part in ["南山", "山", "北京", "市", "自治区", "呼和浩特", "京市", "不在"] {
      let found = try NamedDivision.matching(NamedDivision.text, .all(of: part))
        .order { $0.code }.select { $0.name }.fetchAll(db)
      #expect(found == rows.filter { $0.name.contains(part) }.map(\.name), "\(part)")
    }
    let marked = try NamedDivision.matching(NamedDivision.text, .all(of: "南山"))
      .select { $0.highlight(\.name, mark: "<", ">") }.fetchAll(db)
    // PostgreSQL's headlines only mark words between spaces.
    #expect(marked.contains("<南山>区") || TestEngine.isPostgres)
  }
}

private struct NamedDivision: Record {
  var code: Int
  var name: String

  struct Columns: Sendable {
    let code = Column("code", \NamedDivision.code, .primaryKey)
    let name = Column("name", \NamedDivision.name)
  }
  static let columns = Columns()
  static let table = Table("division", NamedDivision.init, columns.code, columns.name)
  static let text = FullTextIndex(of: NamedDivision.self, \.name, tokenizer: .bigram)
}
