import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "The gazetteer on a server", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ServerTests {
  private let file: Gazetteer
  private let server: Gazetteer
  private let address: String

  init() throws {
    address = try PostgresServer.shared.database()
    let name = address.split(separator: "=").last ?? ""
    file = try Gazetteer()
    server = try Gazetteer(
      server: "postgres://larder@/\(name)?host=\(try PostgresServer.shared.folder)")
    for gazetteer in [file, server] { try gazetteer.writeWorld() }
  }

  private let importing = ["import", "countries.csv", "cities.csv", "divisions.csv"]

  /// Runs a command with the file and the server, and expects the same status and output.
  @discardableResult
  private func run(_ command: [String]) throws -> Gazetteer.Result {
    let results = try [file, server].map { try $0.start(command).end() }
    #expect(results[1].status == results[0].status, "\(command): \(results[1].errors)")
    #expect(results[1].output == results[0].output, "\(command)")
    let errors = results.map { $0.errors }
    #expect(
      errors[1].replacing(/postgres:\/\/\/\w+/, with: file.database) == errors[0], "\(command)")
    return results[0]
  }

  @Test("Each gazetteer command prints the same with a server as with a file")
  func commands() throws {
    try run(importing)
    try run(importing)
    let texts = [
      "北京", "家庄", "Zurich", "ürich", "o'f", "ZÜR HÖNGG", "hongg", "norway", "no", "lo", "Atlantis",
      "O'Fallon", "san JOSE", "\"", "* OR *", "NEAR(", "%", "_", "\\", "name:oslo", "o",
    ]
    for text in texts { try run(["search", "--json", "--", text]) }
    for arguments in [
      ["search", " "], ["search", "o", "--limit", "2"], ["children", "130000"],
      ["children", "130000", "--all"], ["children", "999999"], ["path", "110102"],
      ["path", "110199"], ["top"], ["top", "--country", "ch", "--json"],
      ["top", "--country", "XX"],
      ["nearest", "59.9", "10.7"], ["nearest", "-17", "-179.9"], ["nearest", "90", "0"], ["stats"],
      ["stats", "--json"], ["upgrade"], ["upgrade", "--dry-run"], ["nothing"],
      [
        "add", "Ñuñoa", "--country", "us", "--latitude", "-33.45", "--longitude", "-70.6",
        "--population", "163511",
      ], ["search", "nunoa"], ["edit", "6822138", "--name", "Providencia", "--population", "5"],
      ["search", "nunoa"], ["search", "providencia", "--json"], ["remove", "6822138"],
      ["search", "providencia"], ["remove", "6822138"],
      ["add", "A", "--country", "XX", "--latitude", "1", "--longitude", "1"], ["help"],
    ] {
      try run(arguments)
    }
  }

  @Test("gazetteer import to a server leaves out or refuses a bad line, as with a file")
  func badLines() throws {
    let twice = """
      \(Gazetteer.countryHeader)
      AA,AAA,First,,EU,1,1,,,
      BB,AAA,Second,,EU,1,1,,,
      CC,CCC,Third,,EU,1,1,,,

      """
    for gazetteer in [file, server] { try gazetteer.write("twice.csv", twice.dosLines) }
    try run(importing)
    let skipped = try [file, server].map {
      try $0.objects("import", "twice.csv", "--skip-bad")[0]
    }
    #expect(skipped[0]["skipped"] == .number(1) && skipped[1]["skipped"] == .number(1))
    #expect(skipped[0]["inserted"] == skipped[1]["inserted"])
    #expect(try server.run("import", "twice.csv").status == 1)
    try run(["search", "Third"])
  }

  @Test("gazetteer upgrade works on a server, and --dry-run changes nothing")
  func upgrade() throws {
    try run(["upgrade", "--make-old"])
    try run(["upgrade", "--make-old"])
    try run(["top"])
    for command in [["upgrade", "--dry-run"], ["upgrade"]] {
      let names = try [file, server].map { gazetteer in
        let result = try gazetteer.start(command + ["--json"]).end()
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(
          [[String: JSONValue]].self, from: Data(result.output.utf8)
        ).map { $0["migration"] }
      }
      #expect(names[0] == names[1] && names[0].count == 5)
    }
    try run(["search", "oslo"])
  }

  @Test("The server's city table has the declared text index, collation and NOT NULL")
  func differences() throws {
    #expect(try server.start(importing).end().status == 0)
    let db = try Database.postgres(address)
    let found = try #require(Schema(db).table("city"))
    #expect(found.indexes.contains { $0.name == "city_text_index" })
    #expect(found.column("name")?.collation == "C" && found.column("population")?.isNotNull == true)
  }

  @Test("gazetteer serve-load on a server counts every write, and sql prints the server's SQL")
  func load() throws {
    #expect(try server.start(importing).end().status == 0)
    let report = try server.objects("serve-load", "--seconds", "0.2", "--tasks", "8")[0]
    #expect(report["visits"] == report["visitsExpected"])
    let queries = try server.objects("sql")
    #expect(queries.count == 29)
    let cities = try #require(queries.first { $0["name"] == .text("search: cities") })
    let sql = try #require(cities["sql"])
    #expect("\(sql)".contains(" @@ "), "\(sql)")
    let refused = try server.run("backup", "copy.db")
    #expect(refused.status == 2 && refused.errors.contains("pg_dump"))
    #expect(try server.run("top", "--max-pages", "5").status == 2)
  }

  @Test("gazetteer exits with status 3 for a missing server, without printing the password")
  func trouble() throws {
    let empty = try server.run("top")
    #expect(empty.status == 3 && empty.errors.contains("there is no gazetteer in it"))
    let nowhere = try Gazetteer(server: "postgres://user:secret@/nowhere?host=/nowhere")
    let result = try nowhere.run("top")
    #expect(result.status == 3 && !result.errors.contains("secret"), "\(result.errors)")
  }
}
