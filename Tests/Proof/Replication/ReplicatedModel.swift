import Foundation
import Larder
import ProofSupport
import TestSupport

/// Random transactions, of which each is determined by its number: whoever runs it, the rows after it are the same.
struct ReplicatedModel {
  let seed: UInt64
  /// The transactions after which another owner went on, whose transactions are others.
  var owners: [Int] = []

  static func create(in db: Database) throws {
    try db.executeUpdate(
      "CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)")
    try db.executeUpdate(
      "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, size INTEGER, content BLOB)")
    try db.executeUpdate("CREATE INDEX IF NOT EXISTS item_size ON item (size)")
    try db.executeUpdate("INSERT OR IGNORE INTO counter VALUES (1, 0)")
  }

  static func count(in db: Database) throws -> Int {
    try db.value("SELECT value FROM counter", as: Int.self) ?? -1
  }

  /// Runs the next transaction, within one. Returns its number.
  @discardableResult
  func step(in db: Database) throws -> Int {
    let number = try Self.count(in: db) + 1
    let owner = owners.count { $0 < number }
    var random = SeededGenerator(
      seed: (seed &+ UInt64(owner) &* 7_919) &* 1_000_003 &+ UInt64(number))
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      try change(db, &random)
    }
    try db.executeUpdate("UPDATE counter SET value = ?", number)
    return number
  }

  private func change(_ db: Database, _ random: inout SeededGenerator) throws {
    let id = Int.random(in: 1...120, using: &random)
    switch Int.random(in: 0..<40, using: &random) {
    case 0: try db.executeUpdate("DELETE FROM item WHERE id BETWEEN ? AND ?", id, id + 40)
    case 1: try db.executeUpdate("UPDATE item SET size = size + 1")
    case 2: try db.executeUpdate(SQL(raw: "CREATE TABLE IF NOT EXISTS other_\(id % 3) (a, b)"))
    case 3: try db.executeUpdate(SQL(raw: "DROP TABLE IF EXISTS other_\(id % 3)"))
    case 4: try db.executeUpdate("DELETE FROM item")
    case 5...10: try db.executeUpdate("DELETE FROM item WHERE id = ?", id)
    case 11...18:
      try db.executeUpdate("UPDATE item SET size = ? WHERE id = ?", Int(random.next() % 9999), id)
    default:
      let size = Int.random(in: 0...Int.random(in: 1...6000, using: &random), using: &random)
      let byte = UInt8(truncatingIfNeeded: random.next())
      var content = [UInt8](repeating: byte, count: size)
      withUnsafeBytes(of: random.next()) {
        content.replaceSubrange(0..<min(8, size), with: $0.prefix(size))
      }
      try db.executeUpdate(
        "INSERT OR REPLACE INTO item VALUES (?, ?, ?)", id, size, Data(content))
    }
  }

  /// All rows, as one number.
  static func digest(of db: Database) throws -> UInt64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    let tables = try db.executeQuery(
      "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'larder%' ORDER BY name"
    ).map { (try $0.get(at: 0, as: String.self), try $0.get(at: 1, as: String?.self)) }
    for table in tables { add((table.0 + (table.1 ?? "")).utf8) }
    _ = try db.executeQuery(
      "SELECT id, size, length(content), substr(content, 1, 12), substr(content, -3) FROM item ORDER BY id"
    ).map { row in
      for column in 0..<3 {
        withUnsafeBytes(of: try row.get(at: column, as: Int.self)) { add($0) }
      }
      add(try row.get(at: 3, as: Data?.self) ?? Data())
      add(try row.get(at: 4, as: Data?.self) ?? Data())
    }
    return sum
  }
}

/// What the rows are after each transaction, computed once.
final class ReplicatedDigests {
  private let model: ReplicatedModel
  private let database: Database
  private var digests: [UInt64] = []
  /// How many transactions the database has.
  private var count = 0

  /// Goes on from what is known of the transactions before another owner.
  convenience init(_ model: ReplicatedModel, from other: ReplicatedDigests, until last: Int) throws
  {
    try self.init(model)
    digests = Array(other.digests.prefix(last + 1))
  }

  init(_ model: ReplicatedModel) throws {
    self.model = model
    database = try Database()
    try ReplicatedModel.create(in: database)
    digests = [try ReplicatedModel.digest(of: database)]
  }

  func digest(after number: Int) throws -> UInt64 {
    while digests.count <= number {
      try database.inTransaction { try model.step(in: $0) }
      count += 1
      if count >= digests.count { digests.append(try ReplicatedModel.digest(of: database)) }
    }
    return digests[number]
  }
}

extension ReplicatedDigests {
  /// Throws unless a restored file is the database after some transaction. Returns which one.
  func check(_ path: String, _ label: String) throws -> Int {
    var configuration = Configuration()
    configuration.readOnly = true
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let count = try ReplicatedModel.count(in: db)
    guard try ReplicatedModel.digest(of: db) == digest(after: count) else {
      throw WrongAnswer(description: "\(label) isn't the database after \(count) transactions")
    }
    try db.close()
    return count
  }
}
