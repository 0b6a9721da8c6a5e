import Foundation
import Larder
import PostgresSupport
import Testing

/// Runs SQL, and returns the kind of constraint that it violates.
func violation(_ sql: SQL, _ db: Database) -> ConstraintViolation.Kind? {
  do {
    try db.executeUpdate(sql)
    return nil
  } catch {
    return (error as? DatabaseError)?.constraint?.kind
  }
}

@Suite("Constraints of created tables")
struct ConstraintCreationTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test(
    "A composite key and a UNIQUE constraint refuse duplicates",
    .onlySQLite(.catalog))
  func uniqueness() throws {
    try road(constraints: [.unique(Road.columns.country, Road.columns.length)]).create(db)
    try db.executeUpdate("INSERT INTO road VALUES (1, 2, 'NO', 5)")
    #expect(violation("INSERT INTO road VALUES (1, 2, 'SE', 6)", db) == .primaryKey)
    #expect(violation("INSERT INTO road VALUES (1, 3, 'NO', 5)", db) == .unique)
    #expect(violation("INSERT INTO road VALUES (1, 3, 'NO', 6)", db) == nil)
    try Country.table.create(db)
    try db.executeUpdate("INSERT INTO country VALUES ('NO', 'Norway')")
    #expect(violation("INSERT INTO country VALUES ('N', 'Norway')", db) == .unique)
  }

  @Test(
    "A unique column compares by its collation",
    .onlySQLite(.functions))
  func collation() throws {
    try town(Column("name", \.name, .collate("NOCASE"), .unique)).create(db)
    try db.executeUpdate("INSERT INTO town (name) VALUES ('Oslo')")
    #expect(violation("INSERT INTO town (name) VALUES ('OSLO')", db) == .unique)
  }

  @Test("Check constraints of columns and of the table are enforced")
  func checks() throws {
    try town(Column("name", \.name, .check("name <> \("L'Aquila")"))).create(db)
    #expect(violation("INSERT INTO town (name) VALUES (\("L'Aquila"))", db) == .check)
    try road(constraints: [.check(#"length > \#(0) AND "from" <> "to""#)]).create(db)
    #expect(violation("INSERT INTO road VALUES (1, 1, NULL, 5)", db) == .check)
    #expect(violation("INSERT INTO road VALUES (1, 2, NULL, 0)", db) == .check)
    #expect(violation("INSERT INTO road VALUES (1, 2, NULL, 1)", db) == nil)
  }

  @Test(
    "Generated columns are computed, stored or virtual",
    .onlySQLite(.definitions))
  func generated() throws {
    for stored in [false, true] {
      let db = try Database.empty()
      let expression: SQL = stored ? "upper('Oslo')" : "'town ' || (id + \(1))"
      try town(Column("name", \.name, .generated(expression, stored: stored))).create(db)
      try db.executeUpdate("INSERT INTO town (id) VALUES (1)")
      #expect(try db.value("SELECT name FROM town") == (stored ? "OSLO" : "town 2"))
    }
  }

  @Test(
    "A unique partial index refuses duplicates where its condition holds, and queries use an index",
    .onlySQLite(.catalog))
  func indexes() throws {
    try road(indexes: [
      .index(Road.columns.length, unique: true, where: "country = \("NO")", name: "norway")
    ]).create(db)
    try db.executeUpdate(
      "INSERT INTO road VALUES (1, 2, 'NO', 5), (1, 3, 'SE', 5), (1, 4, 'SE', 5)")
    #expect(violation("INSERT INTO road VALUES (1, 5, 'NO', 5)", db) == .unique)
    try City.table.create(db)
    let plan = try db.executeQuery("EXPLAIN QUERY PLAN SELECT * FROM city WHERE population = 1")
    #expect(try plan.next())
    #expect(try plan.get("detail", as: String.self).contains("city_population_index"))
  }

  @Test("Foreign keys are enforced with their actions, immediately or at commit")
  func foreignKeys() throws {
    try Road.table.create(db)
    try Bridge.table.create(db)
    try db.inTransaction { db in
      // The foreign key is deferred: the bridge is inserted before its road.
      try db.executeUpdate(#"INSERT INTO bridge ("from", "to") VALUES (1, 2)"#)
      try db.executeUpdate("INSERT INTO road VALUES (1, 2, NULL, 5)")
    }
    try db.executeUpdate(#"INSERT INTO bridge ("from", "to", older) VALUES (1, 2, 1)"#)
    #expect(
      violation(#"INSERT INTO bridge ("from", "to", older) VALUES (1, 2, 9)"#, db) == .foreignKey)
    try db.executeUpdate("DELETE FROM bridge WHERE id = 1")
    #expect(try db.value("SELECT older FROM bridge", as: Int?.self) == .some(nil))
    try db.executeUpdate(#"UPDATE road SET "to" = 3"#)
    #expect(try db.value(#"SELECT "to" FROM bridge"#) == 3)
    try db.executeUpdate("DELETE FROM road")
    #expect(try db.value("SELECT count(*) FROM bridge") == 0)
    #expect(violation(#"INSERT INTO bridge ("from", "to") VALUES (1, 2)"#, db) == .foreignKey)
  }

  @Test(
    "Tables that refer to each other can be created in either order, and dropped",
    .enabled(
      if: !TestEngine.isPostgres,
      "a server wants the other table first: CatalogTests has steps make both"))
  func circle() throws {
    for isReversed in [false, true] {
      let db = try Database.empty()
      if isReversed { try Mayor.table.create(db) }
      try Capital.table.create(db)
      if !isReversed { try Mayor.table.create(db) }
      try db.inTransaction { db in
        try Capital(id: 1, mayor: 1).save(db)
        try Mayor(id: 1, capital: 1).save(db)
      }
      #expect(try Capital.table.differences(db) == [])
      #expect(try Mayor.table.differences(db) == [])
      try db.inTransaction { db in
        try Mayor.table.drop(db)
        try Capital.table.drop(db)
      }
      #expect(try db.schema().isEmpty)
    }
  }
}
