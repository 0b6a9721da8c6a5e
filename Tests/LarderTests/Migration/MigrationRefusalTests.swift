import Larder
import PostgresSupport
import Testing

@Suite("Databases and lists that a migrator refuses")
struct MigrationRefusalTests {
  private let db: Database

  init() throws {
    db = try Database.empty()
    try migrator("a", "b", "c").migrate(db)
  }

  private func migration(_ name: String, _ more: String = "") -> Migration {
    Migration(name, sql: SQL(raw: "CREATE TABLE \"\(name)\" (x TEXT\(more))"))
  }

  private func migrator(_ names: String...) -> Migrator { Migrator(names.map { migration($0) }) }

  /// The error's description. Checks that all operations throw the same error and change nothing.
  private func refusal(_ migrator: Migrator, _ db: Database? = nil) throws -> String? {
    let db = db ?? self.db
    let schema = try db.schema()
    let error = failure(MigrationError.self) { try migrator.pending(db) }.map { "\($0)" }
    for operation: () throws -> Void in [
      { try migrator.migrate(db) }, { try migrator.migrate(db, downTo: nil) },
      { _ = try migrator.dryRun(db) },
    ] {
      #expect(failure(MigrationError.self, operation).map { "\($0)" } == error)
    }
    #expect(try db.schema() == schema)
    return error
  }

  @Test("A database migrated by a newer program is refused, with the unknown migrations' names")
  func newer() throws {
    #expect(
      try refusal(migrator("a"))
        == "a newer program has migrated the database: this one doesn't know “b”, “c”")
    #expect(try refusal(Migrator([])) != nil)
    #expect(try migrator("a").applied(db).map(\.name) == ["a", "b", "c"])
    guard
      case .newerDatabase(["c"])? = failure(
        MigrationError.self,
        {
          try migrator("a", "b").migrate(db)
        })
    else {
      Issue.record("another error")
      return
    }
  }

  @Test("A database with an applied migration that the list lacks is refused")
  func missing() throws {
    let text = "the migration “b” was applied, but is missing from the list"
    #expect(try refusal(migrator("a", "c")) == text)
    #expect(try refusal(migrator("a", "c", "d")) == text)
    #expect(try refusal(migrator("a", "d")) == text)
  }

  @Test("A database whose migrations were applied in another order is refused")
  func reordered() throws {
    #expect(
      try refusal(migrator("b", "a", "c"))
        == "the migration “a” was applied where the list has “b”")
    #expect(
      try refusal(migrator("a", "b", "new", "c"))
        == "the migration “c” was applied where the list has “new”")
  }

  @Test("A database is refused if an applied migration's SQL has changed in more than its spelling")
  func changed() throws {
    let text = "the migration “b” has changed since it was applied"
    #expect(
      try refusal(Migrator([migration("a"), migration("b", ", y TEXT"), migration("c")])) == text)
    #expect(
      try refusal(Migrator([migration("a"), Migration("b") { _ in }, migration("c")])) == text)
    try Migrator([
      migration("a"), Migration("b", sql: #"create table "b" ( x text ) -- the second"#),
      migration("c"),
    ]).migrate(db)
  }

  @Test("A list of migrations with a duplicate or empty name, or a wrong user_version, is refused")
  func declaration() throws {
    let db = try Database.empty()
    #expect(
      try refusal(migrator("a", "b", "a"), db)
        == "the list of migrations is wrong: two migrations are named “a”")
    #expect(
      try refusal(migrator("a", ""), db)
        == "the list of migrations is wrong: the name of a migration is empty")
    #expect(
      try refusal(
        Migrator([
          migration("a").replacing(userVersion: 3), migration("b").replacing(userVersion: 3),
        ]), db)
          == """
          the list of migrations is wrong: “b” replaces the user_version 3, which isn't higher than 3
          """)
    #expect(try refusal(Migrator([migration("a").replacing(userVersion: 0)]), db) != nil)
    #expect(try db.schema().isEmpty)
  }

  @Test("Migrating an empty database with an empty list leaves it empty")
  func empty() throws {
    let db = try Database.empty()
    try Migrator([]).migrate(db)
    #expect(try Migrator([]).pending(db) == [])
    #expect(try db.schema().isEmpty)
  }

  @Test("Migrating throws inside of a transaction or a read, and on a closed database")
  func misuse() throws {
    let migrator = migrator("a", "b", "c", "d")
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { try migrator.migrate($0) }
    }
    #expect(error?.code == .misuse)
    let queue = try DatabaseQueue()
    #expect(throws: DatabaseError.self) { try queue.inTransaction { try migrator.migrate($0) } }
    #expect(throws: DatabaseError.self) { try queue.read { try migrator.migrate($0) } }
    try db.close()
    #expect(throws: DatabaseError.self) { try migrator.migrate(db) }
    #expect(throws: DatabaseError.self) { try migrator.pending(db) }
    #expect(throws: DatabaseError.self) { try migrator.dryRun(db) }
  }
}
