import Foundation
import Larder
import Synchronization

/// What the processes do that are killed.
enum KilledProcess {
  static func work(_ role: String, _ arguments: [String]) throws {
    guard arguments.count == 2, let number = Int(arguments[1]) else { return }
    let path = arguments[0]
    do {
      switch role {
      case "payments": try pay(path, from: number) { _ in }
      case "journal": try pay(path, from: number) { $0.journalMode = .delete }
      case "checkpoints":
        try pay(path, from: number) { _ in
        } beside: {
          let db = try Database(path: path)
          while true { _ = try? db.checkpoint([.passive, .truncate].randomElement() ?? .full) }
        }
      case "backups":
        try pay(path, from: number) { _ in
        } beside: {
          let db = try Database(path: path)
          while true { try db.backup(to: path + ".copy", pagesPerStep: 8) }
        }
      case "migrations": try migrate(path, count: number)
      default: break
      }
    } catch {
      tellParent("error: \(error)")
    }
  }

  /// Pays until it is killed, and says which payments are acknowledged.
  private static func pay(
    _ path: String, from first: Int, _ change: (inout Configuration) -> Void,
    beside work: @escaping @Sendable () throws -> Void = {}
  ) throws {
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    change(&configuration)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE IF NOT EXISTS payment (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS receipt (
          payment INTEGER PRIMARY KEY REFERENCES payment DEFERRABLE INITIALLY DEFERRED, text TEXT);
        """)
    }
    let next = Counter(first)
    for _ in 0..<8 {
      Thread.detachNewThread {
        while true {
          let id = next.take()
          do {
            try queue.inTransaction { db in
              try db.executeUpdate("INSERT INTO receipt VALUES (?, ?)", id, "payment \(id)")
              try db.executeUpdate("INSERT INTO payment VALUES (?, ?)", id, id * 7)
            }
            tellParent(String(id))
          } catch {
            tellParent("error: \(error)")
          }
        }
      }
    }
    try work()
    while true { pause() }
  }

  private final class Counter: Sendable {
    private let next: Atomic<Int>
    init(_ first: Int) { next = Atomic(first) }
    func take() -> Int { next.add(1, ordering: .relaxed).oldValue }
  }

  private static func migrate(_ path: String, count: Int) throws {
    let queue = try DatabaseQueue(path: path)
    try Migrator((0..<count).map(migration)).migrate(queue) { progress in
      tellParent("\(progress.duration == nil ? "begins" : "ended") \(progress.index)")
    }
  }

  private static func migration(_ number: Int) -> Migration {
    var sql = "CREATE TABLE city_\(number) (name TEXT);"
    for row in 0..<200 { sql += "INSERT INTO city_\(number) VALUES ('city \(row)');" }
    sql += "CREATE INDEX city_\(number)_name ON city_\(number) (name);"
    return Migration("city \(number)", sql: SQL(raw: sql))
  }
}
