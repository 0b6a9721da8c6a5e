/// A program that is compiled with generated records. It compares each with its table, and runs queries.
enum GeneratedProgram {
  /// The databases' file names, the enums that contain their records, and their schemas.
  static let databases = [
    ("chinook", "Chinook", SampleSchemas.chinook),
    ("northwind", "Northwind", SampleSchemas.northwind),
    ("places", "Places", SampleSchemas.places), ("hostile", "Hostile", SampleSchemas.hostile),
    ("exact", "Exact", ExactSchema.sql),
  ]

  /// The expected output. Four tables have differences that a declaration can't express.
  static let expectedOutput = """
    Chinook: 11 records, 0 differences
    Northwind: 16 records, 0 differences
    Places: 4 records, 0 differences
    Hostile: 28 records, 6 differences
    Exact: 3 records, 0 differences
    67 queries

    """

  /// - Parameter module: the module that the records import.
  static func main(_ module: String) -> String {
    // Long names are shortened.
    let longType = "Long" + String(repeating: "Name", count: 10)
    return #"""
      import Foundation
      import \#(module)

      var queries = 0
      @MainActor
      func expect<T: Equatable>(_ found: T, _ expected: T, _ line: Int = #line) {
        queries += 1
        if found != expected { print("line \(line): \(found), not \(expected)") }
      }

      func count(_ name: String, _ records: [any Record.Type], in db: Database) throws {
        func differences<R: Record>(_ type: R.Type) throws -> Int {
          try type.table.differences(db).count
        }
        let found = try records.map { try differences($0) }.reduce(0, +)
        print("\(name): \(records.count) records, \(found) differences")
      }

      do {
        typealias S = Chinook
        let db = try Database(path: "chinook.db")
        try count(
          "Chinook",
          [
            S.Artist.self, S.Album.self, S.Employee.self, S.Customer.self, S.Genre.self, S.MediaType.self,
            S.Track.self, S.Invoice.self, S.InvoiceLine.self, S.Playlist.self, S.PlaylistTrack.self,
          ], in: db)
        expect(try S.Artist.all.fetchAll(db).map(\.id), [1, 2, 3])
        expect(try S.Artist.find(db, 1).name, "Wardruna")
        expect(try S.Track.filter { $0.albumID == 2 }.fetchAll(db).map(\.name), ["Eple", "Poor Leno"])
        expect(try S.Track.filter { $0.unitPrice > 1 }.fetchAll(db).map { "\($0.unitPrice)" }, ["1.29"])
        expect(try S.Track.all.fetchCount(db), 4)
        expect(try S.Track.order { $0.milliseconds }.fetchOne(db)?.name, "Happy Up Here")
        expect(try S.Track.order { $0.milliseconds.desc }.limit(2).fetchAll(db).map(\.id), [1, 3])
        expect(try S.Track.filter { $0.composer == nil }.fetchCount(db), 3)
        expect(try S.Artist.all.fetchAll(db, with: S.Artist.albums).map(\.1.count), [1, 2, 0])
        expect(try S.Album.all.fetchAll(db, with: S.Album.artist).map { $0.1?.id }, [1, 2, 2])
        expect(try S.Playlist.all.fetchAll(db, with: S.Playlist.tracks).map(\.1.count), [2, 2])
        expect(try S.Track.all.fetchAll(db, with: S.Track.playlists).map(\.1.count), [1, 2, 0, 1])
        let albums = try S.Album.join(S.Artist.self) { $0.artistID == $1.id }
          .select { ($0.title, $1.name) }.fetchAll(db)
        expect(albums.map(\.0), ["Yggdrasil", "Melody A.M.", "Junior"])
        expect(albums.map(\.1), ["Wardruna", "Röyksopp", "Röyksopp"])
        expect(
          try S.Employee.all.fetchAll(db, with: S.Employee.reportsTo).map { $0.1?.lastName },
          [nil, "Hansen"])
        expect(try S.Employee.all.fetchAll(db, with: S.Employee.employeesByReportsTo).map(\.1.count), [1, 0])
        let founded = Date(timeIntervalSince1970: 0)
        expect(try S.Employee.filter { $0.birthDate < founded }.fetchCount(db), 2)
        expect(try S.Customer.all.fetchAll(db, with: S.Customer.supportRep).map { $0.1?.id }, [2, nil])
        expect(try S.InvoiceLine.select { $0.quantity.sum() }.fetchOne(db), 3)
        expect(
          try S.InvoiceLine.join(S.Track.self) { $0.trackID == $1.id }.filter { $1.genreID == 2 }
            .fetchCount(db), 1)
        var artist = S.Artist(id: nil, name: "Aurora")
        try artist.insert(db)
        artist.name = "AURORA"
        try artist.update(db)
        expect(try S.Artist.find(db, artist.id).name, "AURORA")
        try artist.delete(db)
        expect(try S.Artist.all.fetchCount(db), 3)
      }

      do {
        typealias S = Northwind
        let db = try Database(path: "northwind.db")
        try count(
          "Northwind",
          [
            S.Category.self, S.CustomerCustomerDemo.self, S.CustomerDemographic.self, S.Customer.self,
            S.Employee.self, S.EmployeeTerritory.self, S.OrderDetail.self, S.Order.self, S.Product.self,
            S.Region.self, S.Shipper.self, S.Supplier.self, S.Territory.self,
            S.AlphabeticalListOfProducts.self, S.OrderSubtotal.self, S.ProductsAboveAveragePrice.self,
          ], in: db)
        expect(try S.Category.find(db, 1).picture, Data([0xFF, 0xD8]))
        expect(try S.Customer.find(db, "SANTG").companyName, "Santé Gourmet")
        expect(try S.Customer.filter { $0.country == "Norway" }.fetchAll(db).map(\.id), ["SANTG"])
        expect(try S.Product.filter { $0.unitPrice > 30 }.order { $0.productName }.fetchCount(db), 2)
        expect(try S.Product.all.fetchAll(db, with: S.Product.category).map { $0.1?.id }, [1, 2, 2])
        expect(try S.Category.all.fetchAll(db, with: S.Category.products).map(\.1.count), [1, 2])
        expect(try S.Order.all.fetchAll(db, with: S.Order.orderDetails).map(\.1.count), [2, 1])
        expect(try S.Order.all.fetchAll(db, with: S.Order.products).map(\.1.count), [2, 1])
        expect(try S.Order.all.fetchAll(db, with: S.Order.shipVia).map { $0.1?.companyName }, ["Posten", "Posten"])
        expect(try S.Order.all.fetchAll(db, with: S.Order.customer).map { $0.1?.id }, ["SANTG", "ALFKI"])
        expect(try S.Employee.all.fetchAll(db, with: S.Employee.territories).map(\.1.count), [1, 2])
        expect(try S.Territory.all.fetchAll(db, with: S.Territory.region).map { $0.1?.id }, [1, 2])
        expect(try S.OrderDetail.find(db, 10248, 2).discount, 0.1)
        expect(try S.OrderDetail.filter { $0.quantity >= 5 }.fetchCount(db), 2)
        expect(try S.OrderSubtotal.order { $0.orderID }.fetchAll(db).map(\.orderID), [10248, 10249])
        expect(try S.OrderSubtotal.filter { $0.subtotal > 200 }.fetchCount(db), 1)
        expect(try S.ProductsAboveAveragePrice.all.fetchAll(db).map(\.productName), ["Klippfisk"])
        expect(try S.AlphabeticalListOfProducts.filter { $0.categoryName == "Fish" }.fetchCount(db), 1)
        let orders = try S.Order.join(S.Customer.self) { $0.customerID == $1.id }
          .group { $1.country }.select { ($1.country, count()) }.fetchAll(db)
        expect(orders.map(\.1), [1, 1])
        let day = try DateFormat.sqlDate.date(from: "2016-07-05")
        expect(try S.Order.filter { $0.orderDate == day }.fetchAll(db).map(\.id), [10249])
      }

      do {
        typealias S = Places
        let db = try Database(path: "places.db")
        try count("Places", [S.Country.self, S.City.self, S.Division.self, S.Visit.self], in: db)
        expect(try S.Country.find(db, "NO").neighbours, ["FI", "SE", "RU"])
        expect(try S.Country.all.fetchAll(db, with: S.Country.cities).map(\.1.count), [2, 1])
        expect(try S.City.all.fetchAll(db, with: S.City.country).map { $0.1?.name }, ["Norway", "Norway", "中国"])
        expect(try S.City.all.fetchAll(db, with: S.City.visits).map(\.1.count), [2, 0, 1])
        expect(try S.City.filter { $0.population > 300_000 }.order { $0.name }.fetchCount(db), 2)
      }

      do {
        typealias S = Hostile
        let db = try Database(path: "hostile.db")
        try count(
          "Hostile",
          [
            S.Class.self, S.QueryRowRecord.self, S._2024SalesDROPTABLEX.self, S.Table4.self, S.Half.self, S.OrderItem.self,
            S.OrderItem2.self, S.OrderItem3.self, S.StringRecord.self, S.ColumnRecord.self,
            S.TableRecord.self, S.TaskRecord.self, S.TypeRecord.self, S.Strictly.self, S.Shelf.self,
            S.Book.self, S.Follow.self, S.Order.self, S.Document.self, S.PageRecord.self, S.Clause.self,
            S.Backward.self, S.Select.self, S.Endless.self, S.\#(longType).self, S.Hidden.self, S.城市.self, S.国家.self,
          ], in: db)
        expect(try S.Class.filter { $0.`in` == "a" }.fetchAll(db).map(\.selfValue), [1])
        expect(try S.TaskRecord.all.fetchAll(db, with: S.TaskRecord.followees).map(\.1.count), [2, 1, 0])
        expect(try S.TypeRecord.all.fetchAll(db).map(\.a), [1, "one"])
        expect(try S.Strictly.filter { $0.isOpen == true }.fetchAll(db).map(\.id), [1])
        expect(try S.Document.all.fetchAll(db, with: S.Document.pages).map(\.1.count), [1, 0])
        let body = try S.Document.filter { $0.wasRead == false }.fetchOne(db)?.body
        expect(body, .object(["a": .array([.integer(1), .null, .object(["b": .bool(true)])])]))
        var document = try S.Document.find(db, UUID(uuidString: "7d444840-9dc0-11d1-b245-5ffdce74fad2"))
        document.tags = ["z"]
        try document.update(db)
        expect(try S.Document.filter { $0.uuid == document.uuid }.fetchOne(db)?.tags, ["z"])
        expect(try S.Book.filter { $0.number == 1 }.fetchAll(db).map(\.cost), [20, 40])
      }

      \#(ExactSchema.program)
      print("\(queries) queries")
      """#
  }
}
