import Foundation
import Larder
import LarderOutbox
import LarderPostgres
import PostgresSupport
import ProofSupport
import TestSupport

/// Eight processes change rows in transactions of random length, and append each change to an outbox; three
/// consumers copy it, in two processes. All are killed, again and again, and what all have handled is removed
/// meanwhile. Each committed change is in each copy exactly once, in an order that agrees with the commits.
///
/// Behind `--` stands `file` or `server` for one of the two engines.
enum FollowProof: ProofRow {
  static let name = "follow"
  static let number = 29
  static let unit = "messages"

  static let consumers = ["one", "two", "delivered"]
  private static let writers = 8
  private static let followers = 2

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 3, let number = UInt64(options.rest[2]) {
      switch options.rest[0] {
      case "write": try write(options.rest[1], seed: number)
      default: try follow(options.rest[1])
      }
      exit(0)
    }
    var result = ProofResult()
    if options.rest.first != "server" {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      try prove("file", scratch.path + "/events.db", options, &result)
    }
    if options.rest.first != "file" {
      guard PostgresServer.isInstalled else {
        result.skipped = PostgresServer.whySkipped
        return result
      }
      // A server that syncs, and knows when transactions were committed.
      let server = try PostgresServer(["--durable", "-c", "track_commit_timestamp=on"])
      try prove("server", server.database(), options, &result)
    }
    return result
  }

  static func open(
    _ address: String, _ isolation: PostgresConfiguration.Isolation = .serializable
  ) throws -> any DatabaseAccess {
    if PostgresPool.isAddress(address) {
      var configuration = PostgresConfiguration()
      configuration.connections = 6
      configuration.isolation = isolation
      return try PostgresPool(address, configuration: configuration)
    }
    var configuration = Configuration(profile: .durable)
    configuration.busyTimeout = .seconds(60)
    configuration.scopeTimeout = .seconds(60)
    return try DatabasePool(path: address, configuration: configuration)
  }

  private static func prove(
    _ engine: String, _ address: String, _ options: ProofOptions, _ result: inout ProofResult
  ) throws {
    let store = try open(address)
    try Migrator(OutboxTables.migrations + [Migration("follow", FollowedItem.create)])
      .migrate(store)
    try Elsewhere.inTask {
      for consumer in consumers {
        try await FollowEvent.outbox.addConsumer(store, consumer, from: .beginning)
      }
    }
    let (kills, removed) = try killing(address, store, options)
    var verdict = FollowVerdict(isServer: engine == "server")
    try verdict.check(store)
    result.failures += verdict.failures.map { "\(engine), seed \(options.seed): \($0)" }
    result.tried += verdict.changes * consumers.count
    result.details.append(
      "\(engine): \(verdict.changes) changes in \(verdict.transactions) transactions, \(kills) kills, "
        + "\(removed) messages removed meanwhile")
    if engine == "server" {
      result.details.append(
        "\(engine): \(verdict.lateCommits) changes committed after later ones")
    }
    result.details.append("\(engine): \(try rate(store)) messages a second, in batches of 100")
    try store.close()
  }

  /// Has processes write and follow, and kills one after the other, until there are enough changes and all
  /// consumers have handled them: how many kills that were, and how many messages were removed.
  private static func killing(
    _ address: String, _ store: any DatabaseAccess, _ options: ProofOptions
  ) throws -> (kills: Int, removed: Int) {
    var random = SeededGenerator(seed: options.seed)
    let count = options.count ?? 2_000
    func start(_ role: String) throws -> ChildProcess {
      try ChildProcess.again(
        name, "--", role, address, String(UInt64.random(in: 0...999_999_999, using: &random)))
    }
    var roles =
      Array(repeating: "write", count: writers) + Array(repeating: "follow", count: followers)
    var children = try roles.map(start)
    var (kills, removed) = (0, 0)
    let end = ContinuousClock.now + .seconds(3_600)
    while !children.isEmpty {
      usleep(UInt32.random(in: 50_000...500_000, using: &random))
      guard ContinuousClock.now < end else {
        throw WrongAnswer(description: "the consumers haven't handled all messages after an hour")
      }
      if roles.count > followers {
        let changes = try store.read { db in try FollowedChange.all.fetchCount(db) }
        if changes >= count {
          for child in children.prefix(writers) { child.kill() }
          children.removeFirst(writers)
          roles.removeFirst(writers)
        }
      } else {
        let waiting = try store.read { db in
          try FollowEvent.outbox.consumers(db).map(\.waiting).max() ?? 0
        }
        if waiting == 0 { break }
      }
      let index = Int.random(in: children.indices, using: &random)
      children[index].kill()
      kills += 1
      children[index] = try start(roles[index])
      if kills % 4 == 0 {
        removed += try Elsewhere.inTask { try await FollowEvent.outbox.clean(store) }
      }
    }
    for child in children { child.kill() }
    return (kills, removed)
  }

  // MARK: Processes

  /// A process that changes rows until it is killed. On a server every other one has read committed
  /// transactions.
  private static func write(_ address: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let isServer = PostgresPool.isAddress(address)
    let store = try open(address, seed % 2 == 0 ? .readCommitted : .serializable)
    var number = 0
    while true {
      number += 1
      let keys = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int64.random(in: 1...FollowedItem.count, using: &random)
      }
      // Some are much longer than others.
      let longest: UInt32 = isServer ? number % 20 == 0 ? 60_000 : 4_000 : 300
      let pauses = keys.map { _ in UInt32.random(in: 0...longest, using: &random) }
      let isRolledBack = Int.random(in: 0..<10, using: &random) == 0
      do {
        try store.inTransaction { db in
          if isRolledBack { db.setRollbackOnly() }
          if isServer, number % 3 == 0 {
            // Has its id for long before it changes anything.
            _ = try db.value("SELECT CAST(pg_current_xact_id() AS TEXT)", as: String.self)
            usleep(pauses[0])
          }
          for (key, pause) in zip(keys, pauses) {
            try FollowedItem.change(key, by: Int64(seed), number, db)
            usleep(pause)
          }
        }
      } catch {
        // A conflict for too long: others go on meanwhile.
      }
    }
  }

  /// A process that follows as all consumers until it is killed.
  private static func follow(_ address: String) throws {
    let store = try open(address)
    var options = OutboxOptions()
    options.lease = .seconds(2)
    options.poll = .milliseconds(50)
    options.batch = 20
    for consumer in consumers {
      Task.detached { [options] in
        do {
          if consumer == "delivered" {
            try await FollowEvent.outbox.deliver(store, as: consumer, options: options) {
              messages in
              try await store.inTransaction { db in
                try ConsumerCopy.add(messages, consumer, isIdempotent: true, db)
              }
            }
          } else {
            try await FollowEvent.outbox.follow(store, as: consumer, options: options) {
              db, messages in
              try ConsumerCopy.add(messages, consumer, isIdempotent: false, db)
            }
          }
        } catch {
          complain("follow: \(consumer): \(error)")
        }
      }
    }
    while true { pause() }
  }

  // MARK: Figures

  /// How many messages one consumer handles in a second, in transactions that each write as many rows.
  private static func rate(_ store: any DatabaseAccess) throws -> Int {
    let count = 20_000
    let outbox = Outbox<FollowEvent>("rate")
    for start in stride(from: 0, to: count, by: 1_000) {
      try store.inTransaction { db in
        try outbox.append(
          db,
          contentsOf: (start..<start + 1_000).map {
            FollowEvent(writer: 0, transaction: $0, key: 0, version: $0)
          })
      }
    }
    let start = ContinuousClock.now
    try Elsewhere.inTask {
      let worker = Task {
        try await outbox.follow(store, as: "rate") { db, messages in
          try ConsumerCopy.add(messages, "rate", isIdempotent: false, db)
        }
      }
      while try await store.read({ db in
        try outbox.consumers(db).map(\.waiting).max() != 0
      }) { try await Task.sleep(for: .milliseconds(20)) }
      worker.cancel()
      try await worker.value
    }
    return Int(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
  }
}
