import Foundation
import Larder
import LarderBackup
import LarderFleet
import LarderJobs
import LarderReplication
import ProofSupport

/// The calls on queues and pools where they can't do their work.
enum AccessMisuse {
  struct Call: Sendable {
    let symbols: [String]
    let outcome: MisuseCall.Outcome
    /// Whether a pool's reader is all that it takes.
    let onlyReads: Bool
    let run: @Sendable (any DatabaseAccess, _ folder: String) throws -> Void

    init(
      _ symbols: String..., outcome: MisuseCall.Outcome = .error, onlyReads: Bool = false,
      _ run: @escaping @Sendable (any DatabaseAccess, String) throws -> Void
    ) {
      self.symbols = symbols
      self.outcome = outcome
      self.onlyReads = onlyReads
      self.run = run
    }
  }

  static let calls = [
    Call("DatabaseAccess.inDatabase(label:line:_:)") { access, _ in try access.inDatabase { _ in }
    },
    Call("DatabaseAccess.inTransaction(_:label:line:_:)") { access, _ in
      try access.inTransaction(.deferred) { _ in }
    },
    Call("DatabaseAccess.inTransaction(label:line:_:)") { access, _ in
      try access.inTransaction { _ in }
    },
    Call("DatabaseAccess.inSavepoint(label:line:_:)") { access, _ in try access.inSavepoint { _ in }
    },
    Call("DatabaseAccess.read(label:line:_:)", onlyReads: true) { access, _ in
      try access.read { _ in }
    },
    // A task may be one that the scope doesn't wait for.
    Call("DatabaseAccess.inDatabase(label:line:_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.inDatabase { _ in } }
    },
    Call(
      "DatabaseAccess.inTransaction(_:label:line:_:)",
      "DatabaseAccess.inTransaction(label:line:_:)", outcome: .either
    ) { access, _ in
      try Elsewhere.inTask {
        try await access.inTransaction { _ in }
        try await access.inTransaction(.deferred) { _ in }
      }
    },
    Call("DatabaseAccess.backup(every:to:keeping:check:onFailure:)", outcome: .either) {
      access, folder in
      try access.backup(every: .seconds(60), to: folder + "/copies").cancel()
    },
    Call(
      "DatabaseAccess.replicate(to:as:every:keeping:onFailure:)",
      "ReplicatedDatabase.inTransaction(within:label:line:_:)",
      "DatabaseFollower.read(notBefore:within:label:line:_:)", outcome: .either
    ) { access, folder in
      let log = try access.replicate(to: .folder(folder + "/log"))
      defer { log.cancel() }
      try log.inTransaction(within: .seconds(1)) { _ in }
      let copy = try DatabaseFollower(of: .folder(folder + "/log"), to: folder + "/copy.db")
      try copy.read(notBefore: copy.position, within: .seconds(1)) { _ in }
      try copy.close()
    },
    Call(
      "DatabaseFleet.inDatabase(_:label:line:_:)", "DatabaseFleet.inTransaction(_:_:label:line:_:)",
      "DatabaseFleet.read(_:label:line:_:)", "DatabaseFleet.withDatabase(_:_:)", outcome: .either
    ) { _, folder in
      let fleet = try DatabaseFleet(in: folder + "/fleet")
      try fleet.inDatabase("a") { _ in }
      try fleet.inTransaction("a") { _ in }
      try fleet.read("a") { _ in }
      try fleet.withDatabase("a") { try $0.read { _ in } }
      try fleet.close()
    },
    Call(
      "JobQueue.init(_:_:schedules:)", "JobContext.store", "JobContext.complete(_:)",
      outcome: .either
    ) { access, _ in
      try Migrator(JobQueue.migrations).migrate(access)
      try access.inTransaction { try MisusedJob().enqueue($0) }
      let jobs = JobQueue(access, [MisusedJob.self])
      try Elsewhere.inTask {
        let worker = Task { try await jobs.work() }
        worker.cancel()
        try await worker.value
      }
    },
    Call(
      "Outbox.addConsumer(_:_:from:)", "Outbox.follow(_:as:from:options:_:)",
      "Outbox.deliver(_:as:from:options:_:)", "Outbox.clean(_:olderThan:)", outcome: .either
    ) { access, _ in try MisusedOutbox.follow(access) },
    Call("DatabaseAccess.inSavepoint(label:line:_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.inSavepoint { _ in } }
    },
    Call("DatabaseAccess.read(label:line:_:)", outcome: .either) { access, _ in
      try Elsewhere.inTask { try await access.read { _ in } }
    },
    Call("DatabaseAccess.values(of:label:line:)", outcome: .either) { access, _ in
      try Elsewhere.inTask {
        var values = access.values { try $0.value("SELECT count(*) FROM town", as: Int.self) }
          .makeAsyncIterator()
        _ = try await values.next()
      }
    },
    Call("DatabaseAccess.values(of:label:line:onError:onValue:)", outcome: .neutral) { access, _ in
      access.values {
        try $0.value("SELECT count(*) FROM town", as: Int.self)
      } onError: { _ in
      } onValue: { _ in
      }.cancel()
    },
    Call(
      "DatabaseAccess.changes(of:limit:byteLimit:beginning:)", outcome: .either
    ) { access, _ in
      try Elsewhere.inTask {
        let feed = Task { for try await _ in access.changes(of: ["town"]) { break } }
        feed.cancel()
        try await feed.value
        let records = Task { for try await _ in access.changes(of: Town.self) { break } }
        records.cancel()
        try await records.value
      }
    },
    Call("DatabaseAccess.checkpoint(_:)") { access, _ in try access.checkpoint(.truncate) },
    Call("DatabaseAccess.close()", outcome: .either) { access, _ in try access.close() },
    Call("DatabaseAccess.interrupt()", outcome: .neutral) { access, _ in access.interrupt() },
    Call(
      "DatabaseAccess.isReady(within:)", "DatabaseAccess.isWritable(within:)", outcome: .neutral
    ) { access, _ in
      _ = access.isReady(within: .milliseconds(1))
      _ = access.isWritable(within: .milliseconds(1))
    },
    Call(
      "DatabaseAccess.statistics", "DatabaseQueue.path", "DatabasePool.path", outcome: .neutral
    ) { access, _ in
      _ = access.statistics
      _ = (access as? DatabaseQueue)?.path
      _ = (access as? DatabasePool)?.path
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
    Call("Migrator.migrate(_:adopting:schemas:accepting:progress:)") { access, _ in
      try migrator.migrate(access, adopting: "harbours") { _ in true }
    },
    Call("Migrator.migrate(_:downTo:)") { access, _ in
      try migrator.migrate(access, downTo: "harbours")
    },
    Call("Migrator.dryRun(_:)", onlyReads: true) { access, _ in _ = try migrator.dryRun(access) },
  ]

  /// What a call finds taken, and would wait for in vain.
  private enum Taken {
    case nothing, reader, writer, everything

    /// Whether a call has to be refused, rather than answered or refused.
    func refuses(_ call: Call, isPool: Bool) -> Bool {
      switch self {
      case .nothing: false
      // A pool has further readers, and its writer is free.
      case .reader: !isPool
      case .writer: !isPool || !call.onlyReads
      case .everything: true
      }
    }
  }

  private static let migrator = Migrator([
    Migration("harbours", sql: "CREATE TABLE harbour (name TEXT)")
  ])

  /// Where they are made from; each is given a closure that makes the call. In company, other callers
  /// commit durably at the same time.
  private static let situations:
    [(
      name: String, taken: Taken, inCompany: Bool,
      make: @Sendable (any DatabaseAccess, @escaping () throws -> Void) throws -> Void
    )] =
      alone.map { ($0.name, $0.taken, false, $0.make) }
      + alone.filter { companies.contains($0.name) }.map {
        ("\($0.name), in company", $0.taken, true, $0.make)
      }

  private static let companies: Set = [
    "inside of inTransaction", "inside of read", "on another thread for which a scope waits",
  ]

  private static let alone:
    [(
      name: String, taken: Taken,
      make: @Sendable (any DatabaseAccess, @escaping () throws -> Void) throws -> Void
    )] = [
      (
        "after closing", .everything,
        { access, call in
          try access.close()
          try call()
        }
      ),
      (
        "inside of inDatabase", .writer,
        { access, call in try access.inDatabase { _ in try call() } }
      ),
      (
        "inside of inTransaction", .writer,
        { access, call in try access.inTransaction { _ in try call() } }
      ),
      (
        "inside of inSavepoint", .writer,
        { access, call in try access.inSavepoint { _ in try call() } }
      ),
      ("inside of read", .reader, { access, call in try access.read { _ in try call() } }),
      (
        "inside of a function in a scope", .writer,
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
        "while rows are read in a scope", .reader,
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
        "on another thread for which a scope waits", .nothing,
        { access, call in
          try access.inTransaction { _ in try Elsewhere.onThread(call) }
        }
      ),
      (
        "on another thread for which a reading scope waits", .nothing,
        { access, call in try access.read { _ in try Elsewhere.onThread(call) } }
      ),
      (
        "inside of a scope of another queue", .nothing,
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
          let access = try scope.open(folder, isDurable: situation.inCompany)
          let company = situation.inCompany ? MisuseCompany(access) : nil
          defer { try? company?.leave() }
          let isRefused = situation.taken.refuses(call, isPool: isPool)
          let asMisuse = MisuseCall("", outcome: call.outcome) { try call.run(access, $0.folder) }
          let stage = try MisuseStage(
            MisuseStage.open(folder) { $0.journalMode = nil }, folder)
          // What is interrupted may be the scope itself.
          try MisuseSituation.clearly {
            try situation.make(access) {
              try isRefused ? asMisuse.expectRefusal(stage) : asMisuse.expectAnswer(stage)
            }
          }
          try stage.db.close()
          try company?.leave()
          try access.close()
          try MisuseStage.check(nil, folder)
        }
      }
    }
  }
}
