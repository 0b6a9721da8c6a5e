import Larder
import Testing

@Suite("Keys that associations match")
struct AssociationKeyTests {
  private struct Owner: Record, Equatable {
    var code: String
    struct Columns: Sendable { let code = Column("code", \Owner.code, .primaryKey) }
    static let columns = Columns()
    static let table = Table("owner", Owner.init, columns.code)
    static let items = HasMany(columns.code, Item.columns.owner, in: Item.order { $0.id })
    static let others = HasManyThrough(
      columns.code, Item.columns.owner, Item.columns.id, Number.columns.id,
      in: Number.order { $0.id })
  }

  private struct Item: Record, Equatable {
    var id: Int
    var owner: String?
    struct Columns: Sendable {
      let id = Column("id", \Item.id, .primaryKey)
      let owner = Column("owner", \Item.owner)
    }
    static let columns = Columns()
    static let table = Table("item", Item.init, columns.id, columns.owner)
    static let inOwner = BelongsTo(columns.owner, Owner.columns.code)
  }

  private struct Number: Record {
    var id: Int
    struct Columns: Sendable { let id = Column("id", \Number.id, .primaryKey) }
    static let columns = Columns()
    static let table = Table("number", Number.init, columns.id)
  }

  /// An owner whose column has a collation by its declaration.
  private struct Folded: Record, Equatable {
    var code: String
    struct Columns: Sendable {
      let code = Column("code", \Folded.code, .primaryKey, .collate("NOCASE"))
    }
    static let columns = Columns()
    static let table = Table("owner", Folded.init, columns.code)
    static let items = HasMany(columns.code, Item.columns.owner, in: Item.order { $0.id })
  }

  private func database(_ owner: String, _ item: String, owners: [String], items: [String]) throws
    -> Database
  {
    let db = try Database()
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE owner (code TEXT PRIMARY KEY NOT NULL \(owner));
          CREATE TABLE item (id INTEGER PRIMARY KEY, owner TEXT \(item));
          CREATE TABLE number (id INTEGER PRIMARY KEY); INSERT INTO number VALUES (1), (2), (3);
          """))
    for code in owners { try db.executeUpdate("INSERT INTO owner VALUES (?)", code) }
    for code in items { try db.executeUpdate("INSERT INTO item (owner) VALUES (?)", code) }
    return db
  }

  /// What a join in SQL finds: the numbers of the items of each owner.
  private func joined(_ condition: SQL, _ owners: [Owner], _ db: Database) throws -> [[Int]] {
    try owners.map { owner in
      try db.executeQuery(
        """
        SELECT item.id FROM owner JOIN item ON \(condition)
        WHERE CAST(owner.code AS BLOB) = CAST(\(owner.code) AS BLOB) ORDER BY item.id
        """
      ).map { try $0.get(at: 0) }
    }
  }

  @Test("Texts that look equal to Swift are different keys")
  func canonical() throws {
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    let db = try database("", "", owners: [one, two], items: [two, one, two])
    let owners = try Owner.order { $0.code }.fetchAll(db)
    let expected = try joined("item.owner = owner.code", owners, db)
    #expect(expected == [[1, 3], [2]])
    #expect(try Owner.items.fetchAll(db, of: owners).map { $0.map(\.id) } == expected)
    #expect(try Owner.others.fetchAll(db, of: owners).map { $0.map(\.id) } == expected)
    let found = try Item.inOwner.fetchAll(db, of: Item.order { $0.id }.fetchAll(db))
    #expect(found.map { $0.map { Array($0.code.utf8) } } == [two, one, two].map { Array($0.utf8) })
  }

  @Test("Keys that a column's collation takes for equal belong together")
  func collations() throws {
    for (collation, expected) in [
      ("NOCASE", [[1, 3], [1, 3], [], []]), ("RTRIM", [[3], [], [2], []]),
    ] {
      let db = try database(
        "", "COLLATE \(collation)", owners: ["NO", "no", "se ", "x"],
        items: ["No", "se", "NO", "y"])
      let owners = try ["NO", "no", "se ", "x"].map { try Owner.find(db, $0) }
      #expect(try Owner.items.fetchAll(db, of: owners).map { $0.map(\.id) } == expected)
      #expect(try Owner.others.fetchAll(db, of: owners).map { $0.map(\.id) } == expected)
    }
    let db = try database(
      "COLLATE NOCASE", "", owners: ["NO", "se"], items: ["no", "SE", "NO", "y"])
    let items = try Item.order { $0.id }.fetchAll(db)
    #expect(try Item.inOwner.fetchAll(db, of: items).map { $0?.code } == ["NO", "se", "NO", nil])
    let owners = try Folded.order { $0.code }.fetchAll(db)
    #expect(try Folded.items.fetchAll(db, of: owners).map { $0.map(\.id) } == [[1, 3], [2]])
  }
}
