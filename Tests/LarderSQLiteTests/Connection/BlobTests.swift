import LarderSQLite
import TestSupport
import Testing

@Suite("Blobs in pieces")
struct BlobTests {
  private func makeFiles(in db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE file (id INTEGER PRIMARY KEY, content, name TEXT UNIQUE);
      INSERT INTO file VALUES (1, zeroblob(10), 'a'), (2, x'010203', 'b'), (3, 'text', 'c'),
        (4, NULL, 'd'), (5, 5, 'e'), (6, x'', 'f');
      """)
  }

  @Test("A blob is written and read at byte offsets", arguments: Company.threads)
  func pieces(company: Company) throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    try access.inTransaction { db in
      try makeFiles(in: db)
      let blob = try db.openBlob("file", column: "content", row: 1, isWritable: true)
      #expect(blob.count == 10 && !blob.isReadOnly)
      try blob.write([1, 2, 3], at: 0)
      try blob.write((4...6).lazy.map { UInt8($0) }, at: 7)
      try blob.write([], at: 10)
      #expect(try blob.read() == [1, 2, 3, 0, 0, 0, 0, 4, 5, 6])
      #expect(try blob.read(at: 8) == [5, 6])
      #expect(try blob.read(at: 1, count: 2) == [2, 3])
      #expect(try blob.read(at: 10) == [])
    }
    try access.read { db in
      let blob = try db.openBlob("FILE", column: "Content", row: 2)
      #expect(try blob.read() == [1, 2, 3])
      try blob.reopen(row: 3)
      #expect(try blob.read() == Array("text".utf8))
      try blob.reopen(row: 6)
      #expect(try blob.count == 0 && blob.read().isEmpty)
      let stored = try db.value("SELECT content FROM file WHERE id = 1", as: [UInt8].self)
      #expect(stored == [1, 2, 3, 0, 0, 0, 0, 4, 5, 6])
    }
  }

  @Test(
    "Opening, reading or writing a blob that isn't possible throws an error with the right code")
  func refused() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try makeFiles(in: db)
      try db.executeStatements(
        """
        CREATE TABLE w (k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES (1, x'00');
        CREATE VIEW v AS SELECT * FROM file; CREATE VIRTUAL TABLE f USING fts5(a);
        """)
    }
    func refusal(
      _ table: String, _ column: String, _ row: Int64, _ database: String = "main",
      isWritable: Bool = false
    ) -> ResultCode? {
      let error = #expect(throws: DatabaseError.self) {
        try queue.inTransaction { db in
          _ = try db.openBlob(
            table, column: column, row: row, database: database, isWritable: isWritable)
        }
      }
      #expect(error?.message.isEmpty == false)
      return error?.code
    }
    for (table, column, row) in [
      ("none", "content", 1), ("file", "none", 1), ("file", "content", 99),
      ("file", "content", 4), ("file", "content", 5), ("w", "v", 1), ("v", "content", 1),
      ("f", "a", 1), ("", "", 0), ("a\0", "b", 1), ("\"; DROP TABLE file; --", "content", 1),
    ] as [(String, String, Int64)] {
      #expect(refusal(table, column, row) == .error)
    }
    #expect(refusal("file", "content", 1, "other") == .error)
    // The index wouldn't be updated.
    #expect(refusal("file", "name", 1, isWritable: true) == .error)
    try queue.inTransaction { db in
      let blob = try db.openBlob("file", column: "content", row: 2)
      let readOnly = #expect(throws: DatabaseError.self) { try blob.write([1], at: 0) }
      #expect(readOnly?.code == .readOnly)
      for (offset, count) in [(-1, 1), (0, 4), (3, 1), (Int.max, 1), (1, Int.max), (0, -1)] {
        let error = #expect(throws: DatabaseError.self) { try blob.read(at: offset, count: count) }
        #expect(error?.code == .range)
      }
      let farBelow = #expect(throws: DatabaseError.self) { try blob.read(at: .min) }
      #expect(farBelow?.code == .range)
      let writable = try db.openBlob("file", column: "content", row: 2, isWritable: true)
      let error = #expect(throws: DatabaseError.self) { try writable.write([1, 2], at: 2) }
      #expect(error?.code == .range)
      #expect(try writable.read() == [1, 2, 3])
      writable.close()
      writable.close()
      #expect(throws: DatabaseError.self) { try writable.read() }
    }
  }

  @Test(
    "A blob can't be written in a read scope, without a transaction, or when the authorizer denies it"
  )
  func notWritten() throws {
    let folder = try ScratchFolder()
    let pool = try DatabasePool(path: folder.file("a.db"))
    try pool.inTransaction { try makeFiles(in: $0) }
    func open(_ db: Database) throws {
      try db.openBlob("file", column: "content", row: 1, isWritable: true).write([1], at: 0)
    }
    let inReadScope = #expect(throws: DatabaseError.self) { try pool.read(open) }
    #expect(inReadScope?.code == .readOnly)
    let outside = #expect(throws: DatabaseError.self) { try pool.inDatabase(open) }
    #expect(outside?.code == .misuse)
    for authorizer in [Authorizer.readOnly, .tables(["other"])] {
      let refused = #expect(throws: DatabaseError.self) {
        try pool.inTransaction { db in
          db.authorizer = authorizer
          try open(db)
        }
      }
      #expect(refused?.code == .authorization)
    }
    try pool.inTransaction { db in
      db.authorizer = .tables(["file"])
      try open(db)
      db.setRollbackOnly()
    }
    let stored = try pool.read {
      try $0.value("SELECT content FROM file WHERE id = 1", as: [UInt8].self)
    }
    #expect(stored == [UInt8](repeating: 0, count: 10))
  }

  @Test("A blob expires when its row's value changes, and when its scope ends")
  func expired() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { try makeFiles(in: $0) }
    nonisolated(unsafe) var kept: Blob?
    try queue.inTransaction { db in
      let blob = try db.openBlob("file", column: "content", row: 1, isWritable: true)
      try db.executeUpdate("UPDATE file SET content = x'0102030405' WHERE id = 1")
      for _ in 0..<2 {
        let error = #expect(throws: DatabaseError.self) { try blob.read(at: 0, count: 1) }
        #expect(error?.code == .abort)
        #expect(throws: DatabaseError.self) { try blob.reopen(row: 2) }
      }
      let other = try db.openBlob("file", column: "content", row: 1)
      #expect(try other.read() == [1, 2, 3, 4, 5])
      #expect(throws: DatabaseError.self) { try other.reopen(row: 99) }
      #expect(throws: DatabaseError.self) { try other.read(at: 0, count: 1) }
      kept = try db.openBlob("file", column: "content", row: 2)
    }
    #expect(throws: DatabaseError.self) { try kept?.read() }
    #expect(kept?.count == 0)
    kept = nil
    try queue.close()
  }

  @Test("A savepoint that can't begin because a blob is open for writing names the blob")
  func savepointNamesBlob() throws {
    let queue = try DatabaseQueue()
    try queue.inTransaction { db in
      try makeFiles(in: db)
      let blob = try db.openBlob("file", column: "content", row: 1, isWritable: true)
      try blob.reopen(row: 2)
      for begin in [{ try db.inSavepoint { _ in } }, { try db.savepoint("mine") }] {
        let error = #expect(throws: DatabaseError.self) { try begin() }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("the blob file.content of row 2") == true, "\(error!)")
      }
      blob.close()
      try db.inSavepoint { _ in }
    }
  }

  @Test("A savepoint that can't begin while an UPDATE's rows are read names the statement")
  func savepointNamesStatement() throws {
    let queue = try DatabaseQueue()
    try queue.inTransaction { db in
      try makeFiles(in: db)
      let update = try db.prepare("UPDATE file SET name = name || 'x' RETURNING id")
      try update.bind()
      #expect(try update.step())
      let error = #expect(throws: DatabaseError.self) { try db.savepoint("mine") }
      #expect(error?.code == .busy)
      #expect(
        error?.message.contains("close “UPDATE file SET name") == true,
        "\(String(describing: error))")
      #expect(try update.step())
    }
  }

  @Test("A commit that fails because a blob is open for writing names the blob")
  func commitNamesBlob() throws {
    let db = try Database()
    try makeFiles(in: db)
    try db.begin()
    let blob = try db.openBlob("file", column: "content", row: 1, isWritable: true)
    let error = #expect(throws: DatabaseError.self) { try db.commit() }
    #expect(error?.code == .busy)
    #expect(error?.message.contains("the blob file.content of row 1") == true)
    blob.close()
    try db.commit()
  }

  @Test("A write to a blob is reported to observers of its table", .needsPreupdateHook)
  func observed() async throws {
    let queue = try DatabaseQueue()
    try await queue.inDatabase { try makeFiles(in: $0) }
    let values = ObservedReads(queue) {
      try $0.openBlob("file", column: "content", row: 1).read(at: 0, count: 1)
    }
    let feed = Followed(queue.changes(of: ["file"]))
    try await feed.begin()
    #expect(try await values.next() == [0])
    try await queue.inTransaction { db in
      try db.openBlob("file", column: "content", row: 1, isWritable: true).write([7], at: 0)
    }
    #expect(try await values.next() == [7])
    #expect(try await feed.next()?.isFromElsewhere == true)
  }
}
