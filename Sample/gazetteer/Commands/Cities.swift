import Larder
import LarderTerminal

extension Command {
  static let top = Command(
    name: "top", summary: "Lists the largest cities.",
    options: [
      Option("country", "XX", "only those of the country with this code"),
      Option("limit", "N", "how many (10)"),
    ]
  ) { invocation in
    let limit = try invocation.integer("limit", in: 1...1_000_000) ?? 10
    let country = invocation.text("country")?.uppercased()
    let queue = try DatabaseLocation(invocation).openForReading()
    let cities = try queue.read { db in
      if let country { _ = try Country.find(db, country) }
      return try City.largest(in: country, limit: limit)
        .fetchAll(db, with: City.inCountry)
    }
    if invocation.wantsJSON { return try Output.showJSON(cities.map(\.0)) }
    var table = TextTable("", "CODE", "POPULATION", "CITY", "COUNTRY", numbers: [0, 1, 2])
    for (index, (city, country)) in cities.enumerated() {
      table.add(
        "\(index + 1)", city.codeText, city.population.grouped, city.name, country?.name ?? "")
    }
    for line in table.lines { print(line) }
  }

  static let nearest = Command(
    name: "nearest", arguments: "LAT LON", argumentCount: 2...2,
    summary: "Lists the cities nearest to a place, given in degrees.",
    options: [Option("limit", "N", "how many (10)")]
  ) { invocation in
    let limit = try invocation.integer("limit", in: 1...1_000_000) ?? 10
    let centre = Coordinate(
      latitude: try Invocation.real(invocation.arguments[0], "LAT", in: -90...90),
      longitude: try Invocation.real(invocation.arguments[1], "LON", in: -180...180))
    let queue = try DatabaseLocation(invocation).openForReading()
    let cities = try queue.read { try findNearest($0, centre, limit: limit) }
    let rows = cities.map {
      NearCity(city: $0, distance: $0.coordinate.distance(to: centre))
    }
    try Output.show(rows, asJSON: invocation.wantsJSON) { rows in
      var table = TextTable("KM", "CODE", "COUNTRY", "POPULATION", "CITY", numbers: [0, 1, 3])
      for row in rows {
        table.add(
          row.distance.fixed(1), row.city.codeText, row.city.country, row.city.population.grouped,
          row.city.name)
      }
      return table
    }
  }

  /// Looks in an area around the place, which an index finds, and in a larger one as long as there are
  /// too few cities in it, or the farthest might be farther than one outside.
  private static func findNearest(
    _ db: Database, _ centre: Coordinate, limit: Int
  ) throws -> [City] {
    let farthest = Coordinate.earthRadius * .pi
    var radius = 50.0
    while true {
      let area = BoundingBox(around: centre, radius: radius)
      let cities = try City.near(centre, in: area, limit: limit).fetchAll(db)
      let distance = cities.last?.coordinate.distance(to: centre) ?? 0
      if radius >= farthest || cities.count == limit && distance <= radius { return cities }
      radius = min(radius * 3, farthest)
    }
  }
}

/// A city and how far away it is in kilometres.
private struct NearCity: Encodable {
  let city: City
  let distance: Double

  private enum Key: CodingKey {
    case distance
  }

  func encode(to encoder: any Encoder) throws {
    try city.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(distance, forKey: .distance)
  }
}

extension City {
  /// What other commands know it by.
  var codeText: String { id.map { "\($0)" } ?? "" }
}
