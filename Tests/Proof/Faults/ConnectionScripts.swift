import Foundation
import Larder
import LarderVirtualTables
import ProofSupport

extension FaultScript {
  /// What a plain connection does.
  static let connection = FaultScript(
    name: "connection",
    steps: [
      FaultStep("open") { try $0.open() },
      .with("execute") { db in
        let count = try db.executeUpdate(
          "UPDATE account SET balance = balance + ? WHERE id = 1; ", 5)
        try WrongAnswer.check(count, 1, "the number of updated rows")
      },
      .with("batch") { db in
        var sum = 0
        try db.executeStatements(
          "SELECT balance FROM account; SELECT count(*) FROM place;  -- that is all\n"
        ) { row in
          sum += try row.get(at: 0, as: Int.self)
          return .next
        }
        try WrongAnswer.check(sum, 1005 + FaultTemplate.cityCount, "the sum of a batch")
      },
      .with("query") { db in
        let names = try db.executeQuery("SELECT name FROM place ORDER BY population")
          .map { try $0.get("name", as: String.self) }
        try WrongAnswer.check(
          names, (1...FaultTemplate.cityCount).map { Place(id: nil, number: $0).name },
          "the result of a query")
      },
      .with("cursor") { db in
        let places = try db.executeQuery("SELECT * FROM place ORDER BY note, name DESC")
        var sum = 0
        while try places.next() { sum += try places.get("population", as: Int.self) }
        try WrongAnswer.check(sum, FaultTemplate.population, "the sum of a cursor")
      },
      .with("value") { db in
        let sum = try db.value("SELECT sum(population) FROM place", as: Int.self)
        try WrongAnswer.check(sum, FaultTemplate.population, "a value")
      },
      .with("prepare") { db in
        let statement = try db.prepare("SELECT id FROM place WHERE name = ?")
        for number in [1, 50, 120] {
          try statement.bind(Place(id: nil, number: number).name)
          try WrongAnswer.check(try statement.step(), true, "whether there is a row")
          try WrongAnswer.check(try statement.get(at: 0, as: Int.self), number, "a key")
          try statement.reset()
        }
      },
      .with("function") { db in
        try db.createFunction("doubled", argumentCount: 1) { try Int(databaseValue: $0[0]) * 2 }
        let sum = try db.value("SELECT sum(doubled(population)) FROM place", as: Int.self)
        try WrongAnswer.check(sum, FaultTemplate.population * 2, "the sum of a function")
      },
      .with("table function") { db in
        try db.createFunction(
          TableFunction("doubles") { (count: Int) in (1...count).lazy.map { ($0, "place \($0)") } })
        let sum = try db.value("SELECT sum(c1) FROM doubles(100) WHERE c2 <> ''", as: Int.self)
        try WrongAnswer.check(sum, 5050, "the sum of a table-valued function")
      },
      .with("bound table") { db in
        let sum = try db.value("SELECT sum(value) FROM \(table: Array(1...100))", as: Int.self)
        try WrongAnswer.check(sum, 5050, "the sum of a table that is bound")
      },
      .with("transaction") { db in
        try db.inTransaction { db in
          try db.executeUpdate("UPDATE account SET balance = balance - 10 WHERE id = 1")
          try db.executeUpdate("UPDATE account SET balance = balance + 10 WHERE id = 2")
        }
      },
      .with("savepoints") { db in
        try db.inTransaction(.exclusive) { db in
          try db.executeUpdate("INSERT INTO document VALUES (1, zeroblob(100))")
          try db.inSavepoint { db in
            try db.executeUpdate("DELETE FROM place")
            db.setRollbackOnly()
          }
          try db.inSavepoint { db in
            try db.executeUpdate("INSERT INTO document VALUES (2, x'')")
          }
        }
      },
      .with("transaction whose end is compiled anew") { db in
        try db.inTransaction { try expireStatements($0) }
      },
      .with("returning") { db in
        let ids = try db.executeQuery("INSERT INTO document VALUES (9, x'') RETURNING id")
          .map { try $0.get(at: 0, as: Int.self) }
        try WrongAnswer.check(ids, [9], "the keys returned")
      },
      .with("transaction by hand") { db in
        try db.begin(.deferred)
        try db.executeUpdate("INSERT INTO document VALUES (3, zeroblob(9000))")
        try db.savepoint("before")
        try db.executeUpdate("DELETE FROM document")
        try db.rollback(to: "before")
        try db.release("before")
        try db.commit()
      },
      .with("rollback") { db in
        try db.begin()
        try db.executeUpdate("UPDATE place SET population = 0, name = 'ø' || id")
        try db.rollback()
        let sum = try db.value("SELECT sum(population) FROM place", as: Int.self)
        try WrongAnswer.check(sum, FaultTemplate.population, "the sum after a rollback")
      },
      .with("schema") { db in
        try WrongAnswer.check(try db.columns(of: "place").count, 4, "the number of columns")
        try WrongAnswer.check(try db.tableExists("place"), true, "whether there is a table")
        try WrongAnswer.check(try db.indexes(of: "place").count, 2, "the number of indexes")
      },
      FaultStep("close") { try $0.close() },
    ])

  /// One statement, whose every point is tried also in a short run.
  static let statement = FaultScript(
    name: "statement", safeSteps: 1, isAlwaysWhole: true,
    steps: [
      FaultStep("open") { try $0.open() },
      .with("execute") { db in
        try db.executeUpdate("UPDATE account SET balance = balance + ? WHERE id = 2;\n", 1)
      },
    ])

  /// What changes more than rows, and more than one file.
  static let files = FaultScript(
    name: "files",
    steps: [
      FaultStep("open") { try $0.open() },
      FaultStep("attach") { bench in
        try bench.database().executeUpdate("ATTACH ? AS other", bench.file("other.db"))
      },
      .with("create elsewhere") { db in
        try db.executeUpdate("CREATE TABLE other.copy (id INTEGER PRIMARY KEY, name TEXT)")
      },
      .with("write to both") { db in
        try db.inTransaction { db in
          try db.executeUpdate("INSERT INTO other.copy SELECT id, name FROM place")
          try db.executeUpdate("UPDATE place SET note = 'copied'")
        }
      },
      .with("detach") { try $0.executeUpdate("DETACH other") },
      .with("create") { db in
        try db.executeUpdate("CREATE INDEX place_note ON place (note, population)")
      },
      .with("alter") { db in
        try db.executeUpdate("ALTER TABLE place ADD COLUMN area REAL")
      },
      .with("delete") { db in
        try WrongAnswer.check(
          try db.executeUpdate("DELETE FROM place WHERE id % 2 = 0"), FaultTemplate.cityCount / 2,
          "the number of deleted rows")
      },
      .with("vacuum") { try $0.executeUpdate("VACUUM") },
      .with("checkpoint") { try $0.checkpoint(.passive) },
      .with("truncate") { try $0.checkpoint(.truncate) },
      .with("user version") { try $0.setUserVersion(7) },
      FaultStep("backup") { bench in
        let copy = bench.file("copy.db")
        do {
          try bench.database().backup(to: copy, pagesPerStep: 4)
        } catch {
          try WrongAnswer.check(access(copy, F_OK), -1, "whether a backup that failed left a file")
          throw error
        }
      },
      .with("empty") { try $0.executeUpdate("DELETE FROM place") },
      FaultStep("restore") { bench in
        try bench.database().restore(from: bench.file("copy.db"), pagesPerStep: 4)
      },
      FaultStep("close") { try $0.close() },
    ])

  /// Files that are made, in each profile.
  static let opening = FaultScript(
    name: "opening", needsFile: false,
    steps: [
      FaultStep("create") { bench in try bench.open() },
      .with("fill") { try $0.executeUpdate("CREATE TABLE town AS SELECT 1 AS id, 'Bodø' AS name") },
      FaultStep("close") { try $0.close() },
      FaultStep("create durably") { try $0.open(Configuration(profile: .durable), "other.db") },
      .with("fill durably") { try $0.executeUpdate("CREATE TABLE town AS SELECT 2 AS id") },
      FaultStep("close durably") { try $0.close() },
      FaultStep("open untrusted") { try $0.open(Configuration(profile: .untrustedFile)) },
      .with("read untrusted") { db in
        let name = try db.value("SELECT name FROM town", as: String.self)
        try WrongAnswer.check(name, "Bodø", "the name in an untrusted file")
      },
      FaultStep("close untrusted") { try $0.close() },
      FaultStep("open again") { try $0.open() },
      .with("fill again") { try $0.executeUpdate("INSERT INTO town VALUES (2, 'Tromsø')") },
    ])

  /// More changes than the page cache holds, which go to the disk before the commit.
  static let large = FaultScript(
    name: "large",
    steps: [
      FaultStep("open") { bench in
        var configuration = bench.configuration
        configuration.cacheSize = 10 * 1024
        try bench.open(configuration)
      },
      .with("transaction") { db in
        try db.inTransaction { db in
          for id in 1...12 {
            try db.executeUpdate("INSERT INTO document VALUES (?, zeroblob(6000))", id)
          }
          try db.executeUpdate("UPDATE place SET population = population + 1")
        }
      },
      .with("rollback") { db in
        try db.begin()
        try db.executeUpdate("UPDATE place SET population = -id, name = 'ø' || name")
        try db.executeUpdate("UPDATE document SET body = zeroblob(5000)")
        try db.rollback()
      },
      .with("sort") { db in
        let first = try db.value(
          "SELECT name FROM place JOIN document ORDER BY body, name DESC, document.id",
          as: String.self)
        try WrongAnswer.check(first, Place(id: nil, number: 99).name, "the first of those sorted")
      },
      FaultStep("close") { try $0.close() },
    ])
}
