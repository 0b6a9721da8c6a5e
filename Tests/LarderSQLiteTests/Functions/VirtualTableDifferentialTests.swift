import LarderSQLite
import LarderVirtualTables
import TestSupport
import Testing

@Suite("Virtual tables compared with ordinary ones")
struct VirtualTableDifferentialTests {
  // Before 3.38, SQLite itself compares texts of a virtual table incorrectly with a list of numbers.
  @Test(
    "Random queries find the same rows in a virtual table and in an ordinary one",
    .enabled(if: SQLiteLibrary.versionNumber >= 3_038_000), arguments: 0..<8)
  func queries(share: Int) throws {
    for number in 0..<40 {
      let seed = UInt64(share * 40 + number)
      var table = RandomVirtualTable(seed: seed)
      let db = try Database()
      try table.create(in: db)
      for _ in 0..<40 {
        let query = table.query()
        let (plain, virtual) = try RandomVirtualTable.results(query, db)
        #expect(plain == virtual, "seed \(seed): \(query.sql) \(query.arguments)")
      }
    }
  }
}
