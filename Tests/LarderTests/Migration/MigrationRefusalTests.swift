import Larder
import PostgresSupport
import Testing

@Suite("Databases that a migrator refuses")
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

  /// What all operations throw, in one line; nothing is changed.
  private func refusal(_ migrator: Migrator, _ db: Database? = nil) throws -> String? {
    let db = db ?? self.db
    let schema = try db.schema()
    let error = failure(MigrationError.self) { try migrator.pending(db) }.map { "\($0)" }
    for operation: () throws -> Void in [
      { try migrator.migrate(db) }, { try migrator.migrateDown(db, to: nil) },
      { _ = try migrator.dryRun(db) },
    ] {
      #expect(failure(MigrationError.self, operation).map { "\($0)" } == error)
    }
    #expect(try db.schema() == schema)
    return error
  }

  @Test("One that a newer program has migrated, which the error lists")
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

  @Test("One whose applied migration has been taken out of the list")
  func missing() throws {
    let text = "the migration “b” was applied, but is missing in the list"
    #expect(try refusal(migrator("a", "c")) == text)
    #expect(try refusal(migrator("a", "c", "d")) == text)
    #expect(try refusal(migrator("a", "d")) == text)
  }

  @Test("One whose applied migrations have another order in the list")
  func reordered() throws {
    #expect(
      try refusal(migrator("b", "a", "c"))
        == "the migration “a” was applied where the list has “b”")
    #expect(
      try refusal(migrator("a", "b", "new", "c"))
        == "the migration “c” was applied where the list has “new”")
  }

  @Test("One whose applied migration has changed")
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

  @Test("Lists that don't hold together say so, whatever the database")
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

  @Test("An empty list leaves an empty database empty")
  func empty() throws {
    let db = try Database.empty()
    try Migrator([]).migrate(db)
    #expect(try Migrator([]).pending(db) == [])
    #expect(try db.schema().isEmpty)
  }

  @Test("A closed database throws, and so does one with a transaction open")
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
