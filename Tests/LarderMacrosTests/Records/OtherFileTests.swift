import LarderMacros
import Testing

/// Each query begins with a record that this file names nowhere else, and that another declares: the
/// compiler has to look for the conformance that the macro writes there.
@Suite("Queries of records that a macro declares in another file")
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

  @Test("They compile, whatever comes first")
  func queries() throws {
    #expect(try ByMacro.Country.order { $0.name }.fetchAll(db).map(\.code) == [])
    #expect(try ByMacro.Job.all.fetchAll(db).count == 0)
    #expect(try ByMacro.Line.filter { $0.text == "x" }.fetchOne(db) == nil)
    #expect(
      try Token.all.group { $0.uses }.select { ($0.uses, count()) }.fetchAll(db).count == 0)
  }
}
