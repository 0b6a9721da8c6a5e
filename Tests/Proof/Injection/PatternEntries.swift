import Foundation
import Larder

// Texts with a meaning of their own: patterns, searches, paths and formats.

extension InjectionEntry {
  static let patterns: [InjectionEntry] = [
    InjectionEntry("hasPrefix, hasSuffix and contains") { db, text in
      _ = try InjectedTown(code: "x", name: "a" + text + "b", note: text).inserted(db)
      let query = InjectedTown.filter { $0.code == "x" && $0.name.contains(text) }
        .filter { $0.name.hasPrefix("a" + text) && $0.name.hasSuffix(text + "b") }
        .filter { $0.note.hasPrefix(text) && $0.note.hasSuffix(text) }
      try WrongAnswer.check(try query.fetchCount(db), 1, "the number of rows")
      let isPart = text.isEmpty || Array("Oslo".utf8).firstRange(of: Array(text.utf8)) != nil
      let others = InjectedTown.filter { $0.code == "home" && $0.name.contains(text) }
      try WrongAnswer.check(
        try others.fetchCount(db), isPart ? 1 : 0, "the number of rows that contain it")
    },
    InjectionEntry("LIKE") { db, text in
      _ = try InjectedTown.filter { $0.name.like(text) }.fetchAll(db)
      _ = try InjectedTown.filter { $0.name.like(text, escape: "!") }.fetchAll(db)
    },
    InjectionEntry("ESCAPE") { db, text in
      _ = try InjectedTown.filter { $0.name.like("%", escape: text.first ?? "!") }.fetchAll(db)
    },
    InjectionEntry("GLOB") { db, text in
      _ = try InjectedTown.filter { $0.name.glob(text) }.fetchAll(db)
    },
    InjectionEntry("full-text search") { db, text in
      let rows = try db.executeQuery("SELECT body FROM letter WHERE letter MATCH \(text)")
      while try rows.next() {}
    },
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
    InjectionEntry("damaged JSON in a record") { db, text in
      try db.executeUpdate("UPDATE town SET tags = ?", text)
      _ = try InjectedTown.fetchAll(db)
    },
    InjectionEntry("format of dates") { db, text in
      _ = try Letter.filter { $0.date.strftime(text) == text }.fetchAll(db)
    },
    InjectionEntry("parts of texts") { db, text in
      let found = try InjectedTown.select {
        ($0.name + text, $0.name.replacing("Oslo", with: text))
      }
      .fetchAll(db)
      try WrongAnswer.check(found.first?.0, "Oslo" + text, text: "both texts")
      try WrongAnswer.check(found.first?.1, text, text: "the replacement")
      _ = try InjectedTown.select { $0.name.position(of: text) }.fetchAll(db)
      let joined = try InjectedTown.select { $0.name.groupConcat(separator: text) }.fetchAll(db)
      try WrongAnswer.check(joined.first ?? nil, "Oslo", text: "the one name")
    },
  ]

  /// The treasury with dates.
  private struct Letter: Record {
    var id: Int
    var date: Date

    struct Columns: Sendable {
      let id = Column("id", \Letter.id, .primaryKey)
      let date = Column("owner", \Letter.date)
    }
    static let columns = Columns()
    static let table = Table("treasury", Letter.init, columns.id, columns.date)
  }
}
