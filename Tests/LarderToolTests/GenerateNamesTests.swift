import Foundation
import Larder
import Testing

@testable import LarderTool

@Suite("larder generate: names")
struct GenerateNamesTests {
  @Test(
    "A table's name becomes a singular type name in UpperCamelCase",
    arguments: [
      ("city", "City"), ("cities", "City"), ("order_items", "OrderItem"),
      ("OrderItems", "OrderItem"),
      ("Order Details", "OrderDetail"), ("ORDER_LINES", "OrderLine"), ("HTTPLogs", "HTTPLog"),
      ("user_ids", "UserID"), ("people", "Person"), ("children", "Child"), ("addresses", "Address"),
      ("boxes", "Box"), ("status", "Status"), ("statuses", "Status"), ("news", "News"),
      ("series", "Series"), ("analysis", "Analysis"), ("indices", "Index"),
      ("databases", "DatabaseRecord"),
      ("caches", "Cache"), ("branches", "Branch"), ("ALIAS", "Alias"), ("bus", "Bus"),
      ("list of products", "ListOfProducts"), ("products by category", "ProductByCategory"),
      ("2024 sales", "_2024Sale"), ("städte", "Städte"), ("países", "Países"), ("城市", "城市"),
      ("tasks", "TaskRecord"), ("String", "StringRecord"), ("columns", "ColumnRecord"),
      ("a; DROP TABLE x; --", "ADROPTABLEX"), ("class", "Class"),
      ("e\u{301}t\u{301}at", "E\u{301}t\u{301}at"), ("wolves", "Wolf"), ("quizzes", "Quiz"),
      ("posts_tags", "PostTag"), ("users_roles", "UserRole"), ("sales_orders", "SalesOrder"),
      ("dns_records", "DnsRecord"), ("news_items", "NewsItem"), ("address_books", "AddressBook"),
      ("statistics_values", "StatisticsValue"), ("posts_tag", "PostsTag"),
      ("geodetic_crs", "GeodeticCrs"), ("user_ids", "UserID"),
    ])
  func types(table: String, type: String) {
    #expect(SwiftName.type(table) == type)
  }

  @Test(
    "A column's name becomes a lowerCamelCase property, without names that a record already has",
    arguments: [
      ("name", "name"), ("first_name", "firstName"), ("FirstName", "firstName"),
      ("FIRST_NAME", "firstName"),
      ("artistId", "artistID"), ("ArtistID", "artistID"), ("id", "id"), ("ID", "id"),
      ("URL", "url"),
      ("homepage_url", "homepageURL"), ("HTTPCode", "httpCode"), ("userHTTPCode", "userHTTPCode"),
      ("1st", "_1st"), ("größe", "größe"), ("Ärger", "ärger"), ("名前", "名前"), ("default", "default"),
      ("self", "selfValue"), ("init", "initValue"), ("columns", "columnsValue"),
      ("Table", "tableValue"), ("delete", "deleteValue"), ("a\"b'c", "aBC"), ("a\nb", "aB"),
      ("x²", "x"), ("half½", "half"), ("a\u{202E}b", "aB"), ("$price", "price"), ("_id", "id"),
    ])
  func properties(column: String, property: String) {
    #expect(SwiftName.property(column) == property)
  }

  @Test(
    "A name without any letters or digits for an identifier gives no Swift name",
    arguments: ["", " ", "🎉", "--", "_", "\u{0}", "½"])
  func nothing(name: String) {
    #expect(SwiftName.type(name) == nil)
    #expect(SwiftName.property(name) == nil)
  }

  @Test("Generated Swift names escape keywords in backticks, and are shortened")
  func keywords() {
    #expect(SwiftName.written("class") == "`class`")
    #expect(SwiftName.written("city") == "city")
    #expect(SwiftName.property(String(repeating: "x", count: 1000))?.count == 44)
    #expect(SwiftName.property(String(repeating: "_", count: 1_000_000)) == nil)
  }

  @Test(
    "`isIdentifier` is true for a valid Swift identifier",
    arguments: ["a", "_a", "größe", "x1", "名前", "_1"])
  func identifiers(name: String) { #expect(SwiftName.isIdentifier(name)) }

  @Test(
    "`isIdentifier` is false for text that isn't a Swift identifier",
    arguments: ["", "_", "1a", "a b", "a-b", "a.b", "🎉", "`a`", "$0", "a\n", "\u{301}a"])
  func noIdentifiers(name: String) { #expect(!SwiftName.isIdentifier(name)) }

  @Test(
    "An English noun is converted to its plural and back",
    arguments: [
      ("city", "cities"), ("day", "days"), ("box", "boxes"), ("person", "people"), ("news", "news"),
      ("Child", "Children"), ("address", "addresses"), ("track", "tracks"), ("index", "indices"),
      ("wolf", "wolves"), ("quiz", "quizzes"), ("Knife", "Knives"), ("valve", "valves"),
    ])
  func plurals(one: String, several: String) {
    #expect(EnglishNoun.plural(one) == several)
    #expect(EnglishNoun.singular(several) == one)
  }

  @Test("Generated names that collide get numbers, in the order of the tables and columns")
  func collisions() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE order_item (id INTEGER PRIMARY KEY, "a b" TEXT, a_b TEXT, aB TEXT, "a-b" TEXT);
      CREATE TABLE "OrderItem" (id INTEGER PRIMARY KEY);
      CREATE TABLE order_items (id INTEGER PRIMARY KEY);
      """)
    let types = try tool.generated()
    #expect(types.map(\.type) == ["OrderItem", "OrderItem2", "OrderItem3"])
    #expect(types[0].properties.map(\.name) == ["id", "aB", "aB2", "aB3", "aB4"])
  }

  @Test("A primary key named after its table, such as Artists.ArtistId, becomes `id`")
  func keys() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE Artists (ArtistId INTEGER PRIMARY KEY);
      CREATE TABLE album (album_id INTEGER PRIMARY KEY, id TEXT);
      CREATE TABLE track (number INTEGER PRIMARY KEY, track_id TEXT);
      CREATE TABLE document (document_uuid TEXT PRIMARY KEY);
      """)
    #expect(
      try tool.generated().map { $0.properties.map(\.name) } == [
        ["id"], ["albumID", "id"], ["number", "trackID"], ["uuid"],
      ])
  }

  @Test("Generated associations are named after their column and table, in singular or plural")
  func associations() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE "2024 sales" (id INTEGER PRIMARY KEY, "1st" INTEGER REFERENCES city);
      CREATE TABLE city (id INTEGER PRIMARY KEY, city INTEGER REFERENCES city, order_id INTEGER REFERENCES city,
        capital INTEGER REFERENCES city);
      """)
    #expect(
      try tool.generated().map(\.associations) == [
        ["_1st"],
        [
          "_2024Sales", "city", "citiesByCity", "order", "citiesByOrderID", "capital",
          "citiesByCapital",
        ],
      ])
  }

  @Test("Associations of a table with itself are named after their column, or `children`")
  func trees() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE employees (id INTEGER PRIMARY KEY, reports_to INTEGER REFERENCES employees);
      CREATE TABLE categories (id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES categories);
      """)
    #expect(
      try tool.generated().map(\.associations) == [
        ["reportsTo", "employeesByReportsTo"], ["parent", "children"],
      ])
  }

  @Test("A link table's type has the singular of each table that its name consists of")
  func links() throws {
    let tool = try Tool.with(
      "CREATE TABLE tags (id INTEGER PRIMARY KEY); CREATE TABLE tags_posts (tag_id INTEGER, post_id INTEGER)"
    )
    #expect(try tool.generated().map(\.type) == ["Tag", "TagPost"])
  }

  @Test("The Z before each name in a database of Core Data isn't part of the generated names")
  func coreData() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_MAX INTEGER);
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      """)
    let type = try tool.generated()[0]
    #expect(type.type == "Person")
    #expect(type.properties.map(\.name) == ["pk", "zEnt", "zOpt", "name"])
    let other = try Tool.with("CREATE TABLE zones (id INTEGER PRIMARY KEY, zip TEXT)").generated()[
      0]
    #expect(other.type == "Zone" && other.properties.map(\.name) == ["id", "zip"])
  }

  // MARK: --names

  @Test("larder generate --names sets the names of types and properties, also for quoted names")
  func chosen() throws {
    let tool = try Tool.with(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, pop INTEGER, "a.b=c,d" TEXT, name TEXT);
      CREATE TABLE "my ""own"" table" (id INTEGER PRIMARY KEY);
      """)
    let types = try tool.generated(
      "--names", "CITY=Town,city.Pop=inhabitants", "--names",
      #"city."a.b=c,d"=name,"my ""own"" table"=Own"#)
    #expect(types.map(\.type) == ["Town", "Own"])
    #expect(types[0].properties.map(\.name) == ["id", "inhabitants", "name", "name2"])
  }

  @Test(
    "larder generate --names exits with status 2 and a one-line error for impossible names",
    arguments: [
      ("town=Town", "there is no table “town”"), ("city.x=y", "“city” has no column “x”"),
      ("city", "there is no = in “city”"), ("city=", "“” isn't a valid Swift name"),
      ("city=1st", "“1st” isn't a valid Swift name"),
      ("city=A B", "“A B” isn't a valid Swift name"),
      ("city=Self", "a record can't be called “Self”"), ("city=String", "be called “String”"),
      ("\"city=Town", "a quote isn't closed"),
      ("city.id=columns", "a record can't have a property “columns”"), ("", "there is no table “”"),
      ("city.id=x,city.name=x", "--names has the property “x” twice"),
      ("city=X,country=X", "--names has the type “X” twice"),
    ])
  func wrong(names: String, reason: String) throws {
    let tool = try Tool.withCities()
    let result = try tool.run("generate", "cities.db", "--names", names)
    #expect(result.status == 2)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains(reason), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}

extension Tool {
  /// A tool's folder with a database `data.db` that these statements make.
  static func with(_ sql: String) throws -> Tool {
    let tool = try Tool()
    let db = try tool.database("data.db")
    try db.executeStatements(SQL(raw: sql))
    try db.close()
    return tool
  }

  struct GeneratedType: Decodable {
    struct Property: Decodable {
      let column: String
      let name: String
      let type: String
      let coding: String?
      let notes: [String]
    }

    let table: String
    let type: String
    let properties: [Property]
    let associations: [String]
    let notes: [String]
  }

  private struct Generated: Decodable { let records: [GeneratedType] }

  /// The records that are generated from `data.db`.
  func generated(_ options: String...) throws -> [GeneratedType] { try generated(options) }

  func generated(_ options: [String]) throws -> [GeneratedType] {
    let result = try run(["generate", "data.db", "--json"] + options)
    try #require(result.status == 0, "\(result.errors)")
    return try JSONDecoder().decode(Generated.self, from: Data(result.output.utf8)).records
  }
}
