import Larder
import PostgresSupport
import TestSupport
import Testing

/// Tests of REPLACE, for which SQLite runs no delete trigger, and of indexes whose table was
/// dropped.
@Suite("Full-text indexes of rows that are replaced", .onlySQLite(.replacing))
struct FullTextReplacementTests {
  /// A record with three unique constraints besides its key.
  private struct Note: Record, Equatable {
    var id: Int64?
    var slug: String?
    var owner: Int
    var number: Int
    var title: String
    var body: String?

    struct Columns: Sendable {
      let id = Column("id", \Note.id, .primaryKey)
      let slug = Column("slug", \Note.slug, .unique, .collate("NOCASE"))
      let owner = Column("owner", \Note.owner)
      let number = Column("number", \Note.number)
      let title = Column("title", \Note.title)
      let body = Column("body", \Note.body)
    }
    static let columns = Columns()
    static let table = Table(
      "note", Note.init, columns.id, columns.slug, columns.owner, columns.number, columns.title,
      columns.body,
      constraints: [
        .unique(columns.owner, columns.number),
        .index(columns.title, unique: true, where: "number > 5"),
      ])
  }

  private static let storages = [FullTextStorage.table, .copied, .contentless]

  private func index(_ storage: FullTextStorage) -> FullTextIndex<Note> {
    FullTextIndex(of: Note.self, \.title, \.body, storage: storage)
  }

  private func database(_ index: FullTextIndex<Note>, recursive: Bool = false) throws -> Database {
    let db = try Database()
    if recursive { try db.executeUpdate("PRAGMA recursive_triggers = ON") }
    try Note.table.create(db)
    try index.create(db)
    for number in 1...3 {
      _ = try Note(
        id: nil, slug: "s\(number)", owner: 1, number: number, title: "title\(number)",
        body: "body\(number)"
      )
      .inserted(db)
    }
    return db
  }

  private func ids(
    _ word: String, _ db: Database, _ index: FullTextIndex<Note>
  ) throws -> [Int64] {
    try Note.matching(index, .all(of: word)).order { $0.id }.fetchAll(db).compactMap(\.id)
  }

  @Test(
    "REPLACE removes the replaced rows' words from the full-text index", arguments: storages,
    [false, true])
  func replacing(storage: FullTextStorage, recursive: Bool) throws {
    let index = index(storage)
    let db = try database(index, recursive: recursive)
    for sql: SQL in [
      "INSERT OR REPLACE INTO note VALUES (1, 'x', 9, 9, 'newkey', NULL)",
      "INSERT OR REPLACE INTO note VALUES (NULL, 'S2', 9, 8, 'newslug', NULL)",
      "INSERT OR REPLACE INTO note VALUES (NULL, NULL, 1, 3, 'newpair', NULL)",
      "REPLACE INTO note VALUES (1, 's2', 9, 8, 'three at once', NULL)",
      "UPDATE OR REPLACE note SET number = 8, owner = 9 WHERE title = 'newpair'",
      "UPDATE OR REPLACE note SET id = 40, title = 'moved' WHERE number = 8",
      "INSERT OR REPLACE INTO note VALUES (7, 'y', 7, 7, 'moved', 'by the partial index')",
    ] {
      try db.executeUpdate(sql)
      try index.verify(db)
    }
    #expect(try ids("title1 title2 title3", db, index) == [])
    for number in 1...3 { #expect(try ids("title\(number)", db, index) == []) }
    #expect(try ids("partial", db, index) == [7])
  }

  @Test(
    "Rows that INSERT OR IGNORE, an upsert or an error leaves in place stay in the text index",
    arguments: storages)
  func staying(storage: FullTextStorage) throws {
    let index = index(storage)
    let db = try database(index)
    try db.executeUpdate("INSERT OR IGNORE INTO note VALUES (1, 's2', 1, 3, 'ignored', NULL)")
    try index.verify(db)
    try db.executeUpdate(
      "INSERT INTO note VALUES (2, 's2', 1, 2, 'changed', 'x') ON CONFLICT DO UPDATE SET title = excluded.title"
    )
    try index.verify(db)
    #expect(try ids("changed", db, index) == [2])
    #expect(try ids("title2", db, index) == [])
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO note VALUES (3, NULL, 5, 5, 'refused', NULL)")
    }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("UPDATE note SET slug = 's1' WHERE id = 3")
    }
    try index.verify(db)
    #expect(try ids("title3", db, index) == [3])
    // A row that conflicted before is removed from the index once when it is deleted.
    try db.executeUpdate("INSERT OR IGNORE INTO note VALUES (3, NULL, 5, 5, 'ignored', NULL)")
    try db.executeUpdate("DELETE FROM note WHERE id = 3")
    try db.executeUpdate("INSERT INTO note VALUES (3, NULL, 5, 5, 'again', NULL)")
    try index.verify(db)
    #expect(try ids("again", db, index) == [3])
  }

  @Test(
    "Random inserts, updates and deletes with any conflict clause keep the text index consistent",
    arguments: storages, [false, true])
  func random(storage: FullTextStorage, recursive: Bool) throws {
    let index = index(storage)
    let db = try database(index, recursive: recursive)
    var random = SeededGenerator(seed: 19)
    func number() -> Int { Int.random(in: 1...6, using: &random) }
    for step in 0..<600 {
      let conflict = ["", "OR IGNORE", "OR REPLACE", "OR ABORT", "OR REPLACE"].randomElement(
        using: &random)!
      let id = number() > 4 ? "NULL" : "\(number())"
      let row = "(\(id), 's\(number())', \(number()), \(number() + 2), 't\(number())', 'w\(step)')"
      let text =
        switch number() {
        case 1: "DELETE FROM note WHERE id = \(number())"
        case 2:
          "UPDATE \(conflict) note SET id = \(number()), title = 't\(number())' WHERE id = \(number())"
        case 3:
          "UPDATE \(conflict) note SET slug = 's\(number())', owner = \(number()) WHERE number > 4"
        case 4:
          "INSERT INTO note VALUES \(row) ON CONFLICT DO UPDATE SET body = excluded.body, owner = 9"
        default: "INSERT \(conflict) INTO note VALUES \(row)"
        }
      do {
        try db.executeUpdate(SQL(raw: text))
      } catch let error as DatabaseError where error.isConstraint {}
      do {
        try index.verify(db)
      } catch {
        Issue.record("\(text): \(error)")
        return
      }
    }
    for note in try Note.fetchAll(db) {
      if let body = note.body { #expect(try ids(body, db, index) == [note.id ?? 0]) }
    }
  }

  @Test("The full-text index follows a REPLACE by the sqlite3 shell")
  func shell() throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let path = folder.file("notes.db")
    let index = index(.table)
    let db = try Database(path: path)
    try Note.table.create(db)
    try index.create(db)
    _ = try Note(id: nil, slug: "a", owner: 1, number: 1, title: "one", body: nil).inserted(db)
    let shell = try ChildProcess(
      "sqlite3", ["-batch", path, "INSERT OR REPLACE INTO note VALUES (9, 'A', 2, 2, 'two', NULL)"])
    #expect(shell.end() == 0)
    try index.verify(db)
    #expect(try ids("one", db, index) == [])
    #expect(try ids("two", db, index) == [9])
  }

  @Test(
    "create(ifNotExists:) restores a full-text index's triggers after its table was recreated",
    arguments: storages
  )
  func completed(storage: FullTextStorage) throws {
    let index = index(storage)
    let db = try database(index)
    try Note.table.drop(db)
    try Note.table.create(db)
    _ = try Note(id: nil, slug: nil, owner: 1, number: 1, title: "hello", body: nil).inserted(db)
    #expect(try !index.differences(db).isEmpty)
    try index.create(db, ifNotExists: true)
    #expect(try index.differences(db) == [])
    try index.verify(db)
    #expect(try ids("hello", db, index) == [1])
    #expect(try ids("title1", db, index) == [])
    try index.create(db, ifNotExists: true)
  }
}
