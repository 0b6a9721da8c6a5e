import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Steps by names")
struct NamedStepTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try run(
      .create(
        "city", .column("id", Int64?.self, .primaryKey),
        .column("name", String.self, .unique), .column("size", String?.self, .indexed),
        .column("country", String?.self), constraints: [.check("name <> ''")]))
    try db.executeUpdate(
      "INSERT INTO city (name, size, country) VALUES ('Oslo', '7', 'NO'), ('Rome', NULL, NULL)")
  }

  private func run(_ steps: SchemaStep...) throws {
    try db.inTransaction { db in for step in steps { try step.execute(db) } }
  }

  private func problem(_ step: SchemaStep) -> String? {
    failure(SchemaError.self) { try run(step) }?.description
  }

  private func values(_ sql: SQL) throws -> [DatabaseValue] {
    try db.executeQuery(sql).map { try $0.get(at: 0) }
  }

  @Test("A step that doesn't fit says which table or column it misses, and what is there")
  func misfits() throws {
    #expect(
      problem(.rename("town", to: "city"))
        == "can't rename the table “town” to “city”: there is no table “town”, but “city”")
    #expect(
      problem(.rename("population", of: "city", to: "inhabitants")) == """
        can't rename the column “population” of “city” to “inhabitants”: “city” has no column “population”, but \
        “id”, “name”, “size”, “country”
        """)
    #expect(
      problem(.add(.column("size", Int.self), to: "city"))?.hasPrefix(
        "can't add the column “size” to “city”: “city” has a column “size” already")
        == true)
    #expect(
      problem(.create("city", .column("id", Int64?.self, .primaryKey)))
        == "can't create the table “city”: there is a table or view “city” already")
    #expect(
      problem(.remove(.index("name"), from: "city")) == """
        can't remove the index ("name") from “city”: “city” has no such index, but “city_size_index”
        """)
    #expect(
      problem(.remove("id", from: "city", losing: .columns))
        == "can't remove the column “id” from “city”: “id” is a part of the primary key of “city”")
    #expect(problem(.drop(view: "large"))?.contains("there is no view “large”, but none") == true)
  }

  @Test("A column, rows and values are lost only if a step says so")
  func losing() throws {
    #expect(
      failure(SchemaError.self) { try run(.remove("size", from: "city", losing: [])) }
        == .losesColumns(table: "city", columns: ["size"]))
    #expect(
      failure(SchemaError.self) { try run(.drop("city", losing: [])) }
        == .losesRows(table: "city", count: 2))
    try run(.remove("size", from: "city", losing: .columns))
    #expect(try !db.columnExists("size", in: "city"))
    #expect(try db.indexes(of: "city").allSatisfy { $0.kind != .created })
    try run(.drop("city", losing: .rows))
    #expect(try !db.tableExists("city"))
  }

  @Test("A column that is NOT NULL is added with values for the rows that exist, or not at all")
  func notNull() throws {
    let column = ColumnDefinition.column("letters", Int.self, .check("letters > 0"))
    #expect(
      failure(SchemaError.self) { try run(.add(column, to: "city")) }
        == .needsValue(table: "city", column: "letters"))
    try run(.add(column, to: "city", filling: "length(name)"))
    #expect(try values("SELECT letters FROM city ORDER BY id") == [4, 4])
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name, letters) VALUES ('Paris', 0)")
    }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name) VALUES ('Paris')")
    }
  }

  @Test(
    "A type is changed by an expression or by Swift code, with keys, constraints and indexes kept")
  func types() throws {
    try run(
      .change(.column("size", Int?.self), of: "city") { (old: String?) in old.flatMap { Int($0) } },
      .change(.column("country", String.self), of: "city", converting: "coalesce(country, '?')"))
    #expect(try values("SELECT size FROM city ORDER BY id") == [7, .null])
    #expect(try values("SELECT country FROM city ORDER BY id") == ["NO", "?"])
    #expect(try db.indexes(of: "city").contains { $0.name == "city_size_index" })
    for name in ["Oslo", ""] {
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("INSERT INTO city (name, country) VALUES (\(name), 'X')")
      }
    }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name, country) VALUES ('Paris', NULL)")
    }
    #expect(try db.columns(of: "city").map(\.name) == ["id", "name", "size", "country"])
  }

  @Test("A changed column keeps its CHECK, unless the definition has another")
  func checks() throws {
    try run(
      .create(
        "item", .column("id", Int64?.self, .primaryKey), .column("n", Int.self, .check("n > 0")),
        .column("m", Int.self)),
      .change(.column("n", Int?.self), of: "item"))
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO item (n, m) VALUES (-5, 1)")
    }
    try run(.change(.column("n", Int?.self, .check("n < 0")), of: "item"))
    try db.executeUpdate("INSERT INTO item (n, m) VALUES (-5, 1)")
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO item (n, m) VALUES (5, 1)")
    }
  }

  @Test("A changed column of texts keeps its collation", .onlySQLite(.definitions))
  func collations() throws {
    try run(
      .create(
        "word", .column("id", Int64?.self, .primaryKey),
        .column("text", String.self, .collate("NOCASE"), .unique)),
      .change(.column("text", String?.self), of: "word"))
    try db.executeUpdate("INSERT INTO word (text) VALUES ('a')")
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO word (text) VALUES ('A')")
    }
  }

  @Test("An error of a conversion in Swift is the step's error, and nothing has changed")
  func failingConversion() throws {
    struct Unreadable: Error, Equatable { let text: String? }
    let error = failure(Unreadable.self) {
      try run(
        .change(.column("size", Int.self), of: "city") { (old: String?) throws -> Int in
          guard let number = old.flatMap({ Int($0) }) else { throw Unreadable(text: old) }
          return number
        })
    }
    #expect(error == Unreadable(text: nil))
    #expect(try values("SELECT size FROM city ORDER BY id") == ["7", .null])
  }

  @Test("The error for a value that isn't of a conversion's old type names the column")
  func wrongOldType() throws {
    try db.executeUpdate("UPDATE city SET country = 'NO'")
    let error = failure(ConversionError.self) {
      try run(.change(.column("country", Int.self), of: "city") { (old: Int) in old })
    }
    #expect(error?.type == "Int" && error?.column == "country")
  }

  @Test(
    "Renames take the names of indexes along, which a later table of the old name can then have")
  func renames() throws {
    try run(
      .rename("size", of: "city", to: "population"), .rename("city", to: "town"),
      .create(
        "city", .column("size", Int64.self, .primaryKey), .column("population", Int.self, .indexed))
    )
    #expect(
      try db.indexes(of: "town").filter { $0.kind == .created }.map(\.name) == [
        "town_population_index"
      ])
    #expect(try values("SELECT name FROM town ORDER BY id") == ["Oslo", "Rome"])
  }

  @Test("Reversible steps are undone in the opposite order, and say whether they are")
  func undoing() throws {
    let steps: [SchemaStep] = [
      .add(.column("founded", Int?.self), to: "city"), .rename("name", of: "city", to: "title"),
      .remove(.index("size"), from: "city"), .add(.unique("title", "size"), to: "city"),
      .create(view: "titles", as: "SELECT title FROM city"), .rename("city", to: "town"),
    ]
    #expect(steps.filter { !$0.isReversible } == [])
    #expect(!SchemaStep.remove("size", from: "city", losing: .columns).isReversible)
    #expect(!SchemaStep.drop("city", losing: .rows).isReversible)
    let before = try Schema(db)
    let migrator = Migrator([
      Migration("titles", steps[0], steps[1], steps[2], steps[3], steps[4], steps[5])
    ])
    try migrator.migrate(db)
    #expect(try db.columnExists("title", in: "town"))
    try migrator.migrate(db, downTo: nil)
    #expect(try before.differences(from: Schema(db)) == [])
    #expect(try values("SELECT name FROM city ORDER BY id") == ["Oslo", "Rome"])
  }

  @Test("Tables that refer to a rebuilt one keep their rows")
  func references() throws {
    let create = Migration(
      "street",
      .create(
        "street", .column("id", Int64?.self, .primaryKey),
        .column("city", Int64.self, .references("city", column: "id", onDelete: .cascade))),
      .run("INSERT INTO street (city) VALUES (1), (1), (2)"))
    let change = Migration(
      "change", .change(.column("size", Int?.self), of: "city") { (_: String?) in 1 },
      .remove("country", from: "city", losing: .columns))
    try Migrator([create, change]).migrate(db)
    #expect(try values("SELECT count(*) FROM street") == [3])
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO street (city) VALUES (9)")
    }
    try db.executeUpdate("DELETE FROM city WHERE id = 1")
    #expect(try values("SELECT count(*) FROM street") == [1])
  }

  @Test("Values that a move leaves out are lost only if it says so; where all are NULL, nothing is")
  func moving() throws {
    try run(
      .create(
        "nation", .column("city", Int64.self, .primaryKey), .column("country", String.self)))
    try db.executeUpdate("INSERT INTO city (name, country) VALUES ('Boston', 'US')")
    func move(_ condition: SQL, _ losing: RebuildLosses = []) -> SchemaStep {
      .move(
        "country", from: "city", to: "nation", key: ["city": "id"], where: condition,
        losing: losing)
    }
    let error = failure(SchemaError.self) { try run(move("country = 'NO'")) }
    #expect(error?.description.contains("leaves out 1 rows with values") == true)
    try run(move("country = 'NO'", .values))
    #expect(try values("SELECT country FROM nation") == ["NO"])
    #expect(try !db.columnExists("country", in: "city"))
    try run(
      .create("extent", .column("city", Int64.self, .primaryKey), .column("size", String.self)),
      .move("size", from: "city", to: "extent", key: ["city": "id"], where: "size IS NOT NULL"))
    #expect(try values("SELECT size FROM extent") == ["7"])
    #expect(try values("SELECT count(*) FROM city") == [3])
  }

  @Test(
    "Unique constraints and foreign keys are added to tables with rows, and unique ones removed")
  func constraints() throws {
    try run(
      .remove(.unique("name"), from: "city"), .add(.unique("country", "name"), to: "city"))
    try db.executeUpdate("INSERT INTO city (name, country) VALUES ('Oslo', 'US')")
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name, country) VALUES ('Oslo', 'US')")
    }
    try run(.remove(.unique("country", "name"), from: "city"))
    try db.executeUpdate("INSERT INTO city (name, country) VALUES ('Oslo', 'US')")
  }

  private struct Task: Record, Equatable {
    var id: Int64?
    var due: Date?
    var made: Date
    var tags: [String]?

    struct Columns: Sendable {
      let id = Column("id", \Task.id, .primaryKey)
      let due = Column("due", \Task.due, .indexed, as: .iso8601)
      let made = Column("made", \Task.made, as: .unixMilliseconds)
      let tags = Column("tags", \Task.tags, as: .json)
    }
    static let columns = Columns()
    static let table = Table(
      "task", Task.init, columns.id, columns.due, columns.made, columns.tags)
  }

  @Test("A step's column has a coding as a record's property has, and is nullable if its type is")
  func codings() throws {
    try run(
      .create("task", .column("id", Int64?.self, .primaryKey)),
      .add(.column("due", Date?.self, .indexed, as: .iso8601), to: "task"),
      .add(
        .column("made", Date.self, .default(Date(timeIntervalSince1970: 7)), as: .unixMilliseconds),
        to: "task"),
      .add(.column("tags", [String]?.self, as: .json), to: "task"))
    // The default is the step's alone.
    let differences = try Task.table.differences(db).map(\.column)
    #expect(differences == ["made"])
    try db.executeUpdate("INSERT INTO task (id) VALUES (1)")
    let task = Task(
      id: 2, due: Date(timeIntervalSince1970: 1), made: Date(timeIntervalSince1970: 2),
      tags: ["a"])
    try task.save(db)
    #expect(
      try Task.order { $0.id }.fetchAll(db) == [
        Task(id: 1, due: nil, made: Date(timeIntervalSince1970: 7), tags: nil), task,
      ])
  }

  @Test("A conversion's values are stored by the column's coding, in a change and in a backfill")
  func convertedByCoding() throws {
    struct Task: Record, Equatable {
      var id: Int64?
      var due: Date?
      var made: Date
      var seen: Date?
      struct Columns: Sendable {
        let id = Column("id", \Task.id, .primaryKey)
        let due = Column("due", \Task.due, as: .iso8601)
        let made = Column("made", \Task.made, as: .unixMilliseconds)
        let seen = Column("seen", \Task.seen, as: .unixMilliseconds)
      }
      static let columns = Columns()
      static let table = Table(
        "task", Task.init, columns.id, columns.due, columns.made, columns.seen)
    }
    try run(
      .create(
        "task", .column("id", Int64?.self, .primaryKey), .column("due", String?.self),
        .column("made", String.self), .column("seen", Date?.self, as: .unixMilliseconds)))
    try db.executeUpdate("INSERT INTO task (due, made) VALUES ('7', '8'), (NULL, '9')")
    @Sendable func date(_ text: String) throws -> Date {
      Date(timeIntervalSince1970: try #require(Double(text)))
    }
    try run(
      .backfill("seen", of: "task", from: "due", as: ColumnCoding<Date>.unixMilliseconds) {
        (old: String?) in try old.map(date)
      },
      .change(.column("due", Date?.self, as: .iso8601), of: "task") {
        (old: String?) in try old.map(date)
      },
      .change(.column("made", Date.self, as: .unixMilliseconds), of: "task") {
        (old: String) in try date(old)
      })
    #expect(try Task.table.differences(db) == [])
    #expect(
      try Task.order { $0.id }.fetchAll(db) == [
        Task(id: 1, due: try date("7"), made: try date("8"), seen: try date("7")),
        Task(id: 2, due: nil, made: try date("9"), seen: nil),
      ])
    // What is stored can be given itself; without a coding, another type can't.
    try run(
      .change(.column("made", Date.self, as: .unixMilliseconds), of: "task") {
        (old: Int64) in old + 1000
      })
    #expect(try Task.find(db, 1).made == date("9"))
    #expect(
      problem(.change(.column("seen", Date?.self), of: "task") { (old: Int64?) in old })?
        .contains("the closure gives Optional<Int64>") == true)
  }

  @Test("A step's column with a coding has the coding's type, with NOT NULL unless it is Optional")
  func codingTexts() throws {
    let columns: [ColumnDefinition] = [
      .column("a", as: ColumnCoding<Date>.iso8601), .column("a", Date.self, as: .iso8601),
      .column("a", Date?.self, as: .iso8601),
    ]
    let sql = try columns.map { try TableSchema("t", [$0], options: .noPrimaryKey).columns[0].sql }
    #expect(sql == [#""a" TEXT NOT NULL"#, #""a" TEXT NOT NULL"#, #""a" TEXT"#])
  }

  @Test("The checksums of steps by names are those that databases have stored")
  func checksums() throws {
    let migrator = Migrator([
      Migration(
        "a",
        .create(
          "lake", .column("id", Int64?.self, .primaryKey),
          .column("name", String.self, .unique, .default("?")),
          .column("deep", Bool.self, .indexed),
          .column("kind", String?.self, .sqlType(postgres: "kind")),
          constraints: [.unique("name", "deep"), .check("name <> ''")])),
      Migration(
        "b", .add(.column("area", Double.self), to: "lake", filling: "1.5"),
        .rename("name", of: "lake", to: "title"), .add(.index("area"), to: "lake"),
        .change(.column("area", Int.self), of: "lake", converting: "round(area)")),
      Migration("c", .backfill("area", of: "lake", with: "\(3)")),
    ])
    let db = try Database()
    try migrator.migrate(db)
    let sums = try db.executeQuery("SELECT checksum FROM larder_migration ORDER BY position").map {
      try $0.get(at: 0, as: String.self)
    }
    #expect(sums == ["013e6e9e2fbd9b61", "2ba2d0015eac5d68", "7992f69298d95a1b"])
    let other = Migrator(
      Array(migrator.migrations.prefix(2)) + [
        Migration("c", .backfill("area", of: "lake", with: "4"))
      ])
    #expect(
      failure(MigrationError.self) { try other.migrate(db) }?.description.contains(
        "“c” has changed") == true)
  }
}
