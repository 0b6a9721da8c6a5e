import Foundation
import Larder
import ProofSupport

extension MisuseSituation {
  /// Inside of what SQLite calls.
  static let callbacks =
    ["a function of a query": 0, "a function of a prepared statement": 1].sorted { $0.key < $1.key }
    .map { name, which in
      inside(name) { db, meddling, call, folder in
        try db.createFunction("meddle", argumentCount: 1) { arguments in
          meddling.run()
          return arguments[0]
        }
        let stage = try MisuseStage(
          db, folder, "SELECT meddle(name) AS name, id, population FROM town")
        meddling.set { try call.expectAnswer(stage) }
        if which == 0 {
          while try stage.rows.next() {}
        } else {
          while try stage.statement.step() {}
        }
      }
    } + [
      inside("a function of an update") { db, meddling, call, folder in
        try db.createFunction("meddle", argumentCount: 1) { arguments in
          meddling.run()
          return arguments[0]
        }
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        try db.executeUpdate("UPDATE town SET population = meddle(population)")
      },
      inside("an aggregate's step") { db, meddling, call, folder in
        try db.createAggregate(
          "meddle_all", argumentCount: 1, initial: 0,
          step: { count, _ in
            meddling.run()
            count += 1
          }, final: { $0 })
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        _ = try db.value("SELECT meddle_all(name) FROM town", as: Int.self)
      },
      inside("an aggregate's end") { db, meddling, call, folder in
        try db.createAggregate(
          "meddle_all", argumentCount: 1, initial: 0, step: { count, _ in count += 1 },
          final: { count in
            meddling.run()
            return count
          })
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        _ = try db.value("SELECT meddle_all(name) FROM town", as: Int.self)
      },
      inside("a collation") { db, meddling, call, folder in
        try db.createCollation("meddling") { left, right in
          meddling.run()
          return left < right ? .orderedAscending : .orderedDescending
        }
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        try db.executeQuery("SELECT name FROM town ORDER BY name COLLATE meddling").forEach { _ in }
      },
      inside(
        "a trace",
        configure: { configuration, meddling in configuration.trace = { _ in meddling.run() } }
      ) { db, meddling, call, folder in
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        try db.executeUpdate("UPDATE town SET population = 1")
      },
      inside(
        "a log",
        configure: { configuration, meddling in configuration.log = { _ in meddling.run() } }
      ) { db, meddling, call, folder in
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        try db.executeUpdate("INSERT INTO town SELECT * FROM town")
      },
      inside("the release of a function") { db, meddling, call, folder in
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        let witness = Farewell(meddling)
        try db.createFunction("bye") { [witness] _ in withExtendedLifetime(witness) { 1 } }
      } _: { db in
        try db.createFunction("bye") { _ in 2 }
      },
    ]

  /// A situation whose second half begins once what the first one has made is let go.
  private static func inside(
    _ name: String,
    _ body: @escaping @Sendable (Database, Meddling, MisuseCall, String) throws -> Void,
    _ end: @escaping @Sendable (Database) throws -> Void
  ) -> MisuseSituation {
    inside(name) { db, meddling, call, folder in
      try body(db, meddling, call, folder)
      // Statements that run would keep it.
      db.closeOpenStatements()
      try end(db)
    }
  }
}

/// Runs something when it is let go.
private final class Farewell: Sendable {
  private let meddling: Meddling
  init(_ meddling: Meddling) { self.meddling = meddling }
  deinit { meddling.run() }
}

extension MisuseSituation {
  /// Inside of closures that Larder calls, and between two rows.
  static let closures = [
    inside("an iteration, between two rows") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      meddling.run()
      try clearly { while try stage.rows.next() { _ = try stage.rows[0] } }
      try clearly { while try stage.statement.step() { _ = try stage.statement[0] } }
    },
    inside("a closure of rows") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try stage.rows.forEach { row in
        meddling.run()
        _ = try row[0]
      }
    },
    inside("a batch's row") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try db.executeStatements("SELECT name FROM town; SELECT 1; SELECT id FROM town") { row in
        meddling.run()
        _ = try row[0]
        return .next
      }
    },
    inside("a look at bytes") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try stage.rows.withUnsafeBytes(at: 0) { bytes in
        meddling.run()
        // Another one than the town's name would be memory that was freed.
        try WrongAnswer.check(String(decoding: bytes, as: UTF8.self), "town 1", "the bytes")
      }
    },
    inside("a look at a statement's bytes") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try stage.statement.withUnsafeBytes(at: 0) { bytes in
        meddling.run()
        try WrongAnswer.check(String(decoding: bytes, as: UTF8.self), "town 1", "the bytes")
      }
    },
    inside("binding a value") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      MeddlingValue.current = meddling
      defer { MeddlingValue.current = nil }
      try db.executeUpdate("UPDATE town SET name = ? WHERE id = ?", MeddlingValue(), 6)
    },
    inside("reading a value") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      MeddlingValue.current = meddling
      defer { MeddlingValue.current = nil }
      _ = try stage.rows.get(at: 0, as: MeddlingValue.self)
      _ = try stage.rows.get(at: 1, as: Int.self)
    },
    inside("a backup of the database") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try db.backup(to: Database(), pagesPerStep: 1) { _, _ in meddling.run() }
    },
    inside("a restoration of the database") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      db.closeOpenStatements()
      let source = try MisuseStage.open(folder)
      let copy = try Database(path: folder + "/source.db")
      try source.backup(to: copy)
      try db.restore(from: copy, pagesPerStep: 1) { _, _ in meddling.run() }
    },
    inside("a transaction") { db, meddling, call, folder in
      try db.inTransaction { db in
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        meddling.run()
        try db.executeUpdate("DELETE FROM town WHERE id = 2")
      }
    },
    inside("a savepoint") { db, meddling, call, folder in
      try db.inSavepoint { db in
        let stage = try MisuseStage(db, folder)
        meddling.set { try call.expectAnswer(stage) }
        meddling.run()
        try db.executeUpdate("DELETE FROM town WHERE id = 2")
      }
    },
    inside("a closure of records") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      try Town.order { $0.id }.forEach(db) { _ in meddling.run() }
    },
    inside("a record's hook") { db, meddling, call, folder in
      let stage = try MisuseStage(db, folder)
      meddling.set { try call.expectAnswer(stage) }
      Town.meddling = meddling
      defer { Town.meddling = nil }
      try Town.insert(
        db,
        contentsOf: ["Oslo", "Bergen"].map { Town(id: nil, name: $0, population: 1, land: "NO") })
    },
    inside("a migration") { db, meddling, call, folder in
      try Migrator([
        Migration("docks") { db in
          let stage = try MisuseStage(db, folder)
          meddling.set { try call.expectAnswer(stage) }
          meddling.run()
          try db.executeUpdate("CREATE TABLE dock (name TEXT)")
        }
      ]).migrate(db)
    },
    MisuseSituation("inside of preparing a database") { call, folder in
      let meddling = Meddling()
      try clearly {
        let db = try MisuseStage.open(folder) { configuration in
          configuration.prepareDatabase = { db in
            let stage = try MisuseStage(db, folder)
            meddling.set { try call.expectAnswer(stage) }
            meddling.run()
          }
        }
        try MisuseStage.check(db, folder)
      }
      try meddling.check()
      try MisuseStage.check(nil, folder)
    },
  ]
}
