import Foundation
import Larder

/// A disk that is full: a limit of pages, and, where this program may mount one, a small disk in
/// memory. The error reaches the caller, what was acknowledged is there, nothing is half written,
/// and it works again once there is space.
enum FullDisk: ProofRow {
  static let name = "full-disk"
  static let number = 5
  static let unit = "fills"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    var result = ProofResult()
    let folder = try ProofFolder.make()
    defer { ProofFolder.remove(folder) }
    let disk = SmallDisk(folder: folder + "/disk")
    defer { disk.unmount() }
    if !disk.isMounted {
      result.skipped = "the small disk, which takes a privilege to mount (\(disk.problem))"
    }
    var random = RandomNumbers(seed: options.seed)
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
          try ProofFolder.empty(isDisk ? disk.folder : folder)
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
  private var acknowledged = 0

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
    if disk == nil { try queue.inDatabase { db in try limit(db, to: 100) } }
    // To the brim twice: after the first time there is more space.
    for round in 2...3 {
      try fill(queue)
      try check(path)
      // Once there is space it goes on, on the same connection.
      try queue.inDatabase { db in if disk == nil { try limit(db, to: round * 100) } }
      try disk?.freeSpace()
      try pay(queue)
      try check(path)
    }
    try queue.close()
    try check(path)
  }

  private func limit(_ db: Database, to pages: Int) throws {
    _ = try db.value(SQL(raw: "PRAGMA max_page_count = \(pages)"), as: Int.self)
  }

  private mutating func fill(_ queue: DatabaseQueue) throws {
    for _ in 0..<5000 {
      do {
        try pay(queue)
      } catch let error as DatabaseError {
        guard error.code == .full else { throw error }
        return
      }
    }
    throw WrongAnswer(description: "the disk doesn't get full")
  }

  /// Pays in a transaction of two tables.
  private mutating func pay(_ queue: DatabaseQueue) throws {
    let id = acknowledged + 1
    try queue.inTransaction { db in
      try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
      try db.executeUpdate("INSERT INTO payment VALUES (?, zeroblob(?))", id, bytes)
    }
    acknowledged = id
  }

  private func check(_ path: String) throws {
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let found = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    for table in ["payment", "receipt"] {
      let count = try db.value("SELECT count(*) FROM \(identifier: table)", as: Int.self)
      try WrongAnswer.check(count, acknowledged, "the number of rows in \(table)")
    }
    try db.close()
  }
}
