import Foundation
import Larder
import ProofSupport
import TestSupport

/// A disk that is full: a limit of pages, and, where this program may mount one, a small disk in
/// memory. The error reaches the caller, what was acknowledged is there, nothing is half written,
/// and it works again once there is space.
enum FullDisk: ProofRow {
  static let name = "full-disk"
  static let number = 5
  static let unit = "fills"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let disk = SmallDisk(folder: folder + "/disk")
    defer { disk.unmount() }
    if !disk.isMounted {
      result.skipped = "the small disk, which takes a privilege to mount (\(disk.problem))"
    }
    var random = SeededGenerator(seed: options.seed)
    let count = options.count ?? 24
    while result.tried < count, options.goesOn(after: result.tried) {
      for mode in [Configuration.JournalMode.wal, .delete, .truncate, .persist] {
        for isDisk in disk.isMounted ? [true, false] : [false] {
          var fill = Fill(
            mode, isDisk ? disk : nil, bytes: Int.random(in: 300...9000, using: &random))
          let label = "journal \(mode), \(isDisk ? "small disk" : "limit of pages"), seed "
          do {
            let path = isDisk ? disk.folder : folder
            try fill.run(path: path + "/main.db")
          } catch {
            result.failures.append(label + "\(options.seed): \(error)")
          }
          try ScratchFolder.empty(isDisk ? disk.folder : folder)
          result.tried += 1
        }
      }
    }
    return result
  }
}

/// A file that is written until there is no space.
private struct Fill {
  private let configuration: Configuration
  private let disk: SmallDisk?
  private let bytes: Int
  private var acknowledged: Set<Int> = []
  /// How many pages the database may have, in place of a small disk.
  private let pages = Lock<Int?>(nil)

  init(_ mode: Configuration.JournalMode, _ disk: SmallDisk?, bytes: Int) {
    var configuration = Configuration()
    configuration.journalMode = mode
    configuration.synchronous = .full
    configuration.cacheSize = 32 << 10
    self.configuration = configuration
    self.disk = disk
    self.bytes = bytes
  }

  mutating func run(path: String) throws {
    try disk?.takeSpace()
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE payment (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
        CREATE TABLE receipt (payment INTEGER PRIMARY KEY, text TEXT NOT NULL);
        """)
    }
    if disk == nil { pages.withLock { $0 = 100 } }
    // To the brim twice: after the first time there is more space.
    for round in 2...3 {
      try fill(queue)
      try check(path)
      // Once there is space it goes on, on the same connection.
      if disk == nil { pages.withLock { $0 = round * 100 } }
      try disk?.freeSpace()
      let id = (acknowledged.max() ?? 0) + 1
      try Self.pay(queue, id, bytes, pages)
      acknowledged.insert(id)
      try check(path)
    }
    try queue.close()
    try check(path)
  }

  /// Pays from several threads, which share commits, until there is no space.
  private mutating func fill(_ queue: DatabaseQueue) throws {
    let (first, bytes, pages) = ((acknowledged.max() ?? 0) + 1, bytes, pages)
    let outcome = Lock((paid: acknowledged, error: nil as (any Error)?))
    let threads = 8
    DispatchQueue.concurrentPerform(iterations: threads) { index in
      for number in 0..<1000 {
        do {
          let id = first + number * threads + index
          try Self.pay(queue, id, bytes, pages)
          outcome.withLock { _ = $0.paid.insert(id) }
        } catch {
          let isFull = (error as? DatabaseError)?.code == .full
          return outcome.withLock { if !isFull { $0.error = error } }
        }
      }
      outcome.withLock { $0.error = WrongAnswer(description: "the disk doesn't get full") }
    }
    acknowledged = outcome.withLock(\.paid)
    if let error = outcome.withLock(\.error) { throw error }
  }

  /// Pays in a transaction of two tables.
  private static func pay(
    _ queue: DatabaseQueue, _ id: Int, _ bytes: Int, _ pages: Lock<Int?>
  ) throws {
    // A setting ends with the scope that made it.
    let limit = pages.withLock { $0 }
    try queue.inTransaction { db in
      if let limit {
        _ = try db.value(SQL(raw: "PRAGMA max_page_count = \(limit)"), as: Int.self)
      }
      try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
      try db.executeUpdate("INSERT INTO payment VALUES (?, zeroblob(?))", id, bytes)
    }
  }

  private func check(_ path: String) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let found = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    for sql: SQL in ["SELECT id FROM payment", "SELECT payment FROM receipt"] {
      let ids = try Set(db.fetch(Int.self, sql))
      try WrongAnswer.check(ids, acknowledged, "what was paid")
    }
    try db.close()
  }
}
