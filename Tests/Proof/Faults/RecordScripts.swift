import Larder
import ProofSupport

extension FaultScript {
  /// What records and queries do.
  static let records = FaultScript(
    name: "records",
    steps: [
      FaultStep("open") { try $0.open() },
      .with("differences") { db in
        try WrongAnswer.check(try Place.table.differences(db).count, 0, "the differences")
      },
      .with("insert") { db in
        var place = Place(id: nil, number: 500)
        try place.insert(db)
        try WrongAnswer.check(place.id, 121, "the key of an inserted record")
      },
      .with("find") { db in
        let place = try Place.find(db, 121)
        try WrongAnswer.check(place.name, Place(id: nil, number: 500).name, "the name found")
      },
      .with("update") { try Place(id: 5, number: 505).update($0) },
      .with("update a column") {
        try Place(id: 6, number: 506).update($0, Place.columns.population)
      },
      .with("upsert") { db in
        try Place(id: nil, name: Place(id: nil, number: 7).name, population: 77, note: nil)
          .upsert(db, onConflict: Place.columns.name, updating: Place.columns.population)
      },
      .with("save") { try Place(id: 8, number: 508).save($0) },
      .with("save anew") { try Place(id: 122, number: 509).save($0) },
      .with("delete") { db in
        try WrongAnswer.check(try Place(id: 9, number: 9).delete(db), true, "whether one is gone")
      },
      .with("insert many") { db in
        try Place.insert(db, contentsOf: (1...150).map { Place(id: nil, number: 1000 + $0) })
      },
      .with("inserted") { db in
        let places = try Place.inserted(
          db, contentsOf: (1...5).map { Place(id: nil, number: 2000 + $0) })
        try WrongAnswer.check(places.map(\.id), (273...277).map(Int64.init), "the keys inserted")
      },
      .with("fetch all") { db in
        try WrongAnswer.check(try Place.fetchAll(db).count, 276, "the number of all")
      },
      .with("for each") { db in
        var count = 0
        try Place.forEach(db) { _ in count += 1 }
        try WrongAnswer.check(count, 276, "the number of records")
      },
      .with("query") { db in
        let places = try Place.filter { $0.population > 100_000 && $0.name.hasPrefix("Ålesund") }
          .order { $0.note }.limit(10, offset: 5).fetchAll(db)
        try WrongAnswer.check(places.count, 10, "the number of rows of a query")
      },
      .with("count") { db in
        try WrongAnswer.check(
          try Place.filter { $0.note == nil }.fetchCount(db),
          try Place.fetchAll(db).count { $0.note == nil }, "a count")
      },
      .with("update by query") { db in
        try Place.filter { $0.id > 200 }.update(db) { $0.population += 1 }
      },
      .with("delete by query") { db in try Place.filter { $0.id > 270 }.delete(db) },
      .with("create") { db in try Remark.table.create(db) },
      .with("insert from a query") { db in
        try Remark.insert(
          db, Remark.columns.text, from: Place.filter { $0.id < 50 }.select { $0.name })
      },
      .with("join") { db in
        let rows = try Remark.order { $0.id }
          .join(Place.self) { remark, place in remark.text == place.name }.fetchAll(db)
        try WrongAnswer.check(rows.count, 48, "the number of joined rows")
      },
      .with("JSON to come") { db in
        try Remark.filter { $0.id < 20 }.update(db) {
          $0.text = #"{"a": {"b": [1, 2.5, "x"]}, "gone": null}"#
        }
      },
      .with("JSON in updates") { db in
        try Remark.filter { $0.id < 20 }.update(db) {
          $0.text["a"]["b"][-1] = .value(["y": "å"])
          $0.text["n"] = JSONExpression($0.id)
          $0.text["gone"].remove()
        }
      },
      .with("JSON in queries") { db in
        let rows = Remark.filter { $0.id < 20 }.join(each: { $0.text["a"]["b"] })
          .filter { $1.value["y"] == "å" || $1.value == 2.5 }
          .order { remark, _ in remark.text["n"].as(Int.self) }
          .select { ($0.text["n"].as(Int.self), $1.index) }
        try WrongAnswer.check(try rows.fetchAll(db).count, 38, "the number of elements")
        let texts = try Remark.filter { $0.id < 20 }.select { $0.text.jsonArray() }.fetchAll(db)
        try WrongAnswer.check(texts.first?.value.count, 19, "the number of texts")
      },
      .with("drop") { db in try Remark.table.drop(db) },
      .with("index words") { db in try Place.words.create(db, ifNotExists: true) },
      .with("search") { db in
        let places = try Place.matching(Place.words, .allPrefixes(of: "ålesund")).order { $0.rank }
          .select { ($0, $0.snippet(\.name, mark: "<", ">")) }.limit(5).fetchAll(db)
        try WrongAnswer.check(places.count, 5, "the number of places found")
      },
      .with("update what is found") { db in
        try Place.filter { $0.id == 12 }.update(db) { $0.name = "Xyzzy" }
        let query = Place.matching(Place.words, .all(of: "xyzzy"))
        try WrongAnswer.check(try query.fetchCount(db), 1, "the number of those renamed")
      },
      .with("verify words") { db in
        try Place.words.rebuild(db)
        try Place.words.verify(db)
      },
      .with("drop words") { db in try Place.words.drop(db, ifExists: true) },
      FaultStep("close") { try $0.close() },
    ])
}

extension Place {
  fileprivate static let words = FullTextIndex(of: Place.self, \.name, \.note)
}

struct Remark: Record {
  var id: Int64?
  var text: String

  struct Columns: Sendable {
    let id = Column("id", \Remark.id, .primaryKey)
    let text = Column("text", \Remark.text)
  }
  static let columns = Columns()
  static let table = Table("remark", Remark.init, columns.id, columns.text)
}
