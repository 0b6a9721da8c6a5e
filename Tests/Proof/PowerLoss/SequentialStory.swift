import CFaultInjection
import Larder
import TestSupport

/// Transactions one after the other, checkpoints, the database closed and opened again.
struct SequentialStory: PowerLossStory {
  let name: String
  var configuration: Configuration
  /// How many of the last acknowledged transactions SQLite may lose here; nil for any since the
  /// last checkpoint.
  let losable: Int?
  let needsOrder: Bool
  /// What the database holds after each transaction, and before the first.
  private(set) var digests: [Int] = []
  /// After which transactions there was a backup.
  private(set) var backups: [Int] = []

  /// All that Larder offers and SQLite promises something for.
  static let all = [
    SequentialStory(name: "WAL, synchronous normal", .wal, .normal, losable: nil),
    SequentialStory(name: "WAL, synchronous full", .wal, .full, losable: 0),
    SequentialStory(name: "journal deleted, synchronous extra", .delete, .extra, losable: 0),
    // The journal's deletion is the commit, and isn't synced: it may be back, and undo the last. If
    // it came back while the cut that VACUUM then makes stayed, the end of the file would be gone.
    // See https://www.sqlite.org/pragma.html#pragma_synchronous.
    SequentialStory(
      name: "journal deleted, synchronous full", .delete, .full, losable: 1, needsOrder: true),
    SequentialStory(name: "journal cut, synchronous full", .truncate, .full, losable: 0),
    SequentialStory(name: "journal kept, synchronous full", .persist, .full, losable: 0),
    SequentialStory(
      name: "durable profile", .wal, Configuration(profile: .durable).synchronous, losable: 0),
  ]

  private init(
    name: String, _ mode: Configuration.JournalMode, _ synchronous: Configuration.Synchronous,
    losable: Int?, needsOrder: Bool = false
  ) {
    self.name = name
    self.needsOrder = needsOrder
    self.losable = losable
    configuration = Self.configuration(.service, mode, synchronous)
  }

  private static let transactions = 40

  mutating func tell(path: String, _ random: inout SeededGenerator) throws -> [String] {
    fault_record_begin()
    defer { fault_record_end() }
    var db = try Database(path: path, configuration: configuration)
    digests = [try Self.digest(db)]
    for id in 1...Self.transactions {
      try db.inTransaction { db in try Self.write(db, id, &random) }
      Marks.set(.acknowledged, id)
      digests.append(try Self.digest(db))
      if configuration.journalMode == .wal, Int.random(in: 0..<8, using: &random) == 0 {
        let mode = [CheckpointMode.passive, .full, .restart, .truncate]
          .randomElement(using: &random)
        let frames = try db.checkpoint(mode ?? .full)
        if frames.logFrames == frames.checkpointed { Marks.set(.certain, id) }
      }
      if Int.random(in: 0..<12, using: &random) == 0 {
        try db.close()
        db = try Database(path: path, configuration: configuration)
      }
      if Int.random(in: 0..<25, using: &random) == 0 { try db.executeUpdate("VACUUM") }
      if Int.random(in: 0..<8, using: &random) == 0 {
        backups.append(id)
        try db.backup(to: Self.copy(of: path), pagesPerStep: 8)
        Marks.set(.inBackup, id)
      }
    }
    try db.close()
    return []
  }

  private static func copy(of path: String) -> String { path + ".copy" }

  private static func write(_ db: Database, _ id: Int, _ random: inout SeededGenerator) throws {
    if id == 1 {
      try db.executeStatements(
        """
        CREATE TABLE payment (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
        CREATE TABLE receipt (payment INTEGER PRIMARY KEY, text TEXT NOT NULL);
        CREATE TABLE document (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
        CREATE INDEX receipt_text ON receipt (text);
        """)
    }
    try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let count = Int.random(in: 0...30, using: &random) * 700
      let byte = UInt8.random(in: 0...255, using: &random)
      try db.executeUpdate(
        "INSERT INTO document (body) VALUES (?)", [UInt8](repeating: byte, count: count))
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      let half = Int.random(in: 0...1, using: &random)
      try db.executeUpdate("DELETE FROM document WHERE id % 2 = ?", half)
      try db.executeUpdate("UPDATE receipt SET text = text || ?", " \(id)")
    }
    if Int.random(in: 0..<15, using: &random) == 0 {
      try db.executeUpdate("CREATE TABLE \(identifier: "extra \(id)") (id INTEGER PRIMARY KEY)")
    }
    try db.executeUpdate("INSERT INTO payment VALUES (?, ?)", id, id * 7)
  }

  private static func digest(_ db: Database) throws -> Int {
    var digest = Hasher()
    // VACUUM puts them into another order.
    for entry in try db.schema().sorted(by: { $0.name < $1.name }) { digest.combine(entry) }
    for table in ["payment", "receipt", "document"] where try db.tableExists(table) {
      try db.executeQuery("SELECT * FROM \(identifier: table) ORDER BY 1").forEach { row in
        for index in 0..<row.columnCount { digest.combine(try row[index]) }
      }
    }
    return digest.finalize()
  }

  /// What is wrong with the database that was found after the power was back, if anything.
  func fault(path: String, _ marks: Marks) throws -> String? {
    if let fault = try backupFault(Self.copy(of: path), marks.inBackup) {
      return "the backup: " + fault
    }
    let db = try Self.openAndCheck(path, configuration)
    let last = try Self.lastPayment(db)
    let least = losable.map { marks.acknowledged - $0 } ?? marks.certain
    guard (max(0, least)...marks.acknowledged + 1).contains(last) else {
      return "\(last) transactions are left of \(marks)"
    }
    guard digests.indices.contains(last), try Self.digest(db) == digests[last] else {
      return "what is left is not as it was after transaction \(last)"
    }
    try db.executeUpdate("CREATE TABLE probe AS SELECT 1 AS id")
    try db.close()
    return nil
  }

  /// A backup is there as a whole: the one that was finished last, or one that was just being made.
  private func backupFault(_ path: String, _ finished: Int) throws -> String? {
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Self.openAndCheck(path, configuration)
    let last = try Self.lastPayment(db)
    let next = backups.first { $0 > finished } ?? finished
    guard last == finished || last == next else {
      return "of transaction \(last) instead of \(finished)"
    }
    return try Self.digest(db) == digests[last] ? nil : "not as after transaction \(last)"
  }

  private static func lastPayment(_ db: Database) throws -> Int {
    guard try db.tableExists("payment") else { return 0 }
    return try db.value("SELECT max(id) FROM payment", as: Int?.self).flatMap { $0 } ?? 0
  }
}
