import Foundation
import Larder
import PostgresSupport
import Testing

extension Fluent {
  /// Queries of Fluent's documentation in Larder's types. A comment has the number of lines there. The pages:
  ///
  /// - https://docs.vapor.codes/fluent/query/
  /// - https://docs.vapor.codes/fluent/relations/
  @Suite("Queries of Fluent's documentation")
  struct FluentQueryTests {
    let library: SQLComparison
    private var db: Database { library.db }

    init() throws { library = SQLComparison(db: try Fluent.database()) }

    @Test("Fluent: gas giants by name, each with its star")
    func gasGiants() throws {
      // There: 5 lines.
      let planets = try Planet.filter { $0.type == .gasGiant }
        .order { $0.name }
        .fetchAll(db, with: Planet.inSystem)

      #expect(planets.map(\.0.name) == ["Jupiter", "Neptune", "Saturn"])
      #expect(planets.map(\.1?.name) == ["Sun", "Sun", "Sun"])
    }

    @Test("Fluent: users whose names are equal")
    func equalFields() throws {
      // There: 2 lines.
      let query = User.filter { $0.firstName == $0.lastName }

      try library.expect(query, "SELECT * FROM \"user\" WHERE first_name = last_name")
    }

    @Test("Fluent: planets of two types")
    func subset() throws {
      // There: 2 lines.
      let query = Planet.filter { $0.type.in([.gasGiant, .smallRocky]) }.order { $0.id }

      try library.expect(
        query, "SELECT * FROM planet WHERE type IN ('gasGiant', 'smallRocky') ORDER BY id")
    }

    @Test("Fluent: planets with one of two names")
    func either() throws {
      // There: 3 lines.
      let query = Planet.filter { $0.name == "Earth" || $0.name == "Mars" }.order { $0.id }

      try library.expect(
        query, "SELECT * FROM planet WHERE name = 'Earth' OR name = 'Mars' ORDER BY id")
    }

    @Test("Fluent: all planets in chunks")
    func chunks() throws {
      var counts: [Int] = []

      // There: 3 lines.
      try Planet.order { $0.id }.forEach(db, batchesOf: 3) { planets in
        counts.append(planets.count)
      }

      #expect(counts == [3, 3, 1])
    }

    @Test("Fluent: planets of the star with a name, by a join")
    func joined() throws {
      // There: 4 lines.
      let query = Planet.join(Star.self) { $0.star == $1.id }.filter { $1.name == "Sun" }

      try library.expect(
        query.order { planet, _ in planet.id },
        """
        SELECT planet.*, star.* FROM planet JOIN star ON star.id = planet.star
        WHERE star.name = 'Sun' ORDER BY planet.id
        """)
    }

    @Test("Fluent: matches with both teams, which are one table twice")
    func aliases() throws {
      // There: 14 lines.
      let query = Match.join(Team.self) { $0.homeTeam == $1.id }
        .join(Team.self) { $0.awayTeam == $2.id }
        .filter { _, home, _ in home.name == "Vapor" }
        .order { _, _, away in away.name }

      try library.expect(
        query,
        """
        SELECT match.*, home.*, away.* FROM match JOIN team home ON home.id = match.home_team
        JOIN team away ON away.id = match.away_team WHERE home.name = 'Vapor' ORDER BY away.name
        """)
    }

    @Test("Fluent: galaxies with their stars, and those with their planets")
    func nested() throws {
      // There: 3 lines.
      let galaxies = try Galaxy.order { $0.id }
        .fetchAll(db, with: Galaxy.stars.order { $0.id }.with(Star.planets.order { $0.id }))

      #expect(galaxies.map(\.0.name) == ["Milky Way", "Andromeda"])
      #expect(galaxies.map { $0.1.map(\.0.name) } == [["Sun", "Proxima"], []])
      #expect(galaxies[0].1.map(\.1.count) == [6, 1])
    }

    @Test("Fluent: planets with a name become dwarfs")
    func update() throws {
      try library.expectChange(
        of: "SELECT * FROM planet ORDER BY id",
        "UPDATE planet SET type = 'dwarf' WHERE name = 'Pluto'"
      ) { db in
        // There: 4 lines.
        try Planet.filter { $0.name == "Pluto" }.update(db) { $0.type = .dwarf }
      }
    }

    @Test("Fluent: the second page, and how many planets there are")
    func pages() throws {
      // There: 3 lines.
      let page = try Planet.order { $0.id }.limit(5, offset: 5).fetchAll(db)
      let total = try Planet.all.fetchCount(db)

      #expect(page.map(\.name) == ["Pluto", "Proxima b"])
      #expect(total == 7)
    }
  }

  /// A database with a few rows of each table.
  fileprivate static func database() throws -> Database {
    let db = try Database.empty()
    try Galaxy.table.create(db)
    try Galaxy.insert(
      db, contentsOf: ["Milky Way", "Andromeda"].map { Galaxy(id: nil, name: $0) })
    try Star.table.create(db)
    try Star.insert(
      db, contentsOf: ["Sun", "Proxima"].map { Star(id: nil, name: $0, galaxy: 1) })
    try Planet.table.create(db)
    let planets: [(String, PlanetType, Int64)] = [
      ("Earth", .smallRocky, 1), ("Mars", .smallRocky, 1), ("Jupiter", .gasGiant, 1),
      ("Saturn", .gasGiant, 1), ("Neptune", .gasGiant, 1), ("Pluto", .smallRocky, 1),
      ("Proxima b", .smallRocky, 2),
    ]
    try Planet.insert(
      db, contentsOf: planets.map { Planet(id: nil, name: $0, type: $1, star: $2) })
    try User.table.create(db)
    try User.insert(
      db,
      contentsOf: [("Ann", "Lee"), ("Thomas", "Thomas")].map {
        User(id: nil, firstName: $0, lastName: $1)
      })
    try Team.table.create(db)
    try Team.insert(
      db, contentsOf: ["Vapor", "Steam", "Ice"].map { Team(id: nil, name: $0) })
    try Match.table.create(db)
    try Match.insert(
      db,
      contentsOf: [(1, 2), (2, 1), (1, 3), (3, 2)].map {
        Match(id: nil, homeTeam: $0, awayTeam: $1)
      })
    return db
  }
}
