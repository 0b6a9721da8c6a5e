import Dispatch
import Larder
import ProofSupport

extension FaultScript {
  static let queue = FaultScript(
    name: "queue", steps: [FaultStep("open") { try $0.openQueue() }] + access)

  static let pool = FaultScript(
    name: "pool", needsLog: true, steps: [FaultStep("open") { try $0.openPool() }] + access)

  /// The same where those who commit together share a sync.
  static let durableQueue = FaultScript(
    name: "durable queue", needsLog: true, synchronous: .full,
    steps: [FaultStep("open") { try $0.openQueue() }] + access)

  static let durablePool = FaultScript(
    name: "durable pool", needsLog: true, synchronous: .full,
    steps: [FaultStep("open") { try $0.openPool() }] + access)

  /// What is undone while statements, those that undo too, have to be compiled anew.
  static let undoing = FaultScript(
    name: "undoing", safeSteps: 1, isAlwaysWhole: true,
    steps: [
      FaultStep("open") { try $0.openQueue() },
      FaultStep("savepoint that fails") { bench in
        // Whether the savepoint fails or not, the transaction goes on, if it can.
        var cause: (any Error)?
        do {
          try bench.access().inTransaction { db in
            do {
              try db.inSavepoint { db in
                try db.executeUpdate("INSERT INTO receipt VALUES (1, 'half')")
                try expireStatements(db)
                try db.executeUpdate("INSERT INTO payment VALUES (1, 7)")
              }
            } catch {
              cause = error
            }
          }
        } catch let error as DatabaseError where error.code == .abort {
          throw cause ?? error
        }
      },
      FaultStep("transaction") { bench in
        try bench.access().inDatabase { db in
          try expireStatements(db)
          try db.inTransaction { db in
            try db.executeUpdate("INSERT INTO receipt VALUES (2, 'whole')")
            try expireStatements(db)
            try db.executeUpdate("INSERT INTO payment VALUES (2, 14)")
          }
        }
      },
    ])

  /// Replacing a function makes SQLite compile all statements anew.
  static func expireStatements(_ db: Database) throws {
    for _ in 0..<2 { try db.createFunction("nothing", argumentCount: 0) { _ in nil } }
  }

  /// What queues and pools have in common.
  private static let access = [
    FaultStep("transaction") { bench in
      try bench.access().inTransaction { db in
        try db.executeUpdate("UPDATE account SET balance = balance - 10 WHERE id = 1")
        try db.executeUpdate("UPDATE account SET balance = balance + 10 WHERE id = 2")
      }
    },
    FaultStep("read") { bench in
      let sum = try bench.access().read { db in
        try db.value("SELECT sum(balance) FROM account", as: Int.self)
      }
      try WrongAnswer.check(sum, 1000, "the sum of balances")
    },
    FaultStep("database") { bench in
      try bench.access().inDatabase { db in
        _ = try db.executeUpdate("INSERT INTO document VALUES (1, zeroblob(3000))")
      }
    },
    FaultStep("savepoint") { bench in
      try bench.access().inSavepoint { db in
        _ = try db.executeUpdate("INSERT INTO document VALUES (2, zeroblob(3000))")
      }
    },
    FaultStep("transaction that throws") { bench in
      struct Regret: Error {}
      do {
        try bench.access().inTransaction { db in
          try db.executeUpdate("DELETE FROM place")
          throw Regret()
        }
      } catch is Regret {}
    },
    FaultStep("group") { bench in
      try bench.acknowledged += payTogether(bench.access(), first: 1)
    },
    FaultStep("tasks") { bench in
      try bench.acknowledged += payInTasks(bench.access(), first: 100)
    },
    FaultStep("reads") { bench in try readTogether(bench.access()) },
    FaultStep("checkpoint") { try $0.access().checkpoint(.passive) },
    FaultStep("close") { try $0.close() },
  ]

  /// Pays from several threads, so that commits are shared. Returns what was acknowledged.
  private static func payTogether(_ access: any DatabaseAccess, first: Int) throws -> [Int] {
    try gather(8) { index in
      let id = first + index
      try access.inTransaction { try pay($0, id) }
      return id
    }
  }

  /// Pays from several tasks.
  private static func payInTasks(_ access: any DatabaseAccess, first: Int) throws -> [Int] {
    let outcomes = Lock<[Result<Int, any Error>]>([])
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await withTaskGroup(of: Result<Int, any Error>.self) { group in
        for id in first..<first + 6 {
          group.addTask {
            do {
              try await access.inTransaction { try pay($0, id) }
              return .success(id)
            } catch {
              return .failure(error)
            }
          }
        }
        for await outcome in group { outcomes.withLock { $0.append(outcome) } }
      }
      done.signal()
    }
    done.wait()
    return try finish(outcomes.withLock { $0 })
  }

  private static func readTogether(_ access: any DatabaseAccess) throws {
    try ignoringWhatIsDone {
      _ = try gather(6) { _ in
        let (payments, receipts) = try access.read { db in
          try (
            db.value("SELECT count(*) FROM payment", as: Int.self),
            db.value("SELECT count(*) FROM receipt", as: Int.self)
          )
        }
        try WrongAnswer.check(payments, receipts, "the number of payments and that of receipts")
        return 0
      }
    }
  }

  private static func ignoringWhatIsDone(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let partly as PartlyDone {
      throw partly.error
    }
  }

  private static func pay(_ db: Database, _ id: Int) throws {
    try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
    try db.executeUpdate("INSERT INTO payment VALUES (?, ?)", id, id * 7)
  }

  /// What several threads return; throws ``PartlyDone`` if one throws.
  private static func gather(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Int
  ) throws -> [Int] {
    let outcomes = Lock<[Result<Int, any Error>]>([])
    DispatchQueue.concurrentPerform(iterations: count) { index in
      let outcome = Result { try body(index) }
      outcomes.withLock { $0.append(outcome) }
    }
    return try finish(outcomes.withLock { $0 })
  }

  private static func finish(_ outcomes: [Result<Int, any Error>]) throws -> [Int] {
    let done = outcomes.compactMap { try? $0.get() }
    let errors = outcomes.compactMap { outcome in
      if case .failure(let error) = outcome { error } else { nil }
    }
    // A wrong answer is worse than any error.
    guard let error = errors.first(where: { $0 is WrongAnswer }) ?? errors.first else {
      return done
    }
    throw PartlyDone(done: done, error: error)
  }
}

/// Some of what was begun together was acknowledged, and some failed.
struct PartlyDone: Error {
  let done: [Int]
  let error: any Error
}
