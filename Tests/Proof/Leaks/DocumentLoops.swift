import Larder

// Full-text search and JSON, again and again.

extension LeakLoop {
  static func documents(_ db: Database) -> [LeakLoop] {
    [
      LeakLoop("tokenizers") {
        let name = String(repeating: "Oslo", count: 10)
        try db.createTokenizer("some") { text, isQuery in
          if isQuery { throw DatabaseError(code: .error, message: name) }
          return [(name, 0..<text.utf8.count)]
        }
        let index = FullTextIndex(of: Town.self, \.name, named: "some_text", tokenizer: "some")
        try index.create(db)
        try expectFailure { _ = try Town.matching(index, .all(of: "Oslo")).fetchAll(db) }
        try index.drop(db)
      },
      LeakLoop("full-text indexes") {
        let index = FullTextIndex(of: Town.self, \.name, tokenizer: .bigram)
        try index.create(db)
        _ = try Town.matching(index, .allPrefixes(of: "to 山")).order { $0.rank }
          .select { ($0, $0.snippet(\.name, mark: "<", ">"), $0.rank) }.fetchAll(db)
        try expectFailure {
          _ = try Town.matching(index, FullTextPattern(raw: "\"")).fetchAll(db)
        }
        try index.verify(db)
        try index.drop(db)
      },
      LeakLoop("JSON") {
        let json = #"{"a": [1, {"b": "å"}], "n": 2.5}"#
        let texts = Town.select { _ in
          let json = SQLExpression<String>.value(json)
          return (
            json["n"].as(Double.self), json["a"].contains(1), json["a"][1]["b"].as(String.self)
          )
        }
        _ = try texts.limit(3).fetchAll(db)
        _ = try Town.limit(3).select { $0.name.jsonArray() }.fetchAll(db)
        try expectFailure { _ = try Town.select { $0.name["a"].as(Int.self) }.fetchAll(db) }
      },
      LeakLoop("changes of full-text indexes") {
        let index = FullTextIndex(
          of: Town.self, \.name, named: "copied", tokenizer: .trigram(), prefixes: [2],
          storage: .copied)
        try index.create(db, ifNotExists: true)
        let town = try Town(id: nil, name: "Oslo ferries", population: 7, land: "NO").inserted(db)
        let found = Town.filter {
          $0.matching(index, .phrase("slo fer").or(.near("oslo", "ferry")))
        }
        _ = try found.update(db) { $0.name = "Bergen" }
        _ = try Town.matching(index, .any(of: "bergen").in(Town.columns.name))
          .select { $0.highlight(\.name, mark: "<", ">") }.fetchAll(db)
        try expectFailure {
          _ = try Town.matching(index, FullTextPattern(raw: "be\0")).fetchAll(db)
        }
        try town.delete(db)
        try index.optimize(db)
        try index.rebuild(db)
        _ = try index.differences(db)
        try index.drop(db)
      },
      LeakLoop("changes of JSON") {
        try db.inTransaction { db in
          try db.executeUpdate("CREATE TEMP TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
          _ = try Note(id: 1, body: ["a": [1, 2]]).inserted(db)
          try Note.all.update(db) {
            $0.body["b"]["c"] = .value("å")
            $0.body["a"][-1].remove()
            $0.body["d"].insert(JSONExpression($0.id))
          }
          try Note.all.update(db) { $0.body.json.patch(["e": 7]) }
          _ = try Note.join(each: { $0.body.json }).filter { $1.value == 7 }
            .select { ($1.name, $1.value.as(Int.self)) }.fetchAll(db)
          _ = try Note.select { jsonObject(("id", $0.id), as: [String: Int].self).jsonArray() }
            .fetchAll(db)
          try expectFailure { try Note.all.update(db) { $0.body["e"]["f"] = 1 } }
          db.setRollbackOnly()
        }
      },
      LeakLoop("indexes on paths and generated columns") {
        try db.inTransaction { db in
          try Paper.table.create(db)
          try Paper.insert(db, contentsOf: (1...5).map { Paper(id: $0, body: ["n": $0], n: nil) })
          _ = try Paper.filter { $0.body["n"] > 3 && $0.n < 5 }.fetchAll(db)
          _ = try Paper.table.differences(db)
          try expectFailure { try db.executeUpdate("UPDATE paper SET body = '{'") }
          db.setRollbackOnly()
        }
      },
    ]
  }

  private struct Paper: Record {
    var id: Int
    var body: [String: Int]
    var n: Int?

    struct Columns: Sendable {
      let id = Column("id", \Paper.id, .primaryKey)
      let body = Column("body", \Paper.body, .validJSON, as: .json)
      let n = Column("n", \Paper.n, .generated(json: JSONExpression(column: "body")["n"]))
    }
    static let columns = Columns()
    static let table = Table(
      "paper", Paper.init, columns.id, columns.body, columns.n,
      indexes: [.index(on: columns.body["n"], as: Int.self)])
  }

  private struct Note: Record {
    var id: Int
    var body: [String: [Int]]

    struct Columns: Sendable {
      let id = Column("id", \Note.id, .primaryKey)
      let body = Column("body", \Note.body, as: .json)
    }
    static let columns = Columns()
    static let table = Table("note", Note.init, columns.id, columns.body)
  }
}
