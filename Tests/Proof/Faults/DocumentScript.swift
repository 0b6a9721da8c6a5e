import Larder
import ProofSupport

extension FaultScript {
  /// Full text by tokenizers of one's own and by others, and JSON with indexes and columns made of it.
  static let documents = FaultScript(
    name: "documents",
    steps: [
      FaultStep("open") { try $0.open() },
      .with("tokenizer") { db in try Halves.register(db) },
    ] + searches + json + [FaultStep("close") { try $0.close() }])

  private static let searches: [FaultStep] = [
    .with("index halves") { db in try Place.halves.create(db) },
    .with("patterns") { db in
      let pattern = FullTextPattern.near("ålesund", "北京市", distance: 4)
        .and(.any(of: "note 7").in(Place.columns.note).or(.phrase("ålesund 7", prefix: true)))
      let places = try Place.matching(Place.halves, pattern)
        .order { $0.rank(weights: [2, 1]) }
        .select { ($0, $0.highlight(\.name, mark: "<", ">"), $0.rank) }.fetchAll(db)
      try WrongAnswer.check(places.count, 83, "the number of places found")
    },
    .with("change what is found") { db in
      try Place.filter { $0.matching(Place.halves, .all(of: "ålesund 70,")) }
        .update(db) { $0.name = "Tromsø, 70" }
      let query = Place.matching(Place.halves, .phrase("tromsø,"))
      try WrongAnswer.check(try query.fetchCount(db), 1, "the number of those renamed")
    },
    .with("optimize") { db in try Place.halves.optimize(db) },
    .with("differences of an index") { db in
      try WrongAnswer.check(try Place.halves.differences(db).count, 0, "the differences")
      try Place.halves.verify(db)
    },
    .with("index pairs") { db in try Place.pairs.create(db) },
    .with("write to two indexes") { db in
      try db.inTransaction { db in
        _ = try Place(id: 900, name: "山", population: 1, note: "南山区").inserted(db)
        _ = try Place(id: 3, number: 3).delete(db)
      }
      let query = Place.matching(Place.pairs, .all(of: "山 南山"))
      try WrongAnswer.check(try query.fetchCount(db), 1, "the number of those with pairs")
    },
    .with("rebuild pairs") { db in try Place.pairs.rebuild(db) },
    .with("drop pairs") { db in try Place.pairs.drop(db) },
    .with("drop halves") { db in try Place.halves.drop(db) },
  ]

  private static let json: [FaultStep] = [
    .with("create documents") { db in try Report.table.create(db) },
    .with("insert documents") { db in
      try Report.insert(db, contentsOf: (1...60).map(Report.init(number:)))
    },
    .with("differences of documents") { db in
      try WrongAnswer.check(try Report.table.differences(db).count, 0, "the differences")
    },
    .with("queries by paths") { db in
      let reports = try Report.filter { $0.body["number"] > 50 && $0.state == "open" }
        .order { $0.body["number"].as(Int.self).desc }.fetchAll(db)
      try WrongAnswer.check(reports.map(\.id), [60, 58, 56, 54, 52], "the reports found")
      let found = Report.filter {
        $0.body["parts"].contains(7) && $0.body.isValidJSON && $0.body["parts"].count == 3
      }
      try WrongAnswer.check(try found.fetchCount(db), 2, "the number of those with a part")
    },
    .with("changes of documents") { db in
      try Report.filter { $0.id <= 30 }.update(db) {
        $0.body["name"].insert("å")
        $0.body["parts"][-1].remove()
        $0.body["parts"][0] = JSONExpression($0.id)
        $0.body["state"] = .value("done")
      }
    },
    .with("a merged document") { db in
      try Report.filter { $0.id == 40 }.update(db) { $0.body.json.patch(["state": "lost"]) }
      let states = Report.all.group { $0.state }.order { $0.state }.select { $0.state }
      try WrongAnswer.check(try states.fetchAll(db), ["done", "lost", "new", "open"], "the states")
    },
    .with("elements and objects") { db in
      let elements = try Report.join(each: { $0.body.json })
        .filter { report, member in member.value == "done" && report.id < 5 }
        .select { ($1.name, $1.value.as(String.self)) }.fetchAll(db)
      try WrongAnswer.check(elements.count, 4, "the number of members")
      let groups = try Report.all.group { $0.state }.select {
        (
          jsonObject(("number", $0.id), ("state", $0.state), as: Report.Brief.self).jsonArray(),
          $0.state.coalesce("").jsonObject(of: $0.body["number"].as(Int.self).coalesce(0))
        )
      }.fetchAll(db)
      try WrongAnswer.check(
        groups.reduce(0) { $0 + $1.0.value.count }, 60, "the number of objects")
      let parts = try Report.filter { $0.id == 1 }
        .select { $0.body["parts"].as(JSON<[Int]>.self) }.fetchAll(db)
      try WrongAnswer.check(parts.first??.value, [1, 2], "the parts")
    },
    .with("a path into the wrong type") { db in
      do {
        _ = try Report.select { $0.body["name"]["x"].as(Int.self) }.fetchAll(db)
        _ = try Report.select { $0.body["state"].as(Int.self) }.fetchAll(db)
        throw WrongAnswer(description: "a text is read as a number")
      } catch let error as DatabaseError where error.code == .constraint {}
    },
    .with("drop documents") { db in try Report.table.drop(db) },
  ]
}

extension Place {
  fileprivate static let halves = FullTextIndex(
    of: Place.self, \.name, \.note, named: "halves", tokenizer: "halves", prefixes: [2],
    weights: [1, 2], storage: .copied)
  fileprivate static let pairs = FullTextIndex(
    of: Place.self, \.name, \.note, named: "pairs", tokenizer: .bigram, storage: .contentless)
}

/// A tokenizer of the scripts' own: words between spaces, with their first two letters as synonyms.
enum Halves {
  static func register(_ db: Database) throws {
    try db.createTokenizer("halves") { text, isQuery in
      var start = 0
      return text.split(separator: " ", omittingEmptySubsequences: false).flatMap { word in
        let range = start..<start + word.utf8.count
        start = range.upperBound + 1
        let term = word.lowercased()
        if term.isEmpty { return [(term: String, range: Range<Int>)]() }
        return [(term, range)] + (isQuery ? [] : [(String(term.prefix(2)), range)])
      }
    }
  }
}

/// A record of JSON, with an index on a path and a column made of another.
private struct Report: Record {
  struct Body: Codable, Sendable {
    var number: Int
    var state: String
    var parts: [Int]
  }

  struct Brief: Codable, Sendable {
    var number: Int64
    var state: String?
  }

  var id: Int64
  var body: Body
  var state: String?

  init(id: Int64, body: Body, state: String?) {
    (self.id, self.body, self.state) = (id, body, state)
  }

  init(number: Int) {
    let states = ["open", "new"]
    self.init(
      id: Int64(number),
      body: Body(number: number, state: states[number % 2], parts: [number, 2, number + 5]),
      state: nil)
  }

  struct Columns: Sendable {
    let id = Column("id", \Report.id, .primaryKey)
    let body = Column("body", \Report.body, .validJSON, as: .json)
    let state = Column(
      "state", \Report.state, .generated(json: JSONExpression(column: "body")["state"]), .indexed)
  }
  static let columns = Columns()
  static let table = Table(
    "report", Report.init, columns.id, columns.body, columns.state,
    indexes: [.index(on: columns.body["number"], as: Int.self)])
}
