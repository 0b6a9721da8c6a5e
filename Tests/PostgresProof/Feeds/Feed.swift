import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport

/// Feeds of a server's changes, whose connections are cut, and whose server is restarted.
enum Feed: Verb {
  static let help = """
    feed [--commits 20000] [--processes 4] [--restarts 4] [--failovers 0] [--seed 1]
         [--json]
      Processes write through pools of their own, until there are so many commits, a tenth of them rolled back.
      Three consumers keep copies by feeds: one by a feed that doesn't last and begins anew when changes are unknown;
      one by a feed that lasts; and one that lasts and is left and begun again all the time. Their connections are
      cut again and again, and the server is shut down or killed, so many times; or its synchronous standby takes
      the place of a killed primary, after which changes are unknown, and feeds that last begin anew. In the end each
      copy has to equal the tables; nothing may have been passed over, nothing come out of order, or be unknown to one
      that lasts for another reason than a failover.
    """
  static let options: [String: String?] = [
    "commits": "20000", "processes": "4", "restarts": "4", "failovers": "0", "seed": "1",
    "json": nil,
  ]
  static let child = "feed-child"

  private static func pool(_ address: String) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 4
    configuration.isolation = .readCommitted
    configuration.retryLimit = .seconds(300)
    return try PostgresPool(address, configuration: configuration)
  }

  // MARK: Writers

  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 5, let writer = Int(arguments[2]), let count = Int(arguments[3]),
      let seed = UInt64(arguments[4])
    else { throw Wrong("no child") }
    let pool = try pool(arguments[1])
    var random = SeededGenerator(seed: seed)
    struct Rollback: Error {}
    for _ in 0..<count {
      let ids = Set(
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
          Int.random(in: 0..<500, using: &random)
        }
      ).sorted()
      let kinds = ids.map { _ in Int.random(in: 0..<4, using: &random) }
      let text = String(repeating: "x", count: Int.random(in: 0...40, using: &random))
      let rollsBack = Int.random(in: 0..<10, using: &random) == 0
      do {
        try pool.inTransaction { db in
          for (id, kind) in zip(ids, kinds) {
            if kind == 0 {
              try db.executeUpdate("DELETE FROM item WHERE id = ?", id)
            } else {
              try db.executeUpdate(
                """
                INSERT INTO item VALUES (\(id), \(writer), \(text)) ON CONFLICT (id) DO UPDATE
                SET writer = excluded.writer, name = excluded.name || item.writer
                """)
            }
          }
          try db.executeUpdate(
            """
            UPDATE tally SET n = n + 1, moment = extract(epoch FROM clock_timestamp())
            WHERE writer = \(writer)
            """)
          if rollsBack { throw Rollback() }
        }
      } catch is Rollback {
      } catch let error as DatabaseError where error.sqlState == "08007" {
        // Nobody knows whether it was committed: the tally does.
      }
    }
  }

  // MARK: Consumers

  /// Follows until the task is cancelled; begins anew where changes are unknown.
  private static func followAnew(_ pool: PostgresPool, _ copy: FollowedCopy) async throws {
    while !Task.isCancelled {
      let feed = pool.changes(of: FollowedCopy.tables, limit: 1_000_000) { try copy.read($0) }
      for try await transaction in feed {
        if transaction.isFromElsewhere {
          copy.state.withLock { $0.unknowns += 1 }
          break
        }
        copy.apply(transaction, at: Date().timeIntervalSince1970)
      }
    }
  }

  /// Follows a feed that lasts until the task is cancelled. Begins it again after so many transactions at most, and
  /// anew where changes are unknown.
  private static func followLasting(
    _ name: String, _ pool: PostgresPool, _ copy: FollowedCopy, patience: Int
  ) async throws {
    while !Task.isCancelled {
      var left = Int.random(in: 1...patience)
      var isUnknown = false
      let feed = pool.changes(of: FollowedCopy.tables) { try copy.read($0) }.lasting(as: name)
      for try await transaction in feed {
        if transaction.isFromElsewhere {
          copy.state.withLock { $0.unknowns += 1 }
          isUnknown = true
          break
        }
        copy.apply(transaction, at: Date().timeIntervalSince1970)
        left -= 1
        if left == 0 { break }
      }
      while isUnknown, !Task.isCancelled {
        do {
          try await pool.inDatabase { _ = try LastingFeed.remove($0, name) }
          isUnknown = false
        } catch let error as DatabaseError where error.sqlState == "55006" {
          // The feed that was left has its slot for another moment.
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
  }

  // MARK: The trial

  static func run(_ options: Options) throws {
    let (commits, processes) = (try options.number("commits"), try options.number("processes"))
    let restarts = Int(options.text("restarts")) ?? 0
    let failovers = Int(options.text("failovers")) ?? 0
    let seed = UInt64(try options.number("seed"))
    var figures = Figures("feed", unit: "commits", options)
    let cluster = try PostgresCluster(
      standbys: failovers > 0 ? 1 : 0,
      ["-c", "wal_level=logical", "-c", "max_replication_slots=20", "-c", "max_wal_senders=20"])
    let setup = try pool(cluster.address)
    try setup.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE item (id BIGINT PRIMARY KEY, writer BIGINT NOT NULL, name TEXT NOT NULL);
        CREATE TABLE tally (writer BIGINT PRIMARY KEY, n BIGINT NOT NULL, moment DOUBLE PRECISION);
        ALTER TABLE item REPLICA IDENTITY FULL; ALTER TABLE tally REPLICA IDENTITY FULL
        """)
      for writer in 0..<processes {
        try db.executeUpdate("INSERT INTO tally VALUES (?, 0, NULL)", writer)
      }
    }
    if failovers > 0 { try cluster.makeSynchronous(0) }
    let copies = ["anew", "lasting", "left"].map { (name: $0, copy: FollowedCopy()) }
    let failure = Lock<(any Error)?>(nil)
    let tasks = copies.map { name, copy in
      let own = Result { try pool(cluster.address) }
      return Task.detached {
        do {
          switch name {
          case "anew": try await followAnew(own.get(), copy)
          case "lasting": try await followLasting(name, own.get(), copy, patience: .max)
          default: try await followLasting(name, own.get(), copy, patience: 400)
          }
        } catch { failure.withLock { $0 = $0 ?? error } }
      }
    }
    defer { for task in tasks { task.cancel() } }
    // A tenth is rolled back.
    let share = commits * 23 / 20 / processes + 10
    let children = try (0..<processes).map { writer in
      try ChildProcess.again(
        child, cluster.address, "\(writer)", "\(share)", "\(seed * 100 + UInt64(writer))")
    }
    var cuts = 0
    var (done, primary) = (0, 0)
    func total() throws -> Int {
      try setup.read { try $0.value("SELECT sum(n)::bigint FROM tally", as: Int.self) } ?? 0
    }
    while children.contains(where: { !$0.hasEnded }) {
      Thread.sleep(forTimeInterval: 0.5)
      cuts +=
        try setup.inDatabase { db in
          try db.value(
            "SELECT count(pg_terminate_backend(active_pid)) FROM pg_replication_slots", as: Int.self
          )
        } ?? 0
      if done < restarts + failovers,
        try total() > commits * (done + 1) / (restarts + failovers + 1)
      {
        // Failovers come last, by which restarts are as without any.
        if done >= restarts {
          try cluster.failOver(from: primary)
          primary = 1 - primary
        } else {
          try done.isMultiple(of: 2) ? cluster.kill(0) : cluster.shutDown(0)
          try cluster.start(0)
        }
        done += 1
      }
      if let error = failure.withLock({ $0 }) { throw error }
    }
    guard children.allSatisfy({ $0.end() == 0 }) else { throw Wrong("a writer has failed") }
    let (items, tally) = try setup.read { db in
      (try FollowedCopy.items(db), try FollowedCopy.tally(db))
    }
    let count = Int(tally.values.reduce(0, +))
    figures.tried = count
    let deadline = ContinuousClock.now + .seconds(120)
    for (name, copy) in copies {
      while copy.state.withLock({ $0.tally != tally }), ContinuousClock.now < deadline {
        if let error = failure.withLock({ $0 }) { throw error }
        usleep(1_000)
      }
      let state = copy.state.withLock { $0 }
      let isSame = state.items == items && state.tally == tally
      // Only a feed that is left and begun again gets a transaction twice; only one that doesn't last has
      // unknown ones.
      let isRight =
        (name == "left" || state.repeats == 0) && (name == "anew" || state.unknowns <= failovers)
      figures.failed += state.missed + state.misplaced + (isSame ? 0 : 1) + (isRight ? 0 : 1)
      for note in state.notes { complain("\(name): \(note)") }
      figures.details.append(
        "\(name): \(isSame ? "equal" : "NOT EQUAL"), \(state.transactions) transactions, "
          + "\(state.missed) missed, \(state.misplaced) out of order, \(state.repeats) repeated, "
          + "\(state.unknowns) unknown, median latency \(state.latencies.median)")
    }
    figures.details.append(
      "\(processes) processes, \(cuts) connections cut, \(restarts) restarts, \(failovers) failovers"
    )
    guard count >= commits else { throw Wrong("only \(count) commits") }
    try figures.end()
  }
}
