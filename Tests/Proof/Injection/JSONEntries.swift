import Larder
import ProofSupport

// JSON: names and texts in it, paths, and what is declared by them.

extension InjectionEntry {
  static let json: [InjectionEntry] = [
    InjectionEntry("path into JSON") { db, text in
      // A name is any text, and finds only itself.
      let names = [text, text + "\"]", "x"]
      try db.executeUpdate("UPDATE town SET tags = ?", JSON([text: [text: 7]]))
      for name in names {
        let isThere = name.utf8.elementsEqual(text.utf8)
        let found = try InjectedTown.select { $0.tags[name][name].as(Int.self) }.fetchAll(db)
        try WrongAnswer.check(found.first ?? nil, isThere ? 7 : nil, "the value at the name")
        let query = InjectedTown.filter {
          $0.tags[name][name] == 7 && $0.tags[name].type == "object"
        }
        try WrongAnswer.check(try query.fetchCount(db), isThere ? 1 : 0, "the number of rows")
      }
    },
    InjectionEntry("JSON in a column") { db, text in
      try db.executeUpdate("UPDATE town SET tags = ?", text)
      _ = try InjectedTown.select { $0.tags[0].as(String.self) }.fetchAll(db)
      _ = try InjectedTown.filter { $0.tags[0] == text || $0.tags.isValidJSON }.fetchAll(db)
    },
    InjectionEntry("text in JSON") { db, text in
      try db.executeUpdate("UPDATE town SET tags = '{}'")
      try InjectedTown.all.update(db) {
        $0.tags["name"] = .value(text)
        $0.tags[text] = .value([text])
        $0.tags["x"].insert(.value(text))
        $0.tags["gone"] = 1
        $0.tags["gone"].remove()
      }
      let values = try InjectedTown.select {
        ($0.tags["name"].as(String.self), $0.tags[text][-1].as(String.self))
      }
      .fetchAll(db)
      try WrongAnswer.check(values.first?.1 ?? nil, text, text: "the value at its own name")
      if !["name", "x", "gone"].contains(text) {
        try WrongAnswer.check(values.first?.0 ?? nil, text, text: "the value")
      }
      // SQLite ends a text at a NUL, which is refused.
      if !text.utf8.contains(0) {
        let rows = InjectedTown.join(each: { $0.tags[text] }).filter { $1.value == text }
        try WrongAnswer.check(try rows.fetchCount(db), 1, "the number of elements")
        let query = InjectedTown.filter { $0.tags[text].contains(text) }
        try WrongAnswer.check(try query.fetchCount(db), 1, "the number of rows that have it")
      }
      let names = try InjectedTown.select { _ in SQLExpression<String>.value(text).jsonArray() }
        .fetchAll(db)
      try WrongAnswer.check(names.first?.value.first, text, text: "the element")
    },
    InjectionEntry("merged JSON, and names of members") { db, text in
      try db.executeUpdate("UPDATE town SET tags = '{}'")
      try InjectedTown.all.update(db) { $0.tags.json.patch([text: [text]]) }
      let found = try InjectedTown.select { $0.tags[text][0].as(String.self) }.fetchAll(db)
      try WrongAnswer.check(found.first ?? nil, text, text: "the value that was merged")
      let members = try InjectedTown.join(each: { $0.tags.json }).fetchAll(db).map(\.1)
      try WrongAnswer.check(members.first?.name, text, text: "the member's name")
      let names = try InjectedTown.join(each: { $0.tags.json })
        .filter { $1.name == text && $1.value.contains(text) }.select { $1.name }.fetchAll(db)
      try WrongAnswer.check(names.first ?? nil, text, text: "the name in a query")
    },
    InjectionEntry("names and values of objects that rows become") { db, text in
      let value = SQLExpression<String>.value(text)
      let objects = try InjectedTown.select { _ in
        jsonObject((text, value), ("x" + text, value), as: [String: String].self)
      }.fetchAll(db)
      try WrongAnswer.check(objects.first?.value[text], text, text: "the object's member")
      try WrongAnswer.check(objects.first?.value.count, 2, "the number of members")
      let groups = try InjectedTown.select { _ in value.jsonObject(of: value) }.fetchAll(db)
      try WrongAnswer.check(groups.first?.value[text], text, text: "the group's member")
    },
    InjectionEntry("index on a path, and a column generated from it", makes: 2) { db, text in
      struct Made: Record {
        var id: Int64
        var body: [String: String]
        var part: String?

        struct Columns: Sendable {
          let id = Column("id", \Made.id, .primaryKey)
          let body = Column("body", \Made.body, as: .json)
        }
        static let columns = Columns()
        static let table = Table("made", Made.init(id:body:), columns.id, columns.body)

        init(id: Int64, body: [String: String]) { (self.id, self.body) = (id, body) }
      }
      let part = Column<Made, String?>(
        "part", \Made.part, .generated(json: JSONExpression(column: "body")[text][text]))
      let whole = Column<Made, String?>(
        "whole", \Made.part, .generated(json: JSONExpression(column: "body")[text], stored: true))
      let table = Table(
        "made",
        { (id: Int64, body: [String: String], _: String?, _: String?) in
          Made(id: id, body: body)
        }, Made.columns.id, Made.columns.body, part, whole,
        indexes: [
          .index(on: Made.columns.body[text], as: String.self, name: "made_index")
        ])
      try table.create(db)
      try WrongAnswer.check(try table.differences(db), [], "the differences")
      _ = try Made(id: 1, body: [text: text]).inserted(db)
      let found = try db.executeQuery("SELECT whole, part FROM made").map {
        (try $0.get(at: 0, as: String?.self), try $0.get(at: 1, as: String?.self))
      }
      try WrongAnswer.check(found.first?.0, text, text: "the generated value")
      try WrongAnswer.check(found.first?.1, nil, "the value in a text")
      let query = Made.filter { $0.body[text] == text }
      try WrongAnswer.check(try query.fetchCount(db), 1, "the number of rows")
      try WrongAnswer.check(
        try query.explain(db).usesIndex("made_index"), true, "whether the index is used")
      try table.drop(db)
    },
  ]
}
