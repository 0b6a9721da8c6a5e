import LarderMacros
import Testing

/// Each query begins with a record that another file declares and this one names nowhere else: the
/// compiler has to find the conformance that the macro writes in the other file.
@Suite("Queries of records declared by macro in another file")
struct OtherFileTests {
  private let db: Database

  init() throws {
    db = try Database()
    try db.executeStatements("CREATE TABLE country (code TEXT, name TEXT)")
    try db.executeStatements(
      "CREATE TABLE jobs (number, \"the \"\"queue\"\"\", \"default\", color)")
    try db.executeStatements("CREATE TABLE line (text TEXT)")
    try db.executeStatements("CREATE TABLE token (number INTEGER, text TEXT, uses INTEGER)")
  }

  @Test("Queries of records from another file compile, whichever clause comes first")
  func queries() throws {
    #expect(try ByMacro.Country.order { $0.name }.fetchAll(db).map(\.code) == [])
    #expect(try ByMacro.Job.all.fetchAll(db).count == 0)
    #expect(try ByMacro.Line.filter { $0.text == "x" }.fetchOne(db) == nil)
    #expect(
      try Token.all.group { $0.uses }.select { ($0.uses, count()) }.fetchAll(db).count == 0)
  }
}
