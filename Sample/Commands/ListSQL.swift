import Larder

extension Command {
  static let sql = Command(
    name: "sql", summary: "Prints the program's queries with their SQL, arguments and plans."
  ) { invocation in
    let queue = try DatabaseFile(invocation).openForReading()
    let queries = try queue.read { db in
      try ProgramQuery.all.map { try $0.explained(db) }
    }
    if invocation.wantsJSON { return try Output.showJSON(queries) }
    for query in queries {
      print("\(query.name)\n  \(query.sql)")
      if !query.arguments.isEmpty {
        print("  arguments: " + query.arguments.joined(separator: ", "))
      }
      print(query.plan.map { "  plan: " + $0 }.joined(separator: "\n") + "\n")
    }
  }
}

/// A query of the program, with arguments such as a user might give.
private struct ProgramQuery {
  let name: String
  let sql: SQL
  /// The names of its parameters, where they have any, and perhaps more.
  var names: [String] = []

  struct Explained: Encodable {
    let name: String
    let sql: String
    let arguments: [String]
    let plan: [String]
  }

  func explained(_ db: Database) throws -> Explained {
    // The statements of records want values for their parameters, of which the plan doesn't depend.
    let arguments =
      names.isEmpty
      ? Arguments() : Arguments(Dictionary(uniqueKeysWithValues: names.map { ($0, nil) }))
    let plan = try db.executeQuery(
      "EXPLAIN QUERY PLAN \(sql)", arguments: arguments.ignoringSurplusNames()
    ).map { try $0.get("detail", as: String.self) }
    return Explained(
      name: name, sql: sql.text, arguments: try sql.arguments.values.map(\.plainText),
      plan: plan)
  }

  static var all: [ProgramQuery] {
    reading + tables(Country.table) + tables(City.table) + tables(Division.table)
  }

  private static var reading: [ProgramQuery] {
    let beijing = Division(code: 110_000, name: "北京市", longitude: nil, latitude: nil)
    let oslo = Coordinate(latitude: 59.91, longitude: 10.75)
    let fiji = Coordinate(latitude: -17.7, longitude: 179.9)
    return [
      ProgramQuery(name: "search: countries", sql: Country.named("zur").sql),
      ProgramQuery(name: "search: inside of countries' names", sql: Country.containing("zur").sql),
      ProgramQuery(name: "search: divisions", sql: Division.withWords(of: "北京", limit: 20).sql),
      ProgramQuery(name: "search: cities", sql: City.withWords(of: "zur", limit: 20).sql),
      ProgramQuery(
        name: "search: inside of divisions' names",
        sql: Division.containing("北京", limit: 20).sql),
      ProgramQuery(
        name: "search: inside of cities' names", sql: City.containing("zur", limit: 20).sql),
      ProgramQuery(name: "children", sql: beijing.children.sql),
      ProgramQuery(name: "children --all", sql: beijing.below.sql),
      ProgramQuery(name: "top", sql: City.largest(limit: 10).sql),
      ProgramQuery(name: "top --country", sql: City.largest(in: "CN", limit: 10).sql),
      ProgramQuery(
        name: "nearest",
        sql: City.near(oslo, in: BoundingBox(around: oslo, radius: 50), limit: 10).sql),
      ProgramQuery(
        name: "nearest, across 180°",
        sql: City.near(fiji, in: BoundingBox(around: fiji, radius: 50), limit: 10).sql),
      ProgramQuery(name: "stats: continents", sql: Statistics.byContinent.sql),
      ProgramQuery(name: "stats: countries", sql: Statistics.byCountry.sql),
    ]
  }

  /// The statements of a record, which it has as text.
  private static func tables<R>(_ table: Table<R>) -> [ProgramQuery] {
    let statements = [
      ("find", table.findSQL), ("all", table.selectSQL), ("insert", table.insertSQL),
      ("update", table.updateSQL), ("delete", table.deleteSQL),
    ]
    return statements.map {
      ProgramQuery(name: "\(table.name): \($0)", sql: SQL(raw: $1), names: table.columnNames)
    }
  }
}
