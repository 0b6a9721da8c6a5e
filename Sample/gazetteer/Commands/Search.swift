import Larder
import LarderTerminal

extension Command {
  static let search = Command(
    name: "search", arguments: "TEXT", argumentCount: 1...Int.max,
    summary: "Finds places by their names, in any language.",
    details: """
      First comes the city that has this name in another language (München, Москва, nyc), or the division at
      the end of an address (北京市东城区); then names with words that begin as those of the text do, whatever
      their case and accents; then names in which the text occurs anywhere.
      """,
    options: [Option("limit", "N", "how many places at most (20)")]
  ) { invocation in
    let text = invocation.arguments.joined(separator: " ")
    let limit = try invocation.integer("limit", in: 1...100_000) ?? 20
    let queue = try DatabaseLocation(invocation).openForReading()
    let places = try queue.read { try findPlaces($0, text, limit: limit) }
    try Output.show(places, asJSON: invocation.wantsJSON) { places in
      var table = TextTable("KIND", "CODE", "COUNTRY", "POPULATION", "NAME", numbers: [1, 3])
      for place in places {
        table.add(
          place.kind, place.code, place.country, place.population?.grouped ?? "", place.name)
      }
      return table
    }
    if places.isEmpty { Output.note("gazetteer: nothing is named like “\(text)”") }
  }

  private static func findPlaces(_ db: Database, _ text: String, limit: Int) throws -> [Place] {
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw Failure(.usage, "search takes a text that isn't empty")
    }
    // SQLite takes no longer patterns than 50,000 bytes, and a name has no thousand.
    guard text.utf8.count <= 1000 else {
      throw Failure(.usage, "search takes a text of no more than 1,000 bytes")
    }
    let named = try City.otherwiseNamed(text)?.fetchAll(db) ?? []
    let addressed = try Division.atAddress(text, db)
    let countries = try Country.named(text).limit(limit).fetchAll(db)
    let divisions =
      try addressed
      + Division.withWords(of: text, limit: limit).fetchAll(db).filter { !addressed.contains($0) }
    let cities = try City.withWords(of: text, limit: limit).fetchAll(db)
      .filter { !named.contains($0) }
    var places = named.map(Place.city) + countries.map(Place.country)
    places += divisions.map(Place.division) + cities.map(Place.city)
    if places.count < limit {
      // This reads all names, and so is done only if there is room.
      let known = (
        Set(countries.map(\.code)), Set(divisions.map(\.code)), Set((named + cities).map(\.id))
      )
      places += try Country.containing(text).fetchAll(db)
        .filter { !known.0.contains($0.code) }.map(Place.country)
      places += try Division.containing(text, limit: limit).fetchAll(db)
        .filter { !known.1.contains($0.code) }.map(Place.division)
      places += try City.containing(text, limit: limit).fetchAll(db)
        .filter { !known.2.contains($0.id) }.map(Place.city)
    }
    return Array(places.prefix(limit))
  }
}
