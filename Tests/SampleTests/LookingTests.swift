import Larder
import Testing

@testable import gazetteer

@Suite("Looking things up in the gazetteer")
struct LookingTests {
  @Test(
    "gazetteer search finds names in any language, by words or parts of words",
    arguments: [
      ("北京", ["北京市"]), ("家庄", ["石家庄市"]), ("Zurich", ["Zürich", "Zürich (Kreis 10) / Höngg"]),
      ("ürich", ["Zürich", "Zürich (Kreis 10) / Höngg"]), ("o'f", ["O'Fallon", "O'Fallon"]),
      ("ZÜR HÖNGG", ["Zürich (Kreis 10) / Höngg"]), ("hongg", ["Zürich (Kreis 10) / Höngg"]),
      ("norway", ["Norway"]), ("no", ["Norway"]), ("lo", ["O'Fallon", "Oslo", "O'Fallon"]),
    ])
  func search(text: String, names: [String]) throws {
    let found = try Gazetteer.imported().objects("search", text)
    #expect(Set(found.map { $0["name"] }) == Set(names.map { JSONValue.text($0) }))
    #expect(found.count == names.count)
  }

  @Test(
    "gazetteer search finds a city by its name in another language, or a division by its address, first",
    arguments: [
      ("Пекин", "Beijing"), ("peking", "Beijing"), (" PEKING ", "Beijing"), ("上海", "Shanghai"),
      ("Kristiania", "Oslo"), ("北京市东城区", "东城区"), ("北京东城区", "东城区"),
      ("北京市市辖区西城区", "西城区"), ("河北省石家庄市", "石家庄市"), ("河北省 长安区", "长安区"),
      ("Züri", "Zürich"),
    ])
  func otherNames(text: String, name: String) throws {
    let found = try Gazetteer.imported().objects("search", text)
    #expect(found.first?["name"] == .text(name), "\(found)")
    #expect(Set(found.map { "\($0["code"] ?? $0["id"] ?? .null)" }).count == found.count)
  }

  @Test("gazetteer search doesn't find a division by the names of others than its own")
  func wrongAddress() throws {
    #expect(try Gazetteer.imported().objects("search", "河北省东城区").isEmpty)
  }

  @Test("The sample's files have the cities that gazetteer search finds by other names")
  func ownFiles() throws {
    let gazetteer = try Gazetteer.importedOwnFiles()
    for (text, name) in [
      ("München", "Munich"), ("Wien", "Vienna"), ("Москва", "Moscow"), ("nyc", "New York City"),
      ("Tokio", "Tokyo"), ("北京市东城区", "东城区"),
    ] {
      let found = try gazetteer.objects("search", text, "--limit", "3")
      #expect(found.first?["name"] == .text(name), "\(text): \(found)")
    }
    let db = try gazetteer.open()
    for target in OtherNames.targets.values {
      let cities = City.filter { $0.name == target.name && $0.country == target.country }
      #expect(try cities.exists(db), "\(target.name)")
    }
  }

  @Test(
    "gazetteer search accepts full-text operators, wildcards and quotes in the text without an error",
    arguments: ["\"", "* OR *", "NEAR(", "%", "_", "\\", "a\"b", "name:oslo", "-"])
  func syntax(text: String) throws {
    let result = try Gazetteer.imported().run("search", "--", text)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test("gazetteer search sorts by population, reports when nothing is found, and applies --limit")
  func searchOrder() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(
      try gazetteer.run("search", "O'Fallon").lines == [
        "KIND     CODE  COUNTRY  POPULATION  NAME",
        "city  4401242  US           85,040  O'Fallon",
        "city  4245926  US           29,002  O'Fallon",
      ])
    let nothing = try gazetteer.run("search", "Atlantis")
    #expect(nothing.status == 0 && nothing.errors.contains("nothing is named like “Atlantis”"))
    #expect(try gazetteer.objects("search", "Atlantis").isEmpty)
    #expect(try gazetteer.run("search", " ").status == 2)
    #expect(try gazetteer.objects("search", "o", "--limit", "2").count == 2)
  }

  @Test("gazetteer children lists a division's children, and with --all their descendants")
  func children() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(
      try gazetteer.run("children", "130000").lines == [
        "CODE    NAME      LEVEL  LATITUDE  LONGITUDE",
        "130100  石家庄市  city    38.0422   114.5148",
        "130200  唐山市    city    39.6307   118.1801",
      ])
    let all = try gazetteer.objects("children", "130000", "--all")
    #expect(all.map { $0["code"] } == [.number(130_100), .number(130_102), .number(130_200)])
    #expect(all.map { $0["parent"] } == [.number(130_000), .number(130_100), .number(130_000)])
    #expect(try gazetteer.objects("children", "110101").isEmpty)
  }

  @Test("gazetteer path lists the divisions from the province down")
  func path() throws {
    let path = try Gazetteer.imported().objects("path", "110102")
    #expect(path.map { $0["name"] } == [.text("北京市"), .text("市辖区"), .text("西城区")])
    #expect(path.map { $0["level"] } == [.text("province"), .text("city"), .text("district")])
  }

  @Test(
    "gazetteer exits with status 1 for an unknown code or country",
    arguments: [
      (["children", "999999"], "there is no division 999999"),
      (["path", "110199", "--json"], "there is no division 110199"),
      (["children", "Oslo"], "a division's code has six digits, unlike “Oslo”"),
      (["top", "--country", "XX"], "there is no country “XX”"),
      (["edit", "1", "--name", "A"], "there is no city 1"),
      (["remove", "1"], "there is no city 1"),
      (
        ["add", "A", "--country", "XX", "--latitude", "1", "--longitude", "1"],
        "there is no country “XX”"
      ),
    ])
  func unknown(arguments: [String], message: String) throws {
    let gazetteer = try Gazetteer.imported()
    let result = try gazetteer.start(arguments).end()
    #expect(result.status == 1)
    #expect(result.errors == "gazetteer: \(message)\n")
    #expect(result.output.isEmpty)
  }

  @Test("gazetteer top lists the largest cities, of all countries or of one")
  func top() throws {
    let gazetteer = try Gazetteer.imported()
    #expect(
      try gazetteer.run("top", "--limit", "2").lines == [
        "      CODE  POPULATION  CITY      COUNTRY",
        "1  1796236  24,874,500  Shanghai  China",
        "2  1816670  18,960,744  Beijing   China",
      ])
    let swiss = try gazetteer.objects("top", "--country", "ch")
    #expect(swiss.map { $0["population"] } == [.number(415_367), .number(17_117)])
    #expect(swiss[0]["id"] == .number(2_657_896) && swiss[0]["country"] == .text("CH"))
  }

  @Test(
    "gazetteer nearest finds the nearest cities, also across 180° and from the poles",
    arguments: [
      (["59.9", "10.7"], "Oslo"), (["-17", "-179.9"], "Labasa"), (["-90", "0"], "Suva"),
      (["90", "0"], "Oslo"), (["0", "180"], "Labasa"),
    ])
  func nearest(place: [String], name: String) throws {
    let gazetteer = try Gazetteer.imported()
    let cities = try gazetteer.objects("nearest", place[0], place[1], "--limit", "10")
    #expect(cities.first?["name"] == .text(name))
    #expect(cities.count == 10)
    let distances = cities.compactMap { city in
      if case .number(let distance) = city["distance"] { distance } else { nil }
    }
    #expect(distances == distances.sorted() && distances.count == 10)
  }

  @Test("gazetteer nearest prints 1,398.8 km as the distance from Oslo to Zürich")
  func distance() throws {
    let cities = try Gazetteer.imported().run("nearest", "59.91273", "10.74609", "--limit", "3")
    #expect(cities.lines[1].hasPrefix("   0.0  3143244"))
    #expect(cities.lines[2].hasPrefix("1398.8  2660306"), "\(cities.output)")
  }

  @Test("gazetteer stats counts cities and people per continent and country")
  func stats() throws {
    let rows = try Gazetteer.imported().objects("stats")
    let asia = rows.first { $0["continent"] == .text("AS") && $0["country"] == nil }
    #expect(asia?["people"] == .number(43_835_244) && asia?["cities"] == .number(2))
    #expect(asia?["largest"] == .text("Shanghai"))
    let norway = rows.first { $0["country"] == .text("NO") }
    #expect(norway?["name"] == .text("Norway") && norway?["largest"] == .text("Oslo"))
    #expect(rows.count == 4 + 5)
  }

  @Test("gazetteer sql prints each query with its arguments and its plan")
  func sql() throws {
    let gazetteer = try Gazetteer.imported()
    let queries = try gazetteer.objects("sql")
    let children = try #require(queries.first { $0["name"] == .text("children") })
    #expect(
      children["plan"]
        == .list(["SEARCH division USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]))
    #expect(children["arguments"] == .list(["110000", "119999", "100", "0"]))
    #expect(try gazetteer.run("sql").output.contains("city: insert\n  INSERT INTO \"city\""))
  }
}
