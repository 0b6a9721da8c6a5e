import Testing

@Suite("The expansion of @Record")
struct ExpansionTests {
  @Test("@Record expands to columns, table and conformance as one writes them by hand")
  func structure() throws {
    let expansion = try Expansion(
      """
      @Record
      struct City {
        @Column(.primaryKey) var id: Int64?
        var name: String
      }
      """, of: "City")
    #expect(
      expansion.members == #"""
        struct Columns: Sendable {
          let id = Larder::Column("id", \City.id, .primaryKey)
          let name = Larder::Column("name", \City.name)
        }
        static let columns = Columns()
        static let table: Larder::Table<City> = Larder::Table(
          "city", { City(id: $0, name: $1) }, columns.id, columns.name)
        """#)
    #expect(
      expansion.extensions
        == "extension City: Larder::Record, Larder::SingleSource, Larder::QuerySource {}")
  }

  @Test(
    "@Record copies name, options, codings and constraints, and replaces key paths with columns")
  func arguments() throws {
    let expansion = try Expansion(
      #"""
      @Record("cities", constraints: [.unique(\.name, \.`default`)], indexes: [.index(\.name, where: "\(1) > 0")], options: [.notStrict])
      struct City {
        @Column("number", .primaryKey, .check("id > \(0)")) var id: Int64?
        @Column(.unique, // why
          .collate("a, \"b\")"), as: .json) var name: [String]
        @LarderMacros.Column(as: ColumnCoding<Color>(encode: { $0.hue }, decode: { Color($0) })) var `default`: Color
      }
      """#)
    #expect(
      expansion.members == #"""
        struct Columns: Sendable {
          let id = Larder::Column("number", \City.id, .primaryKey, .check("id > \(0)"))
          let name = Larder::Column("name", \City.name, .unique, .collate("a, \"b\")"), as: .json)
          let `default` = Larder::Column("default", \City.`default`, as: ColumnCoding<Color>(encode: { $0.hue }, decode: { Color($0) }))
        }
        static let columns = Columns()
        static let table: Larder::Table<City> = Larder::Table(
          "cities", { City(id: $0, name: $1, default: $2) }, columns.id, columns.name, columns.`default`,
          constraints: [.unique(columns.name, columns.`default`)],
          indexes: [.index(columns.name, where: "\(1) > 0")], options: [.notStrict])
        """#)
  }

  @Test("@Record of a part takes the columns of the whole record")
  func part() throws {
    let expansion = try Expansion(
      """
      @Record(of: City.self)
      struct CityHead {
        let id: Int64?
        var name: String
        @NotStored var isSelected = false
      }
      """, of: "CityHead")
    #expect(
      expansion.members == #"""
        struct Columns: Sendable {
          let id = Larder::Column(City.self.columns.id, \CityHead.id)
          let name = Larder::Column(City.self.columns.name, \CityHead.name)
        }
        static let columns = Columns()
        static let table: Larder::Table<CityHead> = Larder::Table(
          of: City.self, { CityHead(id: $0, name: $1) }, columns.id, columns.name,
          notStored: [\CityHead.isSelected])
        """#)
  }

  @Test("@Record keeps access levels, and makes private properties' columns fileprivate")
  func access() throws {
    let expansion = try Expansion(
      """
      @Record
      public struct City {
        @Column(.primaryKey) public private(set) var id: Int64?
        package var name: String
        internal var population = 0, area = 1.5
        private var secret: [Int]?
      }
      """, of: "Outer.City", protocols: [])
    #expect(
      expansion.members == #"""
        public struct Columns: Sendable {
          public let id = Larder::Column("id", \City.id, .primaryKey)
          package let name = Larder::Column("name", \City.name)
          let population = Larder::Column("population", \City.population)
          let area = Larder::Column("area", \City.area)
          fileprivate let secret = Larder::Column("secret", \City.secret)
        }
        public static let columns = Columns()
        public static let table: Larder::Table<City> = Larder::Table(
          "city", { City(columns: $0, name: $1, population: $2, area: $3, secret: $4) }, columns.id,
          columns.name, columns.population, columns.area, columns.secret)
        """#)
    #expect(
      expansion.extensions == """
        extension Outer.City {
          fileprivate init(columns id: Int64?, name: String, population: Int, area: Double, secret: [Int]?) {
            self.id = id
            self.name = name
            self.population = population
            self.area = area
            self.secret = secret
          }
        }
        """)
  }

  @Test("@Record writes the protocols that the type doesn't say by itself that it conforms to")
  func conformances() throws {
    let aliases = """
      typealias QueryFields = Larder::RecordFields<City>
      typealias QueryRow = City
      typealias QueryNullable = City?
      """
    let rest = ["SingleSource", "QuerySource"]
    for clause in ["Record", "Hashable, Larder.Record", "P<[Int]>, Larder::Record & Q"] {
      let city = "@Record\nstruct City: \(clause) { @Column(.primaryKey) var id: Int }"
      let expansion = try Expansion(city, of: "Map.City", protocols: rest)
      #expect(expansion.members.hasSuffix("\n" + aliases))
      #expect(
        expansion.extensions == "extension Map.City: Larder::SingleSource, Larder::QuerySource {}")
    }
    for clause in ["", ": Hashable", ": P where T == Record"] {
      let city = "@Record\nstruct City\(clause) { @Column(.primaryKey) var id: Record }"
      #expect(try !Expansion(city).members.contains("typealias"))
      // An extension says that it is one.
      let lines = aliases.split(separator: "\n").map { "  " + $0 + "\n" }.joined()
      #expect(
        try Expansion(city, of: "City", protocols: rest).extensions
          == "extension City: Larder::SingleSource, Larder::QuerySource {\n\(lines)}")
      #expect(try Expansion(city, of: "City", protocols: []).extensions == "")
    }
  }

  @Test("A record in an extension with an access level has that level, unless it has its own")
  func extensionAccess() throws {
    let plain = "@Record\nstruct City { @Column(.primaryKey) var id: Int }"
    let internalCity = "@Record\ninternal struct City { @Column(.primaryKey) var id: Int }"
    func isPublic(_ city: String, in outer: String) throws -> Bool {
      let members = try Expansion(city, in: outer).members
      #expect(members.contains("public static let table") == members.hasPrefix("public struct"))
      return members.hasPrefix("public struct")
    }
    #expect(try isPublic(plain, in: "public extension App {}"))
    #expect(
      try isPublic(plain, in: "@available(*, deprecated)\npublic extension App where T == U {"))
    #expect(try !isPublic(internalCity, in: "public extension App {}"))
    #expect(try !isPublic(plain, in: "public enum App {}"))
    #expect(try !isPublic(plain, in: "extension App {}"))
    #expect(try !isPublic(plain, in: "private extension App {}"))
    #expect(try Expansion(plain, in: "package extension App {}").members.hasPrefix("package str"))
  }

  @Test("@Record leaves out @NotStored and lazy properties, which keep their initial values")
  func notStored() throws {
    let expansion = try Expansion(
      """
      @Record
      struct City {
        @Column(.primaryKey) var id: Int64?
        @NotStored var isSelected = false
        lazy var cache = 5
        @NotStored let limit = 3
      }
      """)
    #expect(
      expansion.members.hasSuffix(
        """
        Larder::Table(
          "city", { City(id: $0) }, columns.id, notStored: [\\City.isSelected, \\City.limit])
        """))
  }

  @Test("@Record adds an initializer within a type that declares its own")
  func ownInitializer() throws {
    let expansion = try Expansion(
      """
      @Record
      final class City {
        @Column(.primaryKey) let id: Int64
        let done: () -> Void, x: @Sendable (Int) async throws -> Int, isNew: Bool
        init() {}
      }
      """)
    #expect(
      expansion.members.hasSuffix(
        """
          "city", { City(columns: $0, done: $1, x: $2, isNew: $3) }, columns.id, columns.done, columns.x,
          columns.isNew)
        fileprivate init(columns id: Int64, done: @escaping () -> Void, x: @escaping @Sendable (Int) async throws -> Int, isNew: Bool) {
          self.id = id
          self.done = done
          self.x = x
          self.isNew = isNew
        }
        """))
    #expect(
      expansion.extensions
        == "extension T: Larder::Record, Larder::SingleSource, Larder::QuerySource {}")
  }

  @Test("@Record adds an initializer to a type with a property that initializes others")
  func initializingAccessor() throws {
    for accessors in [
      "@storageRestrictions(initializes: stored) init { stored = newValue } get { stored }",
      "get { stored } set(value) { stored = value } @storageRestrictions(initializes: stored)\n init(value) { stored = value }",
      "mutating _read { yield stored } nonmutating _modify { yield &stored } init {}",
    ] {
      let expansion = try Expansion(
        """
        @Record
        struct Place {
          @Column(.primaryKey) var stored: Int
          var other: Int { \(accessors) }
        }
        """, of: "Place")
      #expect(expansion.members.contains(#""place", { Place(columns: $0) }, columns.stored)"#))
      #expect(expansion.extensions.contains("fileprivate init(columns stored: Int) {"))
    }
    for accessors in ["get { init() }", "stored", "get", "get throws(E) { f { init {} } }", ""] {
      let place =
        "@Record\nstruct P { @Column(.primaryKey) var s: Int; var o: Int { \(accessors) } }"
      #expect(try Expansion(place).members.contains("{ P(s: $0) }"), "\(accessors)")
    }
  }

  @Test("Deprecated properties are only used in deprecated members of the expansion")
  func deprecated() throws {
    let expansion = try Expansion(
      #"""
      @Record
      struct City {
        @Column(.primaryKey) var id: Int
        @available(*, deprecated, message: "use id") @Column(.unique) var code: String
        #if A
        @available(Linux, deprecated: 5)
        #endif
        @NotStored var isOld = false
        @available(*, noasync, message: "deprecated") var name: String
      }
      """#)
    #expect(
      expansion.members == #"""
        struct Columns: Sendable {
          let id = Larder::Column("id", \City.id, .primaryKey)
          let code = Deprecated1.used
          let name = Larder::Column("name", \City.name)
          fileprivate enum Deprecated1: LarderMacros::DeprecatedPart {
            @available(*, deprecated) static let part = Larder::Column("code", \City.code, .unique)
          }
          fileprivate enum Deprecated2: LarderMacros::DeprecatedPart {
            @available(*, deprecated) static var part: [PartialKeyPath<City> & Sendable] { [\City.isOld] }
          }
        }
        static let columns = Columns()
        static let table: Larder::Table<City> = Larder::Table(
          "city", { City(id: $0, code: $1, name: $2) }, columns.id, columns.code, columns.name,
          notStored: Columns.Deprecated2.used)
        """#)
    let written = try Expansion(
      """
      @Record
      struct City {
        @available(*, deprecated) @Column(.primaryKey) private var id: Int
        var done: () -> Void
      }
      """)
    #expect(written.members.contains("Table(\n  \"city\", Columns.Deprecated2.used, columns.id"))
    #expect(
      written.members.contains(
        "var part: @Sendable (Int, @escaping () -> Void) -> City { { City(columns: $0, done: $1) } }"
      ))
    #expect(
      written.extensions.contains("  @available(*, deprecated)\n  fileprivate init(columns id: Int")
    )
    let all = try Expansion(
      """
      @Record @available(*, deprecated)
      struct City { @available(*, deprecated) @Column(.primaryKey) var id: Int }
      """)
    #expect(!all.members.contains("deprecated"))
  }

  @Test(
    "@Record names the table like the type in lowerCamelCase",
    arguments: [
      ("City", "city"), ("JobQueue", "jobQueue"), ("HTTPRequest", "httpRequest"), ("ISBN", "isbn"),
      ("URL2", "url2"), ("X", "x"), ("city", "city"), ("`Type`", "type"), ("Élan", "élan"),
    ])
  func tableName(type: String, name: String) throws {
    let expansion = try Expansion(
      "@Record\nstruct \(type) { @Column(.primaryKey) var id: Int }")
    #expect(expansion.members.contains("\n  \"\(name)\", "))
  }
}
