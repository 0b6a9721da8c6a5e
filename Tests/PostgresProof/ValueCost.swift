import Foundation
import Larder
import LarderPostgres

/// What an observer of a value costs those that write to its table: rounds of half a second without one, and
/// with one of each source of commits, in turn; and, for comparison, with PostgreSQL's own client that receives the log
/// and throws it away.
struct ValueCost {
  private let address: String
  private let rounds: Int
  /// How many commits a second each writer makes; 0 for as many as it can.
  private let pace: Int
  private let sides: [Side]

  /// PostgreSQL's client has to be able to receive the log at the address, which has to be of one server.
  init(_ address: String, rounds: Int, pace: Int = 0, comparesClient: Bool) {
    self.address = address
    self.rounds = rounds
    self.pace = pace
    sides = Side.allCases.filter { comparesClient || $0 != .pg_recvlogical }
  }

  private enum Side: CaseIterable { case alone, triggers, log, pg_recvlogical }

  /// A pool with one connection, whose values have a source.
  static func observing(
    _ address: String, _ source: PostgresConfiguration.CommitSource
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    configuration.retryLimit = .seconds(600)
    configuration.commitSource = source
    return try PostgresPool(address, configuration: configuration)
  }

  /// Measures, and describes each side.
  func measure(writers: Int) throws -> [String] {
    let admin = try onePool(address)
    let pools = try (0..<writers).map { _ in try onePool(address) }
    var rates: [Side: [Double]] = [:]
    var times: [Side: [Double]] = [:]
    var waits: [Side: [Double]] = [:]
    var decoding: [Side: [Double]] = [:]
    _ = try work(pools)
    for round in 0..<rounds {
      // Each has each place as often.
      let order = sides.indices.map { sides[($0 + round) % sides.count] }
      for side in order {
        try admin.inTransaction { try $0.reportChanges(of: ["counter"], false) }
        let observation = try observe(side)
        let receiver = side == .pg_recvlogical ? try receive() : nil
        defer { if let receiver { end(receiver) } }
        let decoder = side == .log || receiver != nil ? try decoder(admin) : nil
        let before = decoder.map(processorTime) ?? 0
        let done = try work(pools)
        if let decoder {
          decoding[side, default: []].append(
            Double(processorTime(decoder) - before) / Double(done.commits) / 1_000)
        }
        observation?.cancel()
        rates[side, default: []].append(Double(done.commits) / done.seconds)
        times[side, default: []].append(Double(done.time) / Double(done.commits) / 1_000)
        waits[side, default: []].append(done.waits.sorted()[done.waits.count / 2] / 1_000)
      }
    }
    func median(_ numbers: [Double]?) -> Double { (numbers ?? [0]).sorted()[rounds / 2] }
    func ratio(_ numbers: [Side: [Double]], _ side: Side) -> Double {
      median(zip(numbers[side] ?? [], numbers[.alone] ?? []).map { $0 / $1 })
    }
    return sides.map { side in
      let rate = median(rates[side]).rounded()
      let time = String(format: "%.1f", median(times[side]))
      let wait = String(format: "%.0f", median(waits[side]))
      let text =
        "\(writers) writers\(pace > 0 ? " at a pace" : ""), \(side): \(Int(rate)) commits a second, "
        + "\(wait) µs and \(time) µs of processors each"
      guard side != .alone else { return text }
      let ratios = [ratio(rates, side), ratio(waits, side), ratio(times, side)].map {
        String(format: "%.3f", $0)
      }
      let decoded =
        decoding[side].map {
          " (and \(String(format: "%.1f", median($0))) µs of decoding)"
        } ?? ""
      return text + decoded
        + ", \(ratios.joined(separator: ", ")) times as much in the median of \(rounds) rounds"
    }
  }

  /// Begins to observe the counters, and returns once commits are told.
  private func observe(_ side: Side) throws -> Observation? {
    guard side == .log || side == .triggers else { return nil }
    let pool = try Self.observing(address, side == .log ? .log : .triggers)
    let first = DispatchSemaphore(value: 0)
    let observation = pool.values(of: { db in
      try db.executeQuery("SELECT n FROM counter ORDER BY id").map {
        try $0.get(at: 0, as: Int.self)
      }
    }) {
      complain("\($0)")
    } onValue: { _ in
      first.signal()
    }
    first.wait()
    return observation
  }

  /// Begins to receive the log by PostgreSQL's client.
  private func receive() throws -> Process {
    try client(["--create-slot", "--plugin", "test_decoding"]).waitUntilExit()
    return try client(["--start", "--file", "/dev/null"])
  }

  /// Ends what receives the log, and removes its slot, which would keep the log of the other rounds.
  private func end(_ receiver: Process) {
    receiver.terminate()
    receiver.waitUntilExit()
    try? client(["--drop-slot"]).waitUntilExit()
  }

  private func client(_ arguments: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["pg_recvlogical", "--dbname", address, "--slot", "larder_reference"] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// The server's process that decodes the log.
  private func decoder(_ admin: PostgresPool) throws -> Int32 {
    while true {
      let process = try admin.inDatabase { db in
        try db.value(
          """
          SELECT s.pid FROM pg_stat_replication s JOIN pg_replication_slots r ON r.active_pid = s.pid
          WHERE r.slot_type = 'logical' AND s.state = 'streaming'
          """, as: Int32.self)
      }
      if let process { return process }
      usleep(1_000)
    }
  }

  /// What writers have done.
  private struct Work {
    var commits = 0
    /// The processor time of the writers' threads and their sessions, in nanoseconds.
    var time = 0
    /// How long each commit took its writer, in nanoseconds.
    var waits: [Double] = []
    var seconds = 0.0
  }

  private func work(_ pools: [PostgresPool]) throws -> Work {
    let total = Lock(Work())
    let start = ContinuousClock.now
    let end = start + .milliseconds(500)
    try onThreads(pools.count) { writer in
      let session = try pools[writer].inDatabase { db in
        try db.value("SELECT pg_backend_pid()", as: Int32.self) ?? 0
      }
      var waits: [Double] = []
      let before = threadTime + processorTime(session)
      while ContinuousClock.now < end {
        let begin = ContinuousClock.now
        try pools[writer].inTransaction { db in
          try db.executeUpdate("UPDATE counter SET n = n + 1 WHERE id = ?", writer + 1)
        }
        waits.append((ContinuousClock.now - begin) / .nanoseconds(1))
        if pace > 0 {
          // Writers come at different moments.
          let due = start + .seconds((Double(waits.count) + Double(writer) / 8) / Double(pace))
          let rest = (due - ContinuousClock.now) / .microseconds(1)
          if rest > 0 { usleep(UInt32(rest)) }
        }
      }
      let time = threadTime + processorTime(session) - before
      total.withLock { work in
        work.commits += waits.count
        work.waits += waits
        work.time += time
      }
    }
    var work = total.withLock { $0 }
    work.seconds = (ContinuousClock.now - start) / .seconds(1)
    return work
  }

  private var threadTime: Int { Self.nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

  /// The processor time of a server's process, in nanoseconds.
  private func processorTime(_ process: Int32) -> Int {
    var clock = clockid_t()
    clock_getcpuclockid(process, &clock)
    return Self.nanoseconds(clock)
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
