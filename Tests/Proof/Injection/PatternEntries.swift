import Foundation
import Larder
import ProofSupport

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
