import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Synchronization
import TestSupport

/// Threads and tasks that write payments through a pool until they are stopped, each a row of two tables, and what
/// they were told.
final class Writers: Sendable {
  /// What became of a payment, as its writer was told.
  enum Outcome {
    case acknowledged
    /// Unknown at first, and then asked for.
    case settled(wasCommitted: Bool)
    case refused
  }

  /// A payment that a server has acknowledged.
  struct Acknowledgement {
    var id: Int
    var time: ContinuousClock.Instant
    var writer: Int
    /// Which server it was, as it calls itself.
    var server: String
  }

  /// What they were told of the payments from one on.
  struct Told {
    var first: Int
    var outcomes: [Int: Outcome] = [:]
    var acknowledgements: [Acknowledgement] = []
    /// Errors, but those of the cancelled and the impatient.
    var unexpected: [String] = []
    var unknownCount = 0
    var refusedCount = 0
    /// Payments that were read by the pool once they were acknowledged, and those of them that weren't there.
    var readCount = 0
    var stale: [Int] = []

    /// What they were told later, without the times.
    mutating func add(_ later: Told) {
      outcomes.merge(later.outcomes) { $1 }
      unknownCount += later.unknownCount
      refusedCount += later.refusedCount
      readCount += later.readCount
      stale += later.stale
    }
  }

  /// Who writes.
  enum Kind {
    case thread, task
    /// By a pool that tries nothing again.
    case impatient
    /// Some of its transactions are cancelled at any moment.
    case cancelled
  }
  private static let company: [Kind] = [
    .thread, .thread, .thread, .task, .task, .task, .impatient, .impatient, .cancelled,
  ]

  /// The patient one.
  let pool: PostgresPool
  private let impatient: PostgresPool
  private let serverName: SQL
  private let next = Atomic<Int>(1)
  private let isStopped = Atomic<Bool>(true)
  private let told = Lock(Told(first: 1))
  private let group = DispatchGroup()

  /// Makes the tables.
  ///
  /// - Parameter serverName: an expression that tells one server from the others.
  init(_ address: String, serverName: SQL) throws {
    var configuration = PostgresConfiguration()
    configuration.commitTokens = true
    configuration.connections = Self.company.count
    configuration.reads = .replicas(waitAtMost: .milliseconds(200))
    pool = try PostgresPool(address, configuration: configuration)
    configuration.reads = .primary
    configuration.retryLimit = nil
    configuration.connectTimeout = .milliseconds(50)
    impatient = try Self.impatientPool(address, configuration)
    self.serverName = serverName
    try Migrator([
      // Without keys, so that one that is there twice is seen.
      Migration("create payment", sql: "CREATE TABLE payment (id BIGINT, server TEXT)"),
      Migration("index payment", sql: "CREATE INDEX payment_id ON payment (id)"),
      Migration("create receipt", sql: "CREATE TABLE receipt (id BIGINT)"),
    ]).migrate(pool)
  }

  /// On a busy machine even the first connection takes longer now and then.
  private static func impatientPool(
    _ address: String, _ configuration: PostgresConfiguration
  ) throws -> PostgresPool {
    for _ in 0..<100 {
      do {
        return try PostgresPool(address, configuration: configuration)
      } catch let error as DatabaseError where error.code == .cannotOpen { usleep(50_000) }
    }
    return try PostgresPool(address, configuration: configuration)
  }

  /// How many transactions the pool has run again.
  var retryCount: Int { pool.statistics.retries }

  /// Begins to note anew what they are told.
  @discardableResult
  func begin() -> Int {
    let first = next.load(ordering: .relaxed)
    told.withLock { $0 = Told(first: first) }
    return first
  }

  func start() {
    isStopped.store(false, ordering: .relaxed)
    let first = begin()
    for (number, kind) in Self.company.enumerated() {
      group.enter()
      switch kind {
      case .thread, .impatient:
        let pool = kind == .thread ? pool : impatient
        Thread.detachNewThread { [self] in
          while !isStopped.load(ordering: .relaxed) {
            let id = take()
            let result = Result { try pool.inTransaction { try self.pay($0, id) } }
            note(id, result, of: number, kind)
            if kind == .thread, case .success = result {
              noteRead(id, Result { try pool.read { try Self.has($0, id) } })
            }
          }
          group.leave()
        }
      case .task, .cancelled:
        Task.detached { [self] in
          var random = SeededGenerator(seed: UInt64(first))
          while !isStopped.load(ordering: .relaxed) {
            let id = take()
            let payment = Task { try await pool.inTransaction { try self.pay($0, id) } }
            if kind == .cancelled, Bool.random(using: &random) {
              try? await Task.sleep(for: .microseconds(Int.random(in: 0...3000, using: &random)))
              payment.cancel()
            }
            let result = await payment.result
            note(id, result, of: number, kind)
            guard kind == .task, case .success = result else { continue }
            do {
              let isThere = try await pool.read { try Self.has($0, id) }
              noteRead(id, .success(isThere))
            } catch { noteRead(id, .failure(error)) }
          }
          group.leave()
        }
      }
    }
  }

  /// Stops them, waits until each knows what became of its last payment, and returns what they were told.
  func stop() throws -> Told {
    isStopped.store(true, ordering: .relaxed)
    guard group.wait(timeout: .now() + 120) == .success else {
      throw Wrong("a writer hangs")
    }
    return told.withLock { $0 }
  }

  /// Waits until each of them has had a payment acknowledged by a server, after a time.
  func waitForAll(
    since start: ContinuousClock.Instant = .now, by isServer: (String) -> Bool, limit: Duration
  ) throws {
    let deadline = ContinuousClock.now + limit
    while true {
      let writers = told.withLock { told in
        Set(told.acknowledgements.filter { isServer($0.server) && $0.time > start }.map(\.writer))
      }
      if writers.count == Self.company.count { return }
      guard ContinuousClock.now < deadline else {
        throw Wrong("only \(writers.count) of \(Self.company.count) writers go on after \(limit)")
      }
      usleep(5_000)
    }
  }

  /// How it was acknowledged, for those that are lost.
  static func story(of id: Int, in told: Told, since start: ContinuousClock.Instant) -> String {
    guard let one = told.acknowledgements.first(where: { $0.id == id }) else {
      return "\(id) was settled"
    }
    return "\(id) by \(company[one.writer]), acknowledged by \(one.server) "
      + "\((one.time - start).inMilliseconds) after the kill"
  }

  func take() -> Int { next.add(1, ordering: .relaxed).oldValue }

  /// Returns what the server calls itself.
  func pay(_ db: Database, _ id: Int) throws -> String {
    let server =
      try db.value(
        "INSERT INTO payment VALUES (\(id), \(serverName)) RETURNING server", as: String.self) ?? ""
    try db.executeUpdate("INSERT INTO receipt VALUES (\(id))")
    return server
  }

  private static func has(_ db: Database, _ id: Int) throws -> Bool {
    try db.value("SELECT true FROM payment WHERE id = \(id) LIMIT 1", as: Bool.self) ?? false
  }

  /// Whether what was acknowledged was there when it was read at once.
  private func noteRead(_ id: Int, _ result: Result<Bool, any Error>) {
    told.withLock { told in
      told.readCount += 1
      switch result {
      case .success(true): break
      case .success(false): told.stale.append(id)
      case .failure(let error): told.unexpected.append("read: \(error)")
      }
    }
  }

  func note(
    _ id: Int, _ result: Result<String, any Error>, of writer: Int, _ kind: Kind
  ) {
    switch result {
    case .success(let server):
      let now = ContinuousClock.now
      told.withLock { told in
        told.outcomes[id] = .acknowledged
        told.acknowledgements.append(
          Acknowledgement(id: id, time: now, writer: writer, server: server))
      }
    case .failure(let error):
      // It would ask again at once, and be refused by the thousand.
      if kind == .impatient { usleep(10_000) }
      guard let token = (error as? DatabaseError)?.commitToken else {
        return told.withLock { told in
          told.outcomes[id] = .refused
          told.refusedCount += 1
          if kind == .thread || kind == .task { told.unexpected.append("\(error)") }
        }
      }
      let outcome = Result { try pool.outcome(of: token) }
      told.withLock { told in
        told.unknownCount += 1
        switch outcome {
        case .success(let wasCommitted):
          told.outcomes[id] = .settled(wasCommitted: wasCommitted)
        case .failure(let error): told.unexpected.append("not settled: \(error)")
        }
      }
    }
  }
}
