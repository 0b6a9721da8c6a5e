import Foundation
import Larder
import PostgresSupport
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

  /// An owner whose declaration gives the key column a collation.
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
    let db = try Database.empty()
    try db.define(
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

  /// The ids of each owner's items, found by a join in SQL.
  private func joined(_ condition: SQL, _ owners: [Owner], _ db: Database) throws -> [[Int]] {
    try owners.map { owner in
      let isOwner: SQL =
        TestEngine.isPostgres
        ? "owner.code = \(owner.code)" : "CAST(owner.code AS BLOB) = CAST(\(owner.code) AS BLOB)"
      return try db.executeQuery(
        "SELECT item.id FROM owner JOIN item ON \(condition) WHERE \(isOwner) ORDER BY item.id"
      ).map { try $0.get(at: 0) }
    }
  }

  @Test("Associations match text keys byte by byte: composed and decomposed “é” differ")
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

  @Test("Associations match text keys by the column's collation", .onlySQLite(.keys))
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

  /// An owner whose key may have any storage class.
  private struct Anyone: Record {
    var id: Int
    var code: DatabaseValue
    struct Columns: Sendable {
      let id = Column("id", \Anyone.id, .primaryKey)
      let code = Column("code", \Anyone.code)
    }
    static let columns = Columns()
    static let table = Table("owner", Anyone.init, columns.id, columns.code)
    static let things = HasMany(columns.code, Thing.columns.owner).order { $0.id }
    static let others = HasManyThrough(
      columns.code, Thing.columns.owner, Thing.columns.owner, Anyone.columns.code
    ).order { $0.id }
  }

  private struct Thing: Record {
    var id: Int
    var owner: DatabaseValue
    struct Columns: Sendable {
      let id = Column("id", \Thing.id, .primaryKey)
      let owner = Column("owner", \Thing.owner)
    }
    static let columns = Columns()
    static let table = Table("item", Thing.init, columns.id, columns.owner)
    static let inOwner = BelongsTo(columns.owner, Anyone.columns.code)
  }

  private static let types = [
    "", "BLOB", "TEXT", "INTEGER", "REAL", "NUMERIC", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM",
    "COLLATE NOCASE", "VARCHAR(9)", "ANY",
  ]
  private static let values: [DatabaseValue] = [
    1, 1.0, "1", "01", "1.0", " 1", "1 ", "1e0", 2.5, "2.5", 2, -0.0, 0, "0", "", " ", "abc", "ABC",
    "abc ", "Abc", .blob([0x31]), .blob([]), .blob(Array("abc".utf8)), 9_007_199_254_740_993,
    9_007_199_254_740_992.0, "9007199254740993", 1e300, "1e300", .null, "a\0b", "a\0c", "\u{1}",
    .integer(.max), .integer(.min), 9.3e18, "é", "e\u{301}",
  ]

  @Test(
    "Associations match keys of any type and affinity as SQLite's joins and foreign keys do",
    .onlySQLite(.keys),
    arguments: types + ["ANY STRICT"])
  func foreignKeys(keyTypes: String) throws {
    let keyType = keyTypes.replacing(" STRICT", with: "")
    let option = keyType == keyTypes ? "" : "STRICT"
    for type in Self.types {
      let db = try Database.empty()
      try db.executeStatements(
        SQL(
          raw: """
            CREATE TABLE owner (id INTEGER PRIMARY KEY, code \(keyType) UNIQUE) \(option);
            PRAGMA foreign_keys = OFF;
            CREATE TABLE item (id INTEGER PRIMARY KEY, owner \(type) REFERENCES owner (code));
            """))
      for value in Self.values {
        try db.executeUpdate("INSERT OR IGNORE INTO owner (code) VALUES (?)", value)
        try db.executeUpdate("INSERT INTO item (owner) VALUES (?)", value)
      }
      let owners = try Anyone.order { $0.id }.fetchAll(db)
      let things = try Thing.order { $0.id }.fetchAll(db)
      // The foreign key's collation decides if the parent key's collation is BINARY.
      let isFolded = keyType.contains("COLLATE")
      let collation: SQL =
        isFolded || !type.contains("COLLATE")
        ? "" : SQL(raw: String(type.drop { $0 != "C" }))
      func pairs(_ sql: SQL) throws -> [Int: [Int]] {
        try db.executeQuery(sql).map { (try $0.get(at: 0, as: Int.self), try $0.get(at: 1)) }
          .reduce(into: [:]) { $0[$1.0, default: []].append($1.1) }
      }
      let joined = try pairs(
        """
        SELECT owner.id, item.id FROM owner JOIN item ON owner.code = +item.owner \(collation)
        ORDER BY 2
        """)
      for association in [Anyone.things, Anyone.things.limit(100)] {
        let found = try association.fetchAll(db, of: owners).map { $0.map(\.id) }
        #expect(found == owners.map { joined[$0.id] ?? [] }, "\(keyType) and \(type)")
      }
      let through = try pairs(
        """
        SELECT owner.id, other.id FROM owner JOIN item ON owner.code = +item.owner \(collation)
        JOIN owner AS other ON other.code = +item.owner \(collation) ORDER BY 2
        """)
      let others = try Anyone.others.fetchAll(db, of: owners).map { $0.map(\.id) }
      #expect(others == owners.map { through[$0.id] ?? [] }, "\(keyType) through \(type)")

      let found = try Thing.inOwner.fetchAll(db, of: things).map { $0?.id }
      for (thing, owner) in zip(things, found) {
        let expected = joined.filter { $0.value.contains(thing.id) }.map(\.key)
        #expect(owner.map(expected.contains) ?? expected.isEmpty, "\(thing) \(keyType) \(type)")
      }
      guard isFolded || !type.contains("COLLATE") else { continue }
      let orphans = Set(
        try db.executeQuery("PRAGMA foreign_key_check(item)").map {
          try $0.get("rowid", as: Int.self)
        })
      let missing = zip(things, found).filter { $1 == nil && $0.owner != .null }.map(\.0.id)
      #expect(Set(missing) == orphans, "\(keyType) and \(type)")
    }
  }

  @Test(
    "Among keys that are equal by the collation, an association prefers the identical one",
    .onlySQLite(.keys))
  func ownKey() throws {
    let db = try database(
      "", "COLLATE NOCASE", owners: ["no", "NO", "No"], items: ["NO", "nO", "No"])
    let items = try Item.order { $0.id }.fetchAll(db)
    let found = try Item.inOwner.fetchAll(db, of: items).map { $0?.code }
    #expect(found[0] == "NO" && found[2] == "No" && found[1] != nil)
  }

  @Test(
    "Associations find blob keys, in batches of a thousand per statement",
    .onlySQLite(.keys))
  func manyKeys() throws {
    let db = try Database.empty()
    try db.define(
      """
      CREATE TABLE owner (id INTEGER PRIMARY KEY, code BLOB UNIQUE);
      CREATE TABLE item (id INTEGER PRIMARY KEY, owner BLOB COLLATE NOCASE);
      """)
    let keys = (0..<2_345).map { DatabaseValue.blob([UInt8($0 / 256), UInt8($0 % 256)]) }
    try Anyone.insert(db, contentsOf: keys.enumerated().map { Anyone(id: $0, code: $1) })
    try Thing.insert(
      db, contentsOf: (keys + keys).enumerated().map { Thing(id: $0, owner: $1) })
    let owners = try Anyone.order { $0.id }.fetchAll(db)
    for type in ["BLOB COLLATE NOCASE", "BLOB"] {
      if type == "BLOB" {
        try db.define(
          """
          CREATE TABLE copy (id INTEGER PRIMARY KEY, owner BLOB); INSERT INTO copy SELECT * FROM item;
          DROP TABLE item; ALTER TABLE copy RENAME TO item;
          """)
      }
      let expected = owners.map { [$0.id, $0.id + 2_345] }
      #expect(try Anyone.things.fetchAll(db, of: owners).map { $0.map(\.id) } == expected)
      let limited = Anyone.things.limit(1, offset: 1)
      #expect(
        try limited.fetchAll(db, of: owners).map { $0.map(\.id) } == expected.map { [$0[1]] })
    }
    try db.setLimit(.variables, 10)
    #expect(try Anyone.things.fetchAll(db, of: owners).map(\.count) == owners.map { _ in 2 })
  }

  @Test(
    "An association finds a key whose storage class in the record differs from the table's",
    .onlySQLite(.keys))
  func otherForm() throws {
    let db = try Database.empty()
    try db.define(
      """
      CREATE TABLE owner (id INTEGER PRIMARY KEY, code TEXT);
      CREATE TABLE item (id INTEGER PRIMARY KEY, owner TEXT);
      INSERT INTO item VALUES (1, '5'), (2, '6'), (3, '5');
      """)
    let owners = [Anyone(id: 1, code: 5), Anyone(id: 2, code: "6"), Anyone(id: 3, code: 7)]
    #expect(try Anyone.things.fetchAll(db, of: owners).map { $0.map(\.id) } == [[1, 3], [2], []])
    let last = try Anyone.things.order { $0.id.desc }.limit(1).fetchAll(db, of: owners)
    #expect(last.map { $0.map(\.id) } == [[1], [2], []])
  }

  private struct Stamped: Record {
    var id: UUID
    var text: UUID
    var day: Date
    var week: Date
    struct Columns: Sendable {
      let id = Column("id", \Stamped.id, .primaryKey)
      let text = Column("text", \Stamped.text, as: .text)
      let day = Column("day", \Stamped.day, as: .format(.sqlDate))
      let week = Column("week", \Stamped.week)
    }
    static let columns = Columns()
    static let table = Table(
      "stamped", Stamped.init, columns.id, columns.text, columns.day, columns.week)
  }

  @Test("An association throws if its two columns store their keys in different formats")
  func codings() throws {
    let columns = Stamped.columns
    let stamp = Stamped(
      id: UUID(), text: UUID(), day: Date(timeIntervalSince1970: 86_400), week: .now)
    for format in [DateFormat.secondsSince1970, .sqlDate] {
      var configuration = Configuration()
      configuration.dateFormat = format
      if TestEngine.isPostgres, format != .secondsSince1970 { continue }
      let db = try Database.empty(configuration)
      try Stamped.table.create(db)
      try Stamped.insert(db, contentsOf: [stamp])
      #expect(throws: DatabaseError.self) {
        try HasMany(columns.id, columns.text).fetchAll(db, of: [stamp])
      }
      #expect(throws: DatabaseError.self) {
        try HasManyThrough(columns.id, columns.id, columns.id, columns.text)
          .fetchAll(db, of: [stamp])
      }
      #expect(try HasMany(columns.text, columns.text).fetchAll(db, of: [stamp])[0].count == 1)
      #expect(try BelongsTo(columns.id, columns.id).fetchAll(db, of: [stamp])[0] != nil)
      #expect(try HasMany(columns.day, columns.day).fetchAll(db, of: [stamp])[0].count == 1)
      let weeks = HasMany(columns.day, columns.week)
      if format == .sqlDate {
        #expect(try weeks.fetchAll(db, of: [stamp])[0].isEmpty)
      } else {
        #expect(throws: DatabaseError.self) { try weeks.fetchAll(db, of: [stamp]) }
      }
    }
  }
}
