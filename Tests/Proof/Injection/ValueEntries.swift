import Foundation
import Larder
import LarderVirtualTables
import ProofSupport

// Values: whatever they are, they are stored, found and come back.

extension InjectionEntry {
  static let values: [InjectionEntry] = [
    InjectionEntry("positional argument") { db, text in
      let found = try db.value("SELECT ?", text, as: String.self)
      try WrongAnswer.check(found, text, text: "the value")
    },
    InjectionEntry("named argument") { db, text in
      let found = try db.executeQuery("SELECT :text AS t", arguments: ["text": text])
      _ = try found.next()
      try WrongAnswer.check(try found.get("t", as: String.self), text, text: "the value")
    },
    InjectionEntry("name of an argument") { db, text in
      try WrongAnswer.expectError("the name of an argument") {
        try db.executeUpdate("UPDATE treasury SET gold = 0 WHERE owner = :x", arguments: [text: 1])
      }
    },
    InjectionEntry("interpolation") { db, text in
      try db.executeUpdate("INSERT INTO town VALUES (\(text), \(text), \(text), '[]')")
      try stored(db, text)
    },
    InjectionEntry("interpolated list") { db, text in
      let count = try db.value(
        "SELECT count(*) FROM treasury WHERE owner IN \([text, text])", as: Int.self)
      try WrongAnswer.check(count, 0, "the number of rows")
    },
    InjectionEntry("literal") { db, text in
      let sql: SQL = "SELECT \(text), \(text) WHERE \(text) = \(text)"
      let rows = try db.executeQuery(SQL(raw: try sql.literalText()))
      try WrongAnswer.check(try rows.next(), true, "whether there is a row")
      try WrongAnswer.check(try rows.get(at: 1, as: String.self), text, text: "the literal")
    },
    InjectionEntry("record") { db, text in
      _ = try InjectedTown(code: text, name: text, note: text, tags: [text]).inserted(db)
      try stored(db, text)
      let tags = try InjectedTown.find(db, text).tags
      try WrongAnswer.check(tags.first, text, text: "the JSON value")
      try WrongAnswer.check(
        try InjectedTown.find(db, text).delete(db), true, "whether it was deleted")
    },
    InjectionEntry("update, save and upsert of records") { db, text in
      var town = InjectedTown.home
      town.name = text
      try town.update(db)
      try WrongAnswer.check(try InjectedTown.find(db, "home").name, text, text: "the name")
      town.code = text
      try town.save(db)
      town.note = text
      try town.upsert(db)
      try stored(db, text)
    },
    InjectionEntry("batch of records") { db, text in
      try InjectedTown.insert(
        db, contentsOf: (0..<60).map { InjectedTown(code: "\($0) \(text)", name: text, note: text) }
      )
      let count = try InjectedTown.filter { $0.name == text && $0.note == text }.fetchCount(db)
      try WrongAnswer.check(count, 60, "the number of rows")
    },
    InjectionEntry("update and delete by a query") { db, text in
      try InjectedTown.filter { $0.code == "home" }.update(db) { $0.name = .value(text) }
      try WrongAnswer.check(try InjectedTown.find(db, "home").name, text, text: "the name")
      try WrongAnswer.check(
        try InjectedTown.filter { $0.name == text }.delete(db), 1, "the number of deleted rows")
    },
    InjectionEntry("Decodable and function") { db, text in
      struct Row: Decodable { var owner: String }
      let rows = try db.fetch(Row.self, "SELECT ? AS owner", text)
      try WrongAnswer.check(rows.first?.owner, text, text: "the value")
      try db.createFunction("same_text", argumentCount: 1) { $0[0] }
      let found = try db.value("SELECT same_text(?)", text, as: String.self)
      try WrongAnswer.check(found, text, text: "what the function returns")
      try db.removeFunction("same_text", argumentCount: 1)
    },
    InjectionEntry("argument and rows of a table-valued function, and a table that is bound") {
      db, text in
      try db.createFunction(
        TableFunction("same_texts") { (text: String, blob: [UInt8]) in [(text, blob)] })
      let bytes = Array(text.utf8)
      let row = try db.executeQuery("SELECT * FROM same_texts(\(text), \(bytes))")
      try WrongAnswer.check(try row.next(), true, "whether there is a row")
      try WrongAnswer.check(try row.get(at: 0), text, text: "what the function returns")
      try WrongAnswer.check(try row.get(at: 1, as: [UInt8].self), bytes, "its bytes")
      row.close()
      try db.removeFunction("same_texts")
      let bound = try db.value("SELECT value FROM \(table: [text])", as: String.self)
      try WrongAnswer.check(bound, text, text: "what is bound")
    },
    InjectionEntry("error of a function") { db, text in
      try db.createFunction("failing", argumentCount: 0) { _ in
        throw DatabaseError(code: .error, message: text)
      }
      try WrongAnswer.expectError("the function") { try db.value("SELECT failing()", as: Int.self) }
      try db.removeFunction("failing", argumentCount: 0)
    },
    InjectionEntry("default of a column", makes: 1) { db, text in
      let table = try TableSchema(
        "made",
        [.column("id", .integer, .primaryKey), .column("name", .text, .default(.text(text)))])
      try table.create(db)
      try db.executeUpdate("INSERT INTO made (id) VALUES (1)")
      let found = try db.value("SELECT name FROM made", as: String.self)
      try WrongAnswer.check(found, text, text: "the default")
      try WrongAnswer.check(
        table.differences(from: try Schema(db).table("made")), [], "the differences")
    },
    InjectionEntry("check of a column, condition of an index, view and trigger", makes: 4) {
      db, text in
      try TableSchema(
        "made", [.column("name", .text, .check("name <> \(text)"))],
        indexes: [.index("name", where: "name > \(text)", name: "made_index")],
        options: .noPrimaryKey
      ).create(db)
      try WrongAnswer.expectError("what the check forbids") {
        try db.executeUpdate("INSERT INTO made VALUES (?)", text)
      }
      try SchemaEntry.view("made_view", as: "SELECT \(text) AS t").create(db)
      let found = try db.value("SELECT t FROM made_view", as: String.self)
      try WrongAnswer.check(found, text, text: "the view's text")
      try SchemaEntry.trigger(
        "made_trigger", "AFTER INSERT", on: "made",
        run: "UPDATE town SET note = \(text) WHERE code = 'home'"
      ).create(db)
      try db.executeUpdate("INSERT INTO made VALUES ('another')")
      try WrongAnswer.check(
        try InjectedTown.find(db, "home").note, text, text: "the trigger's text")
    },
    InjectionEntry("cursor of a page") { db, text in
      let query = InjectedTown.order { $0.name }
      do {
        _ = try query.page(db, after: text, limit: 1)
        throw WrongAnswer(description: "it is taken for a cursor")
      } catch is PageError {}
      _ = try InjectedTown(code: text, name: text).inserted(db)
      _ = try InjectedTown(code: text + "2", name: text).inserted(db)
      var rest = Set(try InjectedTown.all.fetchAll(db).map { Array($0.code.utf8) })
      var next: String?
      repeat {
        let page = try query.page(db, after: next, limit: 1)
        for row in page.rows { rest.remove(Array(row.code.utf8)) }
        next = page.next
      } while next != nil
      try WrongAnswer.check(rest.count, 0, "the rows that no page has")
    },
  ]

  private static func stored(_ db: Database, _ text: String) throws {
    let town = try InjectedTown.find(db, text)
    try WrongAnswer.check(town.code, text, text: "the key")
    try WrongAnswer.check(town.name, text, text: "the name")
    try WrongAnswer.check(town.note, text, text: "the note")
    let count = try InjectedTown.filter {
      $0.name == text && $0.name.in([text]) && !($0.note != text)
    }
    .fetchCount(db)
    try WrongAnswer.check(count, 1, "the number of equal rows")
  }
}
