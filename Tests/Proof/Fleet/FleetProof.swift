import Foundation
import Larder
import LarderFleet
import ProofSupport
import TestSupport

/// A fleet of many databases: opening one that isn't open takes little, neither memory nor descriptors grow with the
/// switches between them, and migrating all of them goes on after a kill where it was, each migration once.
enum FleetProof: ProofRow {
  static let name = "fleet"
  static let number = 22
  static let unit = "switches"

  /// How many times as many switches there are as databases.
  private static let switches = 10

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if let role = options.rest.first, options.rest.count == 3 {
      try FleetProcess.run(role, options.rest[1], Int(options.rest[2]) ?? 0)
      exit(0)
    }
    let scratch = try ScratchFolder()
    defer { scratch.remove() }
    var trial = FleetTrial(
      folder: scratch.file("tenants"), count: max(1, (options.count ?? 1000) / switches),
      switches: options.count ?? 1000, seed: options.seed)
    try trial.make()
    try trial.kill()
    try trial.switchBetween()
    return trial.result
  }

  /// What each database is brought to: the second migration is one that shows if it runs twice.
  static func migrator(_ version: Int) -> Migrator {
    Migrator(
      [
        Migration(
          "create note",
          sql: """
            CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO note (text) VALUES ('created');
            """),
        Migration("migrate note", sql: "INSERT INTO note (text) VALUES ('migrated')"),
      ].prefix(version).map { $0 })
  }

  static func key(_ number: Int) -> String { "Tenant \(number)" }

  static func fleet(_ folder: String, version: Int) throws -> DatabaseFleet {
    try DatabaseFleet(in: folder, configuration: .init(migrator: migrator(version)))
  }
}

/// What the process does that is killed.
enum FleetProcess {
  static func run(_ role: String, _ folder: String, _ concurrency: Int) throws {
    guard role == "migrate" else { return }
    do {
      let fleet = try FleetProof.fleet(folder, version: 2)
      let report = try fleet.migrate(concurrency: concurrency) {
        Parent.tell("\($0.count) of \($0.total)")
      }
      Parent.tell("complete: \(report.changed) migrated, \(report.unchanged) up to date")
    } catch {
      Parent.tell("error: \(error)")
    }
  }
}

private struct FleetTrial {
  let folder: String
  let count: Int
  let switches: Int
  var random: SeededGenerator
  var result = ProofResult()

  init(folder: String, count: Int, switches: Int, seed: UInt64) {
    self.folder = folder
    self.count = count
    self.switches = switches
    random = SeededGenerator(seed: seed)
  }

  private func milliseconds(_ time: Duration) -> String {
    String((time / .microseconds(10)).rounded() / 100) + " ms"
  }

  /// - Parameter limit: for half of them.
  private mutating func note(_ what: String, _ times: [Duration], limit: Duration? = nil) {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return }
    func quantile(_ part: Double) -> String {
      milliseconds(sorted[Int(Double(sorted.count - 1) * part)])
    }
    result.details.append("\(what): median \(quantile(0.5)), 99 % \(quantile(0.99))")
    if let limit, sorted[sorted.count / 2] >= limit {
      result.failures.append("\(what) takes \(quantile(0.5))")
    }
  }

  mutating func make() throws {
    let fleet = try FleetProof.fleet(folder, version: 1)
    let clock = ContinuousClock()
    var times: [Duration] = []
    for number in 0..<count {
      times.append(try clock.measure { try fleet.create(FleetProof.key(number)) })
    }
    try fleet.close()
    let keys = Set(try fleet.keys())
    try WrongAnswer.check(keys, Set((0..<count).map(FleetProof.key)), "the keys")
    result.details.append("\(count) databases")
    note("making one", times)
  }

  // MARK: Migration

  /// Migrates all by processes that are killed, each after some databases, until one comes to the end.
  mutating func kill() throws {
    var kills = 0
    let start = ContinuousClock.now
    while true {
      let process = try ChildProcess.again(
        FleetProof.name, "--", "migrate", folder, String(Int.random(in: 1...8, using: &random)))
      var left = kills < 5 ? Int.random(in: 1...max(1, count / 3), using: &random) : Int.max
      var last = ""
      while left > 0, let line = process.line() {
        last = line
        left -= 1
      }
      guard left == 0 else {
        if !last.hasPrefix("complete") { throw WrongAnswer(description: "migrating: \(last)") }
        result.details.append(last)
        break
      }
      process.kill()
      kills += 1
    }
    result.details.append("kills: \(kills), in \(milliseconds(ContinuousClock.now - start)) in all")
    let fleet = try FleetProof.fleet(folder, version: 2)
    let again = try ContinuousClock().measure {
      let report = try fleet.migrate()
      try WrongAnswer.check(report.unchanged, count, "the databases that are up to date")
    }
    result.details.append("looking at all: \(milliseconds(again))")
    for number in 0..<count {
      let texts = try fleet.read(FleetProof.key(number)) {
        try $0.fetch(String.self, "SELECT text FROM note ORDER BY id")
      }
      if texts != ["created", "migrated"] {
        result.failures.append("after \(kills) kills database \(number) has \(texts)")
      }
    }
    try fleet.close()
  }

  // MARK: Switches

  /// Uses one after the other, so that none is open when it is used, then any from several threads.
  mutating func switchBetween() throws {
    let fleet = try FleetProof.fleet(folder, version: 2)
    let clock = ContinuousClock()
    let before = ProcessUsage()
    var reads: [Duration] = []
    var writes: [Duration] = []
    var files = 0
    for number in 0..<count {
      let key = FleetProof.key(number)
      reads.append(
        try clock.measure {
          _ = try fleet.read(key) { try $0.value("SELECT count(*) FROM note", as: Int.self) }
        })
      if number % 100 == 0 { files = max(files, ProcessUsage().files.count) }
    }
    for number in 0..<min(count, 1000) {
      let key = FleetProof.key(number)
      writes.append(try clock.measure { try Self.write(fleet, key) })
      if number % 100 == 0 { files = max(files, ProcessUsage().files.count) }
    }
    note("a cold read", reads, limit: .milliseconds(5))
    note("a cold write", writes, limit: .milliseconds(5))
    let warm = ProcessUsage()
    try switchAtRandom(fleet, &files)
    let after = ProcessUsage()
    result.tried = switches
    result.details.append("descriptors: \(files)")
    result.details.append(
      "memory: \(before.resident >> 10) KiB, \(warm.resident >> 10) KiB, \(after.resident >> 10) KiB"
    )
    result.details.append("opened: \(fleet.statistics.opened)")
    if files > 256 { result.failures.append("\(files) descriptors are open") }
    if after.heap > warm.heap + 16 << 20 {
      result.failures.append("the heap grew from \(warm.heap) to \(after.heap) bytes")
    }
    try fleet.close()
    let end = ProcessUsage()
    if end.files.count > before.files.count + 8 {
      result.failures.append("\(end.files.count - before.files.count) descriptors stay open")
    }
  }

  private static func write(_ fleet: DatabaseFleet, _ key: String) throws {
    try fleet.inTransaction(key) { db in
      try db.executeUpdate("UPDATE note SET text = 'migrated' WHERE id = 2")
    }
  }

  private mutating func switchAtRandom(_ fleet: DatabaseFleet, _ files: inout Int) throws {
    let threads = 4
    let failures = Lock<[String]>([])
    let most = Lock(files)
    let group = DispatchGroup()
    for _ in 0..<threads {
      let seed = random.next()
      let (count, each) = (count, switches / threads)
      group.enter()
      Thread.detachNewThread {
        var random = SeededGenerator(seed: seed)
        for turn in 0..<each {
          let key = FleetProof.key(Int.random(in: 0..<count, using: &random))
          do {
            if turn % 10 == 0 {
              try Self.write(fleet, key)
            } else {
              let notes = try fleet.read(key) {
                try $0.value("SELECT count(*) FROM note", as: Int.self)
              }
              try WrongAnswer.check(notes, 2, "the notes of \(key)")
            }
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
          if turn % 1000 == 0 {
            let now = ProcessUsage().files.count
            most.withLock { $0 = max($0, now) }
          }
        }
        group.leave()
      }
    }
    group.wait()
    result.failures += failures.withLock { $0 }
    files = most.withLock { $0 }
  }
}
