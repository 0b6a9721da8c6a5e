import Foundation
import Larder
import Testing

@Suite("Changing the gazetteer")
struct ChangingTests {
  @Test("gazetteer add, edit and remove keep the city and its full-text index in step")
  func changes() throws {
    let gazetteer = try Gazetteer.imported()
    let added = try gazetteer.objects(
      "add", "Ñuñoa", "--country", "us", "--latitude", "-33.45", "--longitude", "-70.6",
      "--population", "163511")
    guard case .number(let id) = added[0]["id"] else {
      Issue.record("it has no code")
      return
    }
    let code = "\(Int(id))"
    #expect(try gazetteer.objects("search", "nunoa").map { $0["id"] } == [.number(id)])

    let edited = try gazetteer.objects("edit", code, "--name", "Providencia", "--population", "5")
    #expect(edited[0]["population"] == .number(5) && edited[0]["latitude"] == .number(-33.45))
    #expect(try gazetteer.objects("search", "nunoa").isEmpty)
    #expect(try gazetteer.objects("search", "providencia").count == 1)

    #expect(try gazetteer.run("remove", code).status == 0)
    #expect(try gazetteer.objects("search", "providencia").isEmpty)
    #expect(try gazetteer.count("city") == 10)
    try gazetteer.open().executeUpdate(
      "INSERT INTO city_text(city_text, rank) VALUES ('integrity-check', 1)")
  }

  @Test("gazetteer add and edit refuse invalid cities, and change nothing")
  func refused() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(try gazetteer.run("add", "Here", "--country", "NO").status == 2)
    #expect(
      try gazetteer.run(
        "add", "Here", "--country", "NO", "--latitude", "91", "--longitude", "0"
      ).errors.contains("--latitude has to be a number from -90.0 to 90.0, not “91”"))
    #expect(try gazetteer.run("edit", "3143244", "--country", "XX").status == 1)
    #expect(try gazetteer.run("edit", "3143244", "--name", "").status == 2)
    #expect(try gazetteer.objects("search", "Oslo")[0]["country"] == .text("NO"))
  }

  @Test("gazetteer backup copies the database")
  func backup() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(try gazetteer.run("backup", "copy.db").status == 0)
    let copy = try Database(path: gazetteer.file("copy.db"))
    #expect(try copy.value("SELECT count(*) FROM city", as: Int.self) == 10)
    let nowhere = try gazetteer.run("backup", "nowhere/copy.db")
    #expect(nowhere.status == 3 && nowhere.errors.hasPrefix("gazetteer: nowhere/copy.db: "))
  }

  @Test("gazetteer serve-load counts every write of its tasks, also in a second run")
  func serveLoad() throws {
    let gazetteer = try Gazetteer.imported()
    var visits = 0
    for _ in 1...2 {
      let report = try gazetteer.objects("serve-load", "--seconds", "0.2", "--tasks", "8")[0]
      #expect(report["visits"] == report["visitsExpected"])
      let counted = try gazetteer.count("visit")
      #expect(report["visits"] == .number(Double(counted)))
      #expect(counted > visits)
      visits = counted
    }
  }

  @Test(
    "gazetteer watch prints each visit of another process once and in order, and ends on Ctrl-C")
  func watch() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(try gazetteer.run("watch", "--limit", "0").status == 2)
    let watching = try gazetteer.start(["watch", "--all", "--json", "--limit", "50"])
    // It doesn't matter when it starts to watch: it begins with the existing visits.
    for _ in 1...3 { _ = try gazetteer.run("serve-load", "--seconds", "0.2", "--tasks", "8") }
    let result = try watching.end()
    #expect(result.status == 0 && result.errors == "gazetteer: watching\n", "\(result.errors)")
    let shown = try result.lines.map {
      try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8))
    }
    #expect(shown.map { $0["visit"] } == (1...50).map { .number(Double($0)) })
    let interrupted = try gazetteer.start(["watch"])
    while !interrupted.hasSaid("watching") { sched_yield() }
    interrupted.interrupt()
    #expect(try interrupted.end().status == 130)
  }

  @Test("gazetteer upgrade migrates an old database, and with --dry-run only prints the steps")
  func upgrade() throws {
    let gazetteer = try Gazetteer()
    #expect(try gazetteer.run("upgrade", "--make-old").status == 0)
    #expect(try gazetteer.run("upgrade", "--make-old").status == 1)
    let old = try gazetteer.run("top")
    #expect(old.status == 3 && old.errors.contains("an earlier version of the program made it"))

    let rehearsed = try gazetteer.objects("upgrade", "--dry-run")
    let names: [JSONValue] = [
      .text("population and coordinates"), .text("full-text search"), .text("visits"),
      .text("no text index by hand"), .text("full-text indexes"),
    ]
    #expect(rehearsed.map { $0["migration"] } == names)
    #expect(
      try gazetteer.run("upgrade", "--dry-run").output.contains(
        "ALTER TABLE \"city\" ADD COLUMN \"population\""))
    #expect(try gazetteer.run("top").status == 3)

    #expect(try gazetteer.objects("upgrade").map { $0["migration"] } == names)
    #expect(try gazetteer.objects("search", "oslo")[0]["population"] == .number(0))
    #expect(try gazetteer.run("upgrade").errors == "gazetteer: the database is up to date\n")
    try gazetteer.writeWorld()
    #expect(try gazetteer.run("import", "countries.csv", "cities.csv").status == 0)
    #expect(try gazetteer.objects("search", "oslo")[0]["population"] == .number(580_000))
  }

  @Test("A database after gazetteer upgrade has the schema of a new one")
  func upgradedSchema() throws {
    let (old, new) = (try Gazetteer(), try Gazetteer.imported())
    #expect(try old.run("upgrade", "--make-old").status == 0)
    #expect(try old.run("upgrade").status == 0)
    // The order is ignored: the old database had its first tables before there were migrations.
    func schema(_ gazetteer: Gazetteer) throws -> Set<SchemaEntry> {
      Set(try gazetteer.open().schema())
    }
    #expect(try schema(old) == schema(new))
  }
}
