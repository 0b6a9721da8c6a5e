import Larder
import LarderTerminal

extension Command {
  static let sql = Command(
    name: "sql", summary: "Prints the program's queries with their SQL, arguments and plans."
  ) { invocation in
    let location = try DatabaseLocation(invocation)
    let store = try location.openForReading()
    // Not in a scope that reads: a server plans no INSERT there.
    let queries = try store.inDatabase { db in
      try ProgramQuery.all(db).map { try $0.explained(db) }
        + RecordStatement.all(db, isServer: location.isServer)
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
  let plan: (Database) throws -> QueryPlan

  struct Explained: Encodable {
    let name: String
    let sql: String
    let arguments: [String]
    let plan: [String]
  }

  init<Query: QueryStatement>(_ name: String, _ query: Query) {
    self.name = name
    sql = query.sql
    plan = { try query.explain($0) }
  }

  func explained(_ db: Database) throws -> Explained {
    // In the words of the database, unlike the text that a query has without one.
    let plan = try plan(db)
    return Explained(
      name: name, sql: plan.detail, arguments: try sql.arguments.values.map(\.plainText),
      plan: plan.steps.flatMap(\.lines))
  }

  static func all(_ db: Database) throws -> [ProgramQuery] {
    let beijing = Division(code: 110_000, name: "北京市", longitude: nil, latitude: nil)
    let oslo = Coordinate(latitude: 59.91, longitude: 10.75)
    let fiji = Coordinate(latitude: -17.7, longitude: 179.9)
    return [
      ProgramQuery("search: countries", Country.named("zur")),
      ProgramQuery("search: inside of countries' names", Country.containing("zur")),
      ProgramQuery("search: divisions", Division.withWords(of: "北京", limit: 20)),
      ProgramQuery("search: cities", City.withWords(of: "zur", limit: 20)),
      ProgramQuery("search: inside of divisions' names", Division.containing("北京", limit: 20)),
      ProgramQuery("search: inside of cities' names", City.containing("zur", limit: 20)),
      ProgramQuery("children", beijing.children),
      ProgramQuery("children --all", beijing.below),
      ProgramQuery("top", City.largest(limit: 10)),
      ProgramQuery("top --country", City.largest(in: "CN", limit: 10)),
      ProgramQuery(
        "nearest", City.near(oslo, in: BoundingBox(around: oslo, radius: 50), limit: 10)),
      ProgramQuery(
        "nearest, across 180°",
        City.near(fiji, in: BoundingBox(around: fiji, radius: 50), limit: 10)),
      ProgramQuery("stats: continents", Statistics.byContinent),
      ProgramQuery("stats: countries", Statistics.byCountry),
    ]
  }
}

/// A statement of a record, which it has as text for all databases.
private struct RecordStatement {
  static func all(_ db: Database, isServer: Bool) throws -> [ProgramQuery.Explained] {
    try tables(Country.table, db, isServer) + tables(City.table, db, isServer)
      + tables(Division.table, db, isServer)
  }

  private static func tables<R>(
    _ table: Table<R>, _ db: Database, _ isServer: Bool
  ) throws -> [ProgramQuery.Explained] {
    let explain: SQL =
      isServer ? "EXPLAIN (COSTS OFF)" : "EXPLAIN QUERY PLAN"
    // They want values for their parameters, of which the plan doesn't depend.
    let names = Dictionary(uniqueKeysWithValues: table.columnNames.map { ($0, Int?.none) })
    return try [
      ("find", table.findSQL), ("all", table.selectSQL), ("insert", table.insertSQL),
      ("update", table.updateSQL), ("delete", table.deleteSQL),
    ].map { name, text in
      let plan = try db.executeQuery(
        "\(explain) \(SQL(raw: text))", arguments: Arguments(names).ignoringSurplusNames()
      ).map { try $0.get(at: $0.columnCount - 1, as: String.self) }
      return ProgramQuery.Explained(
        name: "\(table.name): \(name)", sql: text, arguments: [], plan: plan)
    }
  }
}

extension QueryPlan {
  /// What is done, line by line.
  fileprivate var lines: [String] { [detail] + steps.flatMap(\.lines) }
}
