import Foundation
import Larder

/// The calls on queues and pools where they can't do their work.
enum AccessMisuse {
  struct Call: Sendable {
    let symbols: [String]
    let outcome: MisuseCall.Outcome
    let run: @Sendable (any DatabaseAccess, _ folder: String) throws -> Void

    init(
      _ symbols: String..., outcome: MisuseCall.Outcome = .error,
      _ run: @escaping @Sendable (any DatabaseAccess, String) throws -> Void
    ) {
      self.symbols = symbols
      self.outcome = outcome
      self.run = run
    }
  }

  static let calls = [
    Call("DatabaseAccess.inDatabase(_:)") { access, _ in try access.inDatabase { _ in } },
    Call("DatabaseAccess.inTransaction(_:_:)") { access, _ in
      try access.inTransaction(.deferred) { _ in }
    },
    Call("DatabaseAccess.inSavepoint(_:)") { access, _ in try access.inSavepoint { _ in } },
    Call("DatabaseAccess.read(_:)") { access, _ in try access.read { _ in } },
    // A task may be one that the scope doesn't wait for.
    Call("DatabaseAccess.inDatabase(_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.inDatabase { _ in } }
    },
    Call("DatabaseAccess.inTransaction(_:_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.inTransaction { _ in } }
    },
    Call("DatabaseAccess.inSavepoint(_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.inSavepoint { _ in } }
    },
    Call("DatabaseAccess.read(_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.read { _ in } }
    },
    Call("DatabaseAccess.checkpoint(_:)") { access, _ in try access.checkpoint(.truncate) },
    Call("DatabaseAccess.close()", outcome: .either) { access, _ in try access.close() },
    Call("DatabaseAccess.interrupt()", outcome: .neutral) { access, _ in access.interrupt() },
    Call(
      "DatabaseAccess.connections", "DatabaseQueue.connections", "DatabasePool.connections",
      "DatabaseQueue.path", "DatabasePool.path", "DatabasePool.readerCounts", outcome: .neutral
    ) { access, _ in
      _ = access.connections
      _ = (access as? DatabaseQueue)?.path
      if let pool = access as? DatabasePool { _ = (pool.path, pool.readerCounts) }
    },
    Call("DatabasePool.releaseIdleConnections()", outcome: .neutral) { access, _ in
      (access as? DatabasePool)?.releaseIdleConnections()
    },
    Call(
      "DatabaseQueue.init(path:configuration:)", "DatabaseQueue.init(url:configuration:)",
      outcome: .either
    ) { _, folder in
      let path = MisuseStage.path(folder)
      _ = try DatabaseQueue(path: path, configuration: MisuseStage.configuration)
      _ = try DatabaseQueue(
        url: URL(fileURLWithPath: path), configuration: MisuseStage.configuration)
    },
    Call(
      "DatabasePool.init(path:configuration:)", "DatabasePool.init(url:configuration:)",
      outcome: .either
    ) { _, folder in
      let path = MisuseStage.path(folder)
      _ = try DatabasePool(path: path, configuration: MisuseStage.configuration)
      _ = try DatabasePool(
        url: URL(fileURLWithPath: path), configuration: MisuseStage.configuration)
    },
    Call("Migrator.migrate(_:progress:)") { access, _ in try migrator.migrate(access) },
    Call("Migrator.migrateDown(_:to:)") { access, _ in
      try migrator.migrateDown(access, to: "harbours")
    },
    Call("Migrator.dryRun(_:)") { access, _ in _ = try migrator.dryRun(access) },
  ]

  private static let migrator = Migrator([
    Migration("harbours", sql: "CREATE TABLE harbour (name TEXT)")
  ])

  /// Where they are made from; each is given a closure that makes the call.
  private static let situations:
    [(
      name: String, isRefused: Bool,
      make: @Sendable (any DatabaseAccess, @escaping () throws -> Void) throws -> Void
    )] = [
      (
        "after closing", true,
        { access, call in
          try access.close()
          try call()
        }
      ),
      ("inside of inDatabase", true, { access, call in try access.inDatabase { _ in try call() } }),
      (
        "inside of inTransaction", true,
        { access, call in try access.inTransaction { _ in try call() } }
      ),
      (
        "inside of inSavepoint", true,
        { access, call in try access.inSavepoint { _ in try call() } }
      ),
      ("inside of read", true, { access, call in try access.read { _ in try call() } }),
      (
        "inside of a function in a scope", true,
        { access, call in
          let meddling = Meddling()
          meddling.set(call)
          try access.inTransaction { db in
            try db.createFunction("meddle", argumentCount: 0) { _ in
              meddling.run()
              return 1
            }
            _ = try db.value("SELECT meddle()", as: Int.self)
          }
          try meddling.check()
        }
      ),
      (
        "while rows are read in a scope", true,
        { access, call in
          try access.read { db in
            let rows = try db.executeQuery("SELECT name FROM town")
            _ = try rows.next()
            try call()
            while try rows.next() {}
          }
        }
      ),
      (
        "on another thread for which a scope waits", false,
        { access, call in
          try access.inTransaction { _ in try Elsewhere.onThread(call) }
        }
      ),
      (
        "on another thread for which a reading scope waits", false,
        { access, call in try access.read { _ in try Elsewhere.onThread(call) } }
      ),
      (
        "inside of a scope of another queue", false,
        { access, call in try DatabaseQueue().inTransaction { _ in try call() } }
      ),
    ]

  static let cells: [MisuseMatrix.Cell] = situations.flatMap { situation in
    calls.flatMap { call in
      [false, true].map { isPool in
        let kind = isPool ? "a pool" : "a queue"
        return MisuseMatrix.Cell(name: "\(call.symbols[0]) of \(kind) \(situation.name)") {
          folder in
          let scope = MisuseScope(name: "", isPool: isPool) { _, _ in }
          let access = try scope.open(folder)
          let asMisuse = MisuseCall("", outcome: call.outcome) { try call.run(access, $0.folder) }
          let stage = try MisuseStage(
            MisuseStage.open(folder) { $0.journalMode = nil }, folder)
          // What is interrupted may be the scope itself.
          try MisuseSituation.clearly {
            try situation.make(access) {
              try situation.isRefused ? asMisuse.expectRefusal(stage) : asMisuse.expectAnswer(stage)
            }
          }
          try stage.db.close()
          try access.close()
          try MisuseStage.check(nil, folder)
        }
      }
    }
  }
}
