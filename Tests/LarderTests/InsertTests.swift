import Larder
import Testing

@Suite("Inserting records")
struct InsertTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate(
      "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL)")
  }

  @Test("a key that is nil gets the value that SQLite chose")
  func fillsKey() throws {
    var oslo = City(id: nil, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    #expect(oslo.id == 1)
    #expect(try City.find(db, 1) == oslo)
  }
}
