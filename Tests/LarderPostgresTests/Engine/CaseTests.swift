import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

/// A user whose address is unique whatever its case.
private struct Member: Record {
  var id: Int64?
  var email: String
  var nickname: String?
  var visits: Int

  struct Columns: Sendable {
    let id = Column("id", \Member.id, .primaryKey)
    let email = Column("email", \Member.email, .unique, .collate("NOCASE"))
    let nickname = Column("nickname", \Member.nickname, .indexed, .collate("nocase"))
    let visits = Column("visits", \Member.visits)
  }
  static let columns = Columns()
  static let table = Table(
    "member", Member.init, columns.id, columns.email, columns.nickname, columns.visits)
}

private struct Word: Record {
  var id: Int64
  var text: String?

  struct Columns: Sendable {
    let id = Column("id", \Word.id, .primaryKey)
    let text = Column("text", \Word.text)
  }
  static let columns = Columns()
  static let table = Table("word", Word.init, columns.id, columns.text)
}

@Suite(
  "Case of letters on SQLite and on a server",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"), .serialized)
struct CaseTests {
  /// A database of each engine, one of them on a server with a linguistic collation.
  private static let databases = Result {
    let server = try PostgresServer(["--locale", "icu"])
    return (sqlite: try DatabaseQueue(), pool: try PostgresPool(server.address), server: server)
  }

  /// Runs a closure on both, each time in a transaction that is rolled back.
  private func both<T: Equatable & Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) throws -> T {
    let databases = try Self.databases.get()
    func run(_ access: some DatabaseAccess) throws -> T {
      try access.inTransaction { db in
        db.setRollbackOnly()
        return try body(db)
      }
    }
    let expected = try run(databases.sqlite)
    let found = try run(databases.pool)
    #expect(found == expected)
    return expected
  }

  private static let words: [String?] = [
    "Ärger", "ärger", "ARGER", "İstanbul", "istanbul", "i̇stanbul", "Straße", "STRASSE", "STRAẞE",
    "ΟΔΟΣ", "οδος", "οδοσ", "100%", "a_b", "a*b", "a?b", "a[b]", "\\", "A\\B", "", nil, "Kelvin",
    "\u{212A}elvin", "ǅ", "ǆ", "Ω", "\u{2126}", "北京", "🇳🇴", "ﬁ", "FI",
  ]

  private static let patterns: [(String, Character?)] = [
    ("ärger", nil), ("ÄRGER", nil), ("%RGER", nil), ("ä%", nil), ("_rger", nil), ("İ%", nil),
    ("i%", nil), ("I%", nil), ("straße", nil), ("STRASSE", nil), ("straẞe", nil), ("οδοΣ", nil),
    ("ΟΔΟς", nil), ("%ς", nil), ("100!%", "!"), ("a!_B", "!"), ("a*b", nil), ("A?B", nil),
    ("a[b]", nil), ("a[B]", nil), ("\\", nil), ("a\\b", nil), ("a\\\\b", "\\"), ("", nil),
    ("%", nil), ("_", nil), ("a!", "!"), ("!", "!"), ("kelvin", nil), ("KELVIN", nil),
    ("\u{212A}%", nil), ("ǆ", nil), ("ǅ", nil), ("ω", nil), ("北_", nil), ("🇳🇴", nil), ("__", nil),
    ("fi", nil), ("a%%", "%"), ("[", nil), ("*", nil), ("?", nil),
  ]

  @Test(
    "A pattern matches the same texts on both engines, however the case of letters counts",
    arguments: patterns)
  func matching(_ pattern: String, _ escape: Character?) throws {
    _ = try both { db in
      try Word.table.create(db)
      for (index, text) in Self.words.enumerated() {
        _ = try Word(id: Int64(index), text: text).inserted(db)
      }
      return try [nil, true, false].map { (caseSensitive: Bool?) in
        let matches = try Word.filter {
          $0.text.like(pattern, escape: escape, caseSensitive: caseSensitive)
        }.order { $0.id }.select { $0.id }.fetchAll(db)
        let others = try Word.filter {
          !$0.text.like(pattern, escape: escape, caseSensitive: caseSensitive)
        }.order { $0.id }.select { $0.id }.fetchAll(db)
        return [matches, others]
      }
    }
  }

  @Test("like(_:caseSensitive:) tells letters apart, or ignores their case in all of Unicode")
  func like() throws {
    let found = try both { db in
      try Word.table.create(db)
      for (index, text) in Self.words.enumerated() {
        _ = try Word(id: Int64(index), text: text).inserted(db)
      }
      func texts(_ pattern: String, _ caseSensitive: Bool?) throws -> [String?] {
        try Word.filter { $0.text.like(pattern, caseSensitive: caseSensitive) }.order { $0.id }
          .select { $0.text }.fetchAll(db)
      }
      return try [
        texts("Ärger", nil), texts("Ärger", true), texts("Ärger", false), texts("οδος", false),
        texts("straße", false), texts("istanbul", false), texts("arger", true),
        texts("kelvin", false),
      ]
    }
    #expect(
      found == [
        ["Ärger"], ["Ärger"], ["Ärger", "ärger"], ["ΟΔΟΣ", "οδος", "οδοσ"], ["Straße", "STRAẞE"],
        ["istanbul"], [], ["Kelvin", "\u{212A}elvin"],
      ])
  }

  @Test("Every letter of Unicode has the same small form on a server as on SQLite")
  func everyLetter() throws {
    // Letters that came to Unicode later than the server's ICU have no case there.
    let letters = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).filter {
      $0.value > 0 && $0.properties.changesWhenCaseMapped
        && ($0.properties.age.map { $0.major < 15 } ?? false)
    }
    #expect(letters.count > 2_700)
    let different = try both { db in
      try Word.table.create(db)
      try Word.insert(
        db,
        contentsOf: letters.enumerated().map { Word(id: Int64($0), text: "a\($1)b") })
      // A letter's own pattern matches it and its other forms.
      return try stride(from: 0, to: letters.count, by: 7).map { index in
        try Word.filter {
          $0.text.like("A\(letters[index])B", caseSensitive: false)
        }.order { $0.id }.select { $0.id }.fetchAll(db)
      }
    }
    #expect(different.allSatisfy { !$0.isEmpty })
  }

  @Test("An index finds the beginning of a pattern whose case matters")
  func indexedPrefix() throws {
    let databases = try Self.databases.get()
    try databases.sqlite.inTransaction { db in
      db.setRollbackOnly()
      try Word.table.create(db)
      try db.executeUpdate("CREATE INDEX word_text ON word(text)")
      let plan = try Word.filter { $0.text.like("Osl%", caseSensitive: true) }.explain(db)
      #expect("\(plan)".contains("SEARCH"), "\(plan)")
    }
  }

  // MARK: Columns

  @Test("Texts that differ in the case of ASCII letters are one in a unique NOCASE column")
  func unique() throws {
    let codes = try both { db -> [String] in
      try Member.table.create(db)
      _ = try Member(email: "Ann@example.org", nickname: "Ann", visits: 1).inserted(db)
      return ["ann@EXAMPLE.org", "ann@example.com", "ÄNN@example.org", "änn@example.org"].map {
        email in
        do {
          try db.inSavepoint { db in
            _ = try Member(email: email, nickname: nil, visits: 1).inserted(db)
          }
          return "inserted"
        } catch let error as DatabaseError {
          return "\(error.code) \(error.extendedCode)"
        } catch { return "\(error)" }
      }
    }
    #expect(codes[0].contains("constraint"), "\(codes)")
    #expect(codes.dropFirst().allSatisfy { $0 == "inserted" }, "\(codes)")
  }

  private static let conditions: [@Sendable (RecordFields<Member>) -> SQLExpression<Bool>] = [
    { $0.email == "ANN@example.org" }, { $0.email != "ANN@example.org" },
    { $0.email < "BOB" }, { $0.email >= "bob@example.org" },
    { $0.email.in(["ANN@EXAMPLE.ORG", "cid@example.org"]) },
    { !$0.email.in(["ANN@EXAMPLE.ORG", "cid@example.org"]) },
    { $0.email.in("ANN"..."CID") }, { $0.email.hasPrefix("ann") }, { $0.email.hasPrefix("Ann") },
    { $0.email.hasSuffix("ORG") }, { $0.email.contains("ANN") }, { $0.email.like("ann%") },
    { $0.email.like("ann%", caseSensitive: true) }, { $0.nickname == "ANN" },
    { $0.nickname != "ANN" }, { $0.nickname == nil }, { $0.nickname == $0.email },
    { $0.email == $0.nickname }, { $0.email.collate("BINARY") == "ANN@example.org" },
    { $0.email.lowercased == "ann@example.org" }, { $0.email.length == 15 },
    { $0.nickname.coalesce("") == "ANN" }, { $0.nickname == "ÄNN" }, { $0.nickname == "änn" },
  ]

  @Test("Conditions on a NOCASE column hold for the same rows on both engines")
  func columnConditions() throws {
    for (number, condition) in Self.conditions.enumerated() {
      let rows = try both { db in
        try Self.fill(db)
        return try Member.filter(condition).order { $0.id }.select { $0.id }.fetchAll(db)
      }
      if number == 0 { #expect(rows == [1]) }
    }
  }

  private static func fill(_ db: Database) throws {
    try Member.table.create(db)
    let members: [(String, String?)] = [
      ("Ann@example.org", "Ann"), ("bob@example.org", "BOB@example.org"), ("CID@example.org", nil),
      ("ann@example.com", "ann"), ("Åse@example.org", "Änn"), ("zoe@example.org", "änn"),
    ]
    for (email, nickname) in members {
      _ = try Member(email: email, nickname: nickname, visits: 1).inserted(db)
    }
  }

  @Test("A NOCASE column is put in order, grouped, joined and upserted alike on both engines")
  func statements() throws {
    let found = try both { db -> [[String]] in
      try Self.fill(db)
      func emails(_ query: Query<Member>) throws -> [String] {
        try query.fetchAll(db).map(\.email)
      }
      var visitor = Member(email: "ANN@EXAMPLE.ORG", nickname: "new", visits: 7)
      try visitor.upsert(
        db, onConflict: Member.columns.email, updating: Member.columns.visits)
      var other = Member(email: "BOB@EXAMPLE.ORG", nickname: "new", visits: 7)
      try other.upsert(db, onConflict: Member.columns.email) { $0.visits += $1.visits }
      let counts = try Member.all.group { $0.nickname }.select { _ in count() }.fetchAll(db)
      let pairs = try Member.join(Member.self) { $0.email == $1.nickname }
        .select { ($0.email, $1.email) }.fetchAll(db)
      return try [
        emails(Member.order { $0.email }), emails(Member.order { $0.email.desc }),
        emails(Member.all.order(byColumnNamed: "email")),
        emails(Member.filter { $0.email > "ann@example.org" }.order { ($0.nickname, $0.email) }),
        counts.sorted().map { "\($0)" }, pairs.map { "\($0)" }.sorted(),
        ["\(visitor.id ?? 0)", "\(other.id ?? 0)"],
        Member.order { $0.id }.fetchAll(db).map { "\($0.email) \($0.visits)" },
        Member.filter { $0.email == "ZOE@example.org" }.delete(db) == 1 ? ["deleted"] : [],
      ]
    }
    #expect(found[0].first == "ann@example.com")
    #expect(found[6] == ["1", "2"])
  }

  @Test("A NOCASE column's table equals its declaration on both engines, and lookups use its index")
  func schema() throws {
    let same = try both { db in
      try Member.table.create(db)
      return try Member.table.differences(db).isEmpty
    }
    #expect(same)
    let pool = try Self.databases.get().pool
    try pool.inTransaction { db in
      db.setRollbackOnly()
      try Member.table.create(db)
      try db.executeUpdate("SET LOCAL enable_seqscan = off")
      let plan = try Member.filter { $0.email == "ANN@example.org" }.explain(db)
      #expect("\(plan)".contains("member_email_index"), "\(plan)")
    }
  }

  @Test("A server refuses a NOCASE key, and the smallest text of a NOCASE column")
  func refusals() throws {
    struct Code: Record {
      var code: String

      struct Columns: Sendable {
        let code = Column("code", \Code.code, .primaryKey, .collate("NOCASE"))
      }
      static let columns = Columns()
      static let table = Table("code", Code.init, columns.code)
    }
    let pool = try Self.databases.get().pool
    try pool.inTransaction { db in
      db.setRollbackOnly()
      #expect(throws: UnsupportedByEngine.self) { try Code.table.create(db) }
      try Member.table.create(db)
      #expect(throws: UnsupportedByEngine.self) {
        try Member.all.select { $0.email.min() }.fetchOne(db)
      }
      #expect(throws: UnsupportedByEngine.self) {
        try Member.all.select { $0.email.count(distinct: true) }.fetchOne(db)
      }
    }
  }
}
