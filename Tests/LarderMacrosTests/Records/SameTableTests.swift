import Foundation
import Larder
import Testing

/// The SQL of a record's declaration. Declared by macro and by hand it must be the same.
struct DeclaredSQL: Equatable {
  let schema: [String]
  let statements: [String]

  init<R: Record>(_ type: R.Type, with others: any Record.Type...) throws {
    let table = R.table
    statements = [
      table.name, table.insertSQL, table.updateSQL, table.upsertSQL, table.deleteSQL,
      table.findSQL, table.selectSQL,
    ]
    let db = try Database()
    for other in others { try Self.create(other, db) }
    try table.create(db)
    schema = try db.fetch(
      String.self, "SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY rowid")
  }

  private static func create<R: Record>(_ type: R.Type, _ db: Database) throws {
    try R.table.create(db)
  }
}

@Suite("Records by macro and by hand")
struct SameTableTests {
  @Test("Records by macro and by hand give the same SQL, with every option")
  func sameSQL() throws {
    try #expect(
      DeclaredSQL(ByMacro.City.self, with: ByMacro.Country.self)
        == DeclaredSQL(ByHand.City.self, with: ByHand.Country.self))
    try #expect(DeclaredSQL(ByMacro.Country.self) == DeclaredSQL(ByHand.Country.self))
    let measurement = try DeclaredSQL(
      ByMacro.Measurement.self, with: ByMacro.Country.self, ByMacro.City.self)
    try #expect(
      measurement
        == DeclaredSQL(ByHand.Measurement.self, with: ByHand.Country.self, ByHand.City.self))
    // The compared SQL contains the options in question.
    #expect(measurement.schema.joined().contains("DEFERRABLE"))
    #expect(measurement.schema.joined().contains("\"by_value\""))
    let job = try DeclaredSQL(ByMacro.Job.self)
    try #expect(job == DeclaredSQL(ByHand.Job.self))
    #expect(job.schema.joined().contains("VARCHAR(40)"))
    let document = try DeclaredSQL(ByMacro.Document.self)
    try #expect(document == DeclaredSQL(ByHand.Document.self))
    #expect(document.schema.joined().contains("larder_json_if"))
    try #expect(DeclaredSQL(ByMacro.Line.self) == DeclaredSQL(ByHand.Line.self))
    #expect(ByMacro.Label.table.selectSQL == ByHand.Label.table.selectSQL)
    #expect(throws: RecordError.self) { try ByMacro.Label.table.schema() }
  }
}
