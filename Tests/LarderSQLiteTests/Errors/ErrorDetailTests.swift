import Foundation
import LarderSQLite
import Testing

@Suite("Details of errors")
struct ErrorDetailTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate("CREATE TABLE city (name TEXT UNIQUE, population INTEGER)")
  }

  private func error(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws -> DatabaseError {
    try #require(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
  }

  @Test("An error's offset is the number of UTF-8 bytes before the wrong token")
  func offsets() throws {
    let first = try error { try db.executeUpdate("SELEKT 1") }
    #expect(first.code == .error)
    #expect(first.offset == SQLiteLibrary.offset(0))
    let second = try error { _ = try db.executeQuery("SELECT '北京' FORM city") }
    #expect(second.offset == SQLiteLibrary.offset("SELECT '北京' FORM ".utf8.count))
    #expect(second.sql == "SELECT '北京' FORM city")
    let third = try error { try db.validate("SELECT nme FROM city") }
    #expect(third.offset == SQLiteLibrary.offset(7))
  }

  @Test("An error in a batch has an offset that fits its SQL")
  func offsetInABatch() throws {
    let found = try error { try db.executeStatements("SELECT 1; SELECT nme FROM city") }
    let sql = try #require(found.sql)
    #expect((found.offset != nil) == (SQLiteLibrary.offset(0) != nil))
    guard let offset = found.offset else { return }
    #expect(String(sql.utf8.dropFirst(offset))?.hasPrefix("nme") == true)
  }

  @Test(
    "An error in a batch has the SQL of the failing statement only",
    arguments: [
      "SELECT ';' FORM city;", "SELECT 1 /* ; */ FORM city", "SELEKT 1;",
      "CREATE TRIGGER t AFTER INSERT ON city BEGIN SELECT 1; SELECT nme; SELEKT 2; END;",
    ])
  func sqlInABatch(statement: String) throws {
    let rest = statement.hasSuffix(";") ? " SELECT 2; SELECT 3;" : ""
    let found = try error {
      try db.executeStatements(SQL(raw: "SELECT 1;" + statement + rest))
    }
    #expect(found.sql == statement)
  }

  @Test("A constraint error has no offset, even after a syntax error that had one")
  func noOffset() throws {
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo', 1)")
    _ = try error { try db.validate("SELECT nme FROM city") }
    let found = try error { try db.executeUpdate("INSERT INTO city VALUES ('Oslo', 1)") }
    #expect(found.offset == nil)
    #expect(found.extendedCode == .constraintUnique)
    #expect(found.code == .constraint)
    #expect(found.message == "UNIQUE constraint failed: city.name")
  }

  @Test("Errors don't contain the values of arguments by default")
  func privacy() throws {
    let secret = "Ålesund-4711"
    try db.executeUpdate("INSERT INTO city VALUES (\(secret), 1)")
    let broken = try error { try db.executeUpdate("INSERT INTO city VALUES (\(secret), 1)") }
    #expect(broken.expandedSQL == nil)
    #expect(!"\(broken)".contains(secret))
    #expect(!String(reflecting: broken).contains(secret))
    #expect(!String(describing: broken.localizedDescription).contains(secret))
    let count = try error { try db.executeUpdate("INSERT INTO city VALUES (?, ?)", secret) }
    #expect(!"\(count)".contains(secret))
    let conversion = try #require(throws: ConversionError.self) {
      try db.value("SELECT name FROM city", as: Int.self)
    }
    #expect(!String(reflecting: conversion).contains(secret))
  }

  @Test("With `showsArguments`, an error contains the SQL with the values of its arguments")
  func expandedSQL() throws {
    var configuration = Configuration()
    configuration.showsArguments = true
    let db = try Database(configuration: configuration)
    try db.executeUpdate("CREATE TABLE city (name TEXT UNIQUE)")
    try db.executeUpdate("INSERT INTO city VALUES (\("O'Brien"))")
    let found = try error { try db.executeUpdate("INSERT INTO city VALUES (\("O'Brien"))") }
    #expect(found.sql == "INSERT INTO city VALUES (?)")
    #expect(found.expandedSQL == "INSERT INTO city VALUES ('O''Brien')")
    #expect(found.description.contains("O''Brien"))
  }

  @Test("An error's description is one line with code, message, SQL and offset")
  func description() throws {
    let found = try error { try db.executeUpdate("DELETE FROM town") }
    #expect(
      found.description
        == "SQLite error 1: no such table: town — while executing “DELETE FROM town”"
        || found.description.hasSuffix("“DELETE FROM town” at byte 12"))
    let syntax = try error { try db.executeUpdate("DELETE FORM city") }
    #expect(
      syntax.description
        == "SQLite error 1: near \"FORM\": syntax error — while executing “DELETE FORM city”"
        + (SQLiteLibrary.offset(7).map { " at byte \($0)" } ?? ""))
  }

  @Test("The description of a misuse names the misuse, and no number of SQLite's")
  func misuse() throws {
    let closed = try Database()
    try closed.close()
    let found = try error { try closed.executeUpdate("DELETE FROM city") }
    #expect(found.code == .misuse)
    #expect(found.description.hasPrefix("misuse: \(found.message)"))
    #expect(!found.description.contains("21"))
  }

  @Test("A result code has a primary code and SQLite's text, and busy codes set `isBusy`")
  func codes() {
    #expect(ResultCode.constraintUnique.primary == .constraint)
    #expect(ResultCode.busySnapshot.primary == .busy)
    #expect(ResultCode.constraint.description == "19 (constraint failed)")
    #expect(ResultCode(rawValue: 2067) == .constraintUnique)
    #expect(DatabaseError(code: .locked, message: "").isBusy)
    #expect(DatabaseError(code: .busySnapshot, message: "").isBusy)
    #expect(DatabaseError(code: .interrupt, message: "").code == .interrupt)
    #expect(!DatabaseError(code: .full, message: "").isBusy)
  }

  @Test("Reading a missing column throws an error that lists the columns or their number")
  func missingColumn() throws {
    let rows = try db.executeQuery("SELECT 1 AS id, 'Oslo' AS name")
    #expect(try rows.next())
    let found = try error { _ = try rows.get("nmae", as: String.self) }
    #expect(found.code == .range)
    #expect(found.message == "no column “nmae”: the columns are id, name")
    for index in [-1, 2, Int.max, Int.min] {
      let found = try error { _ = try rows.get(at: index, as: String.self) }
      #expect(found.message == "no column at index \(index): there are 2")
    }
    #expect(try rows.get("NAME", as: String.self) == "Oslo")
  }

  @Test("Reading a name that two columns have in different case throws; positions work")
  func duplicateColumns() throws {
    let rows = try db.executeQuery("SELECT 1 AS id, 2 AS ID, 3 AS name")
    #expect(try rows.next())
    let found = try error { _ = try rows.get("id", as: Int.self) }
    #expect(found.message.contains("2 columns are named “id”"))
    #expect(try rows.get(at: 1, as: Int.self) == 2)
    #expect(try rows.get("name", as: Int.self) == 3)
  }

  @Test("Column names that differ in the case of a non-ASCII letter are different names")
  func caseBeyondASCII() throws {
    let rows = try db.executeQuery(#"SELECT 1 AS "Ø", 2 AS "ø""#)
    #expect(try rows.next())
    #expect(try rows.get("Ø", as: Int.self) == 1)
    #expect(try rows.get("ø", as: Int.self) == 2)
  }

  @Test("Reading a result set or statement before its first row throws")
  func beforeTheFirstRow() throws {
    let rows = try db.executeQuery("SELECT 1 AS id")
    let found = #expect(throws: DatabaseError.self) { try rows.get(at: 0, as: Int?.self) }
    #expect(found?.message.contains("before its first row") == true)
    #expect(throws: DatabaseError.self) { try rows["id"] }
    #expect(throws: DatabaseError.self) { try rows.isNull(at: 0) }
    let statement = try db.prepare("SELECT 1 AS id")
    #expect(throws: DatabaseError.self) { try statement.get(at: 0, as: Int?.self) }
    #expect(throws: DatabaseError.self) { try statement["id"] }
  }

  @Test("Reading a value or calling `next()` after the last row throws")
  func afterTheLastRow() throws {
    let rows = try db.executeQuery("SELECT 1 AS id")
    #expect(try rows.next())
    let row = rows.row
    #expect(try row["id"] == 1)
    #expect(try !rows.next())
    #expect(try error { _ = try rows.get(at: 0, as: Int.self) }.code == .misuse)
    #expect(try error { _ = try row.get(at: 0, as: Int.self) }.code == .misuse)
    #expect(try error { _ = try rows.next() }.message.contains("last row already"))
  }
}
