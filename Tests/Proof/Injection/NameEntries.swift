import Foundation
import Larder
import LarderTesting
import ProofSupport

// Names: they are those of what was made, or refused.

extension InjectionEntry {
  static let names: [InjectionEntry] = [
    InjectionEntry("name of a table", makes: 3) { db, text in
      try db.executeUpdate(
        "CREATE TABLE \(identifier: text) (\(identifier: text) TEXT UNIQUE, id INTEGER)")
      try db.executeUpdate("INSERT INTO \(identifier: text) VALUES ('x', 1)")
      try WrongAnswer.check(try db.tableExists(text), true, "whether the table exists")
      try WrongAnswer.check(
        try db.columnExists(text, in: text), true, "whether the column exists")
      let columns = try db.columns(of: text)
      try WrongAnswer.check(columns.first?.name, text, text: "the column's name")
      try WrongAnswer.check(try db.indexes(of: text).count, 1, "the number of indexes")
      _ = try db.foreignKeys(of: text)
      let rows = try db.executeQuery("SELECT * FROM \(identifier: text)")
      _ = try rows.next()
      try WrongAnswer.check(rows.columnNames.first, text, text: "the name of the result's column")
      try WrongAnswer.check(try rows.get(text, as: String.self), "x", "the value by name")
      try WrongAnswer.check(try rows.isNull(text), false, "whether it is NULL")
      rows.close()
      try db.executeUpdate("DROP TABLE \(identifier: text)")
    },
    InjectionEntry("table, columns and index of a schema", makes: 2) { db, text in
      let table = try TableSchema(
        text, [.column("id", .integer, .primaryKey), .column(text + " ", .text)],
        indexes: [.index(text + " ", name: text + " index")])
      try table.create(db)
      let found = try Schema(db).table(text)
      try WrongAnswer.check(found.map { table.differences(from: $0) }, [], "the differences")
      try table.drop(db)
    },
    InjectionEntry("references", makes: 1) { db, text in
      let table = try TableSchema(
        "made",
        [
          .column("id", .integer, .primaryKey),
          .column("x", .integer, .references(text, column: text)),
        ], constraints: [.foreignKey(["x"], references: text, columns: [text])])
      try table.create(db)
      let keys = try db.foreignKeys(of: "made")
      for key in keys { try WrongAnswer.check(key.referencedTable, text, text: "the table") }
      try WrongAnswer.check(keys.count, 2, "the number of keys")
    },
    InjectionEntry("view, trigger and virtual table", makes: 9) { db, text in
      let view = try SchemaEntry.view(text, columns: [text], as: "SELECT 1")
      try view.create(db)
      _ = try db.executeQuery("SELECT \(identifier: text) FROM \(identifier: text)").next()
      let trigger = try SchemaEntry.trigger(
        text + "!", "INSTEAD OF INSERT", on: text, run: "SELECT 1")
      try trigger.create(db)
      try trigger.drop(db)
      try view.drop(db)
      let search = try SchemaEntry.virtualTable(text + "?", using: "fts5(a)")
      try search.create(db)
      try search.drop(db)
    },
    InjectionEntry("alias and common table") { db, text in
      let count = try InjectedTown.aliased(text).filter { $0.name == "Oslo" }.fetchCount(db)
      try WrongAnswer.check(count, 1, "the number of rows under an alias")
      let table = CommonTable(text, InjectedTown.all.select { ($0.name, $0.code) })
      let names = try table.all.filter { $0.columns.1 == "home" }.select { $0.columns.0 }
        .fetchAll(db)
      try WrongAnswer.check(names, ["Oslo"], "the names in a common table")
    },
    InjectionEntry("order by a column that a user chose") { db, text in
      do {
        _ = try InjectedTown.all.order(byColumnNamed: text).fetchAll(db)
        try WrongAnswer.check(
          InjectedTown.table.columnNames.contains(text), true, "whether it is one")
      } catch RecordError.unknownColumn {}
    },
    InjectionEntry("savepoint") { db, text in
      try db.savepoint(text)
      try db.executeUpdate("DELETE FROM town")
      try db.rollback(to: text)
      try db.release(text)
      try WrongAnswer.check(try InjectedTown.all.fetchCount(db), 1, "the number of rows")
    },
    InjectionEntry("savepoint that isn't there") { db, text in
      try WrongAnswer.expectError("release") { try db.release(text) }
      try WrongAnswer.expectError("rollback") { try db.rollback(to: text) }
    },
    InjectionEntry("function") { db, text in
      try db.createFunction(text, argumentCount: 2) { $0[1] }
      let found = try db.value("SELECT \(identifier: text)(1, \(text))", as: String.self)
      try WrongAnswer.check(found, text, text: "what the function returns")
      try db.removeFunction(text, argumentCount: 2)
    },
    InjectionEntry("collation") { db, text in
      try db.createCollation(text) { $0.count < $1.count ? .orderedAscending : .orderedDescending }
      _ = try InjectedTown.order { $0.name.collate(text) }.fetchAll(db)
      try db.removeCollation(text)
    },
    InjectionEntry("collation that is asked for") { db, text in
      let order: @Sendable (String, String) -> ComparisonResult = { _, _ in .orderedAscending }
      try db.createCollation { name in name == text ? order : nil }
      _ = try InjectedTown.order { $0.name.collate(text) }.fetchAll(db)
      try db.removeCollation(text)
    },
    InjectionEntry("blob of what isn't there") { db, text in
      try WrongAnswer.expectError("a blob") { _ = try db.openBlob(text, column: "nowhere", row: 1) }
      try WrongAnswer.expectError("a blob") {
        _ = try db.openBlob("treasury", column: text, row: -7)
      }
      try WrongAnswer.expectError("a blob") {
        _ = try db.openBlob("treasury", column: "gold", row: 1, database: text)
      }
    },
    InjectionEntry("missing index of a hostile column", makes: 2) { db, text in
      try db.executeUpdate("CREATE TABLE made (a TEXT, \(identifier: text) TEXT)")
      for index in try db.suggestedIndexes(
        for: "SELECT a FROM made WHERE \(identifier: text) = \(text)")
      {
        try db.executeUpdate(SQL(raw: index.sql))
      }
    },
    InjectionEntry("collation that isn't there", makes: 1) { db, text in
      _ = try InjectedTown.filter { $0.name.collate(text) == text }.fetchAll(db)
      let table = try TableSchema(
        "made", [.column("name", .text, .collate(text))], options: .noPrimaryKey)
      try table.create(db)
    },
    InjectionEntry("what isn't there") { db, text in
      let known = Set(try db.schema().map { $0.name.lowercased() })
      if known.contains(text.lowercased()) { return }
      try WrongAnswer.check(
        try db.columnExists(text, in: "treasury") && !["id", "gold", "owner"].contains(text), false,
        "whether there is such a column")
      let rows = try db.executeQuery("SELECT gold FROM treasury")
      _ = try rows.next()
      try WrongAnswer.expectError("a column of the result") { try rows.get(text, as: Int.self) }
      try WrongAnswer.expectError("a subscript") { try rows[text] }
      rows.close()
      if try db.tableExists(text) { throw WrongAnswer(description: "there is such a table") }
      _ = try db.columns(of: text)
    },
    InjectionEntry("index in a plan") { db, text in
      let plan = try InjectedTown.filter { $0.name == text }.explain(db)
      try WrongAnswer.check(plan.usesIndex(text), false, "whether the plan uses it")
    },
  ]
}
