import Foundation
import LarderMacros
import Testing

/// Records that are declared for databases that others have made.
@Suite("Records for existing databases")
struct ExistingDatabaseTests {
  private func chinook() throws -> Database {
    let db = try Database()
    try db.executeStatements(Chinook.sql)
    try db.executeStatements(Chinook.rows)
    return db
  }

  private func northwind() throws -> Database {
    var configuration = Configuration()
    configuration.allowsDoubleQuotedStrings = true
    let db = try Database(configuration: configuration)
    for sql in [Northwind.tables, Northwind.views, Northwind.rows] {
      try db.executeStatements(sql)
    }
    return db
  }

  @Test("The declared records of Chinook have no differences from its schema")
  func chinookSchema() throws {
    let db = try chinook()
    let (declared, found) = (try Chinook.declared(), try Schema(db))
    #expect(declared.tables.count == 11)
    #expect(declared.differences(from: found).map(\.description) == [])
    #expect(declared.steps(from: found).map(\.description) == [])
    #expect(try Chinook.Track.table.differences(db).map(\.description) == [])
    let notes = declared.differences(from: found, strictly: true)
    #expect(notes.count > 30 && !notes.contains { !$0.isNote })
    #expect(
      notes.map(\.description).contains(
        "“Album”.“Title”, type: declared TEXT, found NVARCHAR(160)"))
    #expect(!notes.contains { $0.table == "Genre" })
  }

  @Test("The declared records of Northwind and its views have no differences from its schema")
  func northwindSchema() throws {
    let db = try northwind()
    let (declared, found) = (try Northwind.declared(), try Schema(db))
    #expect(declared.tables.count == 13 && found.others.count == 9)
    #expect(declared.differences(from: found).map(\.description) == [])
    #expect(declared.steps(from: found).map(\.description) == [])
    let notes = declared.differences(from: found, strictly: true)
    #expect(!notes.contains { !$0.isNote })
    #expect(
      notes.map(\.description) == [
        "“Customers”.“CustomerID”, nullability: declared NOT NULL, found NULL",
        "“Products”.“UnitPrice”, default: declared 0.0, found 0",
        "“Orders”.“Freight”, default: declared 0.0, found 0",
        "“Order Details”.“UnitPrice”, default: declared 0.0, found 0",
        "“Order Details”.“Discount”, default: declared 0.0, found 0",
      ])
    #expect(try Northwind.Line.table.differences(db) == [])
    #expect(try Northwind.Company.table.differences(db) == [])
    #expect(try Northwind.ExtendedLine.table.differences(db) == [])
    #expect(try Northwind.Subtotal.table.differences(db, strictly: true) == [])
  }

  @Test("Differences of an existing database are reported, and the steps resolve them")
  func wrong() throws {
    let db = try chinook()
    try db.executeStatements(
      """
      DROP INDEX IFK_AlbumArtistId;
      ALTER TABLE Genre ADD COLUMN Note NVARCHAR(5);
      DROP TABLE PlaylistTrack;
      """)
    let declared = try Chinook.declared()
    let differences = try declared.differences(from: Schema(db)).map(\.description)
    #expect(differences.count == 3)
    #expect(
      differences.contains("“Genre”.“Note”: declared nothing, found \"Note\" NVARCHAR(5)"))
    for step in declared.steps(from: try Schema(db)) { try step.execute(db) }
    #expect(try declared.differences(from: Schema(db)).isEmpty)
    // A rebuilt table has the declared types. Types of other tables remain notes.
    #expect(try !declared.differences(from: Schema(db), strictly: true).contains { !$0.isNote })
  }

  @Test("Ten queries of Chinook's records return the expected rows")
  func chinookQueries() throws {
    let db = try chinook()
    #expect(
      try Chinook.Album.filter { $0.artist == 2 }.order { $0.title }.select { $0.title }
        .fetchAll(db) == ["Balls to the Wall", "Restless and Wild"])
    #expect(try Chinook.Track.find(db, 1).unitPrice == 0.99)
    #expect(try Chinook.Track.find(db, 4).unitPrice == 1)
    #expect(
      try Chinook.Track.join(Chinook.Genre.self) { $0.genre == $1.id }
        .filter { $1.name == "Jazz" }.select { track, _ in track.name }.fetchAll(db) == [
          "Restless and Wild"
        ])
    #expect(
      try Chinook.Artist.leftJoin(Chinook.Album.self) { $0.id == $1.artist }
        .filter { $1.id == nil }.select { artist, _ in artist.name }.fetchAll(db) == ["Aerosmith"])
    let totals = try Chinook.Invoice.all.group { $0.country }.order { $0.country }
      .select { ($0.country, $0.total.sum()) }.fetchAll(db)
    #expect(totals.map(\.1) == [6.94, 1.98])
    #expect(
      try Chinook.Invoice.filter { $0.date > Date(timeIntervalSince1970: 1_234_310_400) }
        .select { $0.id }.fetchAll(db) == [3])
    #expect(
      try Chinook.Employee.join(Chinook.Employee.self) { $0.boss == $1.id }
        .order { $0.0.id }.select { ($0.lastName, $1.lastName) }.fetchAll(db)
        .map { "\($0.0) \($0.1)" } == ["Edwards Adams", "Peacock Edwards"])
    let tracks = HasMany(Chinook.Album.columns.id, Chinook.Track.columns.album)
    #expect(
      try Chinook.Album.order { $0.id }.fetchAll(db, with: tracks).map(\.1.count) == [1, 1, 2, 0])
    #expect(
      try Chinook.Playlist.filter { playlist in
        !Chinook.PlaylistTrack.filter { $0.playlist == playlist.id }.exists
      }.fetchAll(db).map(\.name) == ["Empty"])
    #expect(
      try Chinook.InvoiceLine.select { ($0.unitPrice * $0.quantity.real).sum() }.fetchOne(db)
        == 7.92)
  }

  @Test("Queries of Northwind's records and views return the expected rows")
  func northwindQueries() throws {
    let db = try northwind()
    #expect(try Northwind.Category.find(db, 1).picture == [0xff, 0xd8])
    #expect(try Northwind.ProductWithCategory.find(db, 3).category == "Condiments")
    #expect(try Northwind.ProductWithCategory.fetchOne(db, 4) == nil)
    #expect(
      try Northwind.CurrentProduct.order { $0.name }.fetchAll(db).map(\.name)
        == ["Aniseed Syrup", "Chai", "Chang"])
    #expect(
      try Northwind.Company.filter { $0.city == "London" }.order { $0.company }.fetchAll(db)
        .map(\.relationship) == ["Customers", "Suppliers"])
    #expect(
      try Northwind.Subtotal.order { $0.order }.fetchAll(db)
        == [
          Northwind.Subtotal(order: 10643, subtotal: 190),
          Northwind.Subtotal(order: 10692, subtotal: 78),
        ])
    #expect(
      try Northwind.Order.join(Northwind.Subtotal.self) { $0.id == $1.order }
        .filter { $1.subtotal > 100 }.select { order, _ in order.customer }.fetchAll(db) == [
          "ALFKI"
        ])
    let sales = try Northwind.CategorySales.all.group { $0.name }.order { $0.name }
      .select { ($0.name, $0.sales.sum()) }.fetchAll(db)
    #expect(sales.map(\.1) == [258, 10])
    #expect(
      try Northwind.Expensive.fetchAll(db) == [
        Northwind.Expensive(name: "Mishi Kobe Niku", price: 97)
      ])
    #expect(try Northwind.ProductInCategory.filter { $0.discontinued == "0" }.fetchCount(db) == 3)
    #expect(try Northwind.QuarterlyOrder.fetchAll(db).map(\.customer) == ["ALFKI"])
    #expect(try Northwind.ExtendedLine.all.fetchCount(db) == 3)
  }

  @Test("Records of Northwind are inserted and updated")
  func writing() throws {
    let db = try northwind()
    var category = Northwind.Category(id: nil, name: "Cheese", description: nil, picture: [1])
    try category.insert(db)
    #expect(category.id == 5)
    category.name = "Dairy"
    try category.update(db)
    #expect(try Northwind.Category.find(db, 5) == category)
    let lines = try Northwind.Line.filter { $0.discount > 0 }.updated(db) { $0.quantity += 1 }
    #expect(lines.map(\.quantity) == [3])
  }
}
