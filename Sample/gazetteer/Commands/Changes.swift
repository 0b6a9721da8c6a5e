import Larder
import LarderTerminal

extension Command {
  private static let properties = [
    Option("country", "XX", "the code of its country"),
    Option("latitude", "DEGREES", "from -90 to 90"),
    Option("longitude", "DEGREES", "from -180 to 180"),
    Option("population", "N", "how many people live there"),
    Option("timezone", "NAME", "such as Europe/Oslo"),
    Option("region", "CODE", "the region of its country"),
  ]

  static let add = Command(
    name: "add", arguments: "NAME", argumentCount: 1...1,
    summary: "Adds a city. Its country, latitude and longitude are needed.", options: properties
  ) { invocation in
    var city = City(
      id: nil, name: invocation.arguments[0], latitude: .nan, longitude: .nan, country: "",
      population: 0, timezone: nil, region: nil)
    try city.change(invocation)
    guard !city.country.isEmpty, !city.latitude.isNaN, !city.longitude.isNaN else {
      throw Failure(.usage, "a city needs --country, --latitude and --longitude")
    }
    let added = try DatabaseLocation(invocation).openForWriting().inTransaction { [city] db in
      _ = try Country.find(db, city.country)
      return try city.inserted(db)
    }
    try show(added, invocation)
  }

  static let edit = Command(
    name: "edit", arguments: "CODE", argumentCount: 1...1,
    summary: "Changes what is known of a city.",
    options: [Option("name", "NAME", "its name")] + properties
  ) { invocation in
    let code = try cityCode(invocation)
    let edited = try DatabaseLocation(invocation).openForWriting().inTransaction { db in
      var city = try City.find(db, code)
      let before = city
      try city.change(invocation)
      _ = try Country.find(db, city.country)
      try city.update(db, changedSince: before)
      return city
    }
    try show(edited, invocation)
  }

  static let remove = Command(
    name: "remove", arguments: "CODE", argumentCount: 1...1, summary: "Removes a city."
  ) { invocation in
    let code = try cityCode(invocation)
    let removed = try DatabaseLocation(invocation).openForWriting().inTransaction { db in
      let city = try City.find(db, code)
      try city.delete(db)
      return city
    }
    try show(removed, invocation)
  }

  private static func cityCode(_ invocation: Invocation) throws -> Int64 {
    guard let code = Int64(invocation.arguments[0]) else {
      throw Failure("a city's code is a number, unlike “\(invocation.arguments[0])”")
    }
    return code
  }

  private static func show(_ city: City, _ invocation: Invocation) throws {
    try Output.show([city], asJSON: invocation.wantsJSON) { _ in
      var table = TextTable("CODE", "COUNTRY", "LATITUDE", "LONGITUDE", "POPULATION", "NAME")
      table.add(
        city.codeText, city.country, city.latitude.fixed(4), city.longitude.fixed(4),
        city.population.grouped, city.name)
      return table
    }
  }
}

extension City {
  /// Takes what the options say.
  fileprivate mutating func change(_ invocation: Invocation) throws {
    if let name = invocation.text("name") { self.name = name }
    if let code = invocation.text("country") { country = code.uppercased() }
    latitude = try invocation.real("latitude", in: -90...90) ?? latitude
    longitude = try invocation.real("longitude", in: -180...180) ?? longitude
    population = try invocation.integer("population", in: City.populations) ?? population
    timezone = invocation.text("timezone") ?? timezone
    region = invocation.text("region") ?? region
    if name.isEmpty { throw Failure(.usage, "a city needs a name") }
  }
}
