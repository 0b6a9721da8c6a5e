import Foundation
import Larder
import ProofSupport
import TestSupport

/// A process that writes, and has a feed of its own, is killed at any moment while another one observes its file: what
/// its feed has told is there, the other's values become exactly what is in the file, and a feed that begins
/// then starts from that.
enum ObservedKills: ProofRow {
  static let name = "observed-kills"
  static let number = 17
  static let unit = "kills"

  private static let roles = ["queue", "journal", "durable-queue", "pool", "durable-pool"]
  /// The most processes that are killed on one file, one after the other.
  private static let killsPerFile = 20

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 2 {
      try work(options.rest[0], options.rest[1])
      exit(0)
    }
    var result = ProofResult()
    var random = SeededGenerator(seed: options.seed)
    let count = options.count ?? 50
    var (told, seen) = (0, 0)
    let each = min(killsPerFile, max(1, (count + roles.count - 1) / roles.count))
    while result.tried < count, options.goesOn(after: result.tried) {
      for role in roles where result.tried < count {
        let scratch = try ScratchFolder(inMemory: true)
        defer { scratch.remove() }
        let story = try ObservedKillStory(path: scratch.file("main.db"), role: role)
        for kill in 0..<min(each, count - result.tried) {
          do {
            told += try story.kill(kill, &random)
          } catch {
            result.failures.append("\(role), seed \(options.seed): \(error)")
          }
          result.tried += 1
        }
        seen += story.seen.elements.count
        try story.access.close()
      }
    }
    result.details = ["told by the feeds of the killed: \(told)", "values: \(seen)"]
    return result
  }

  static func open(_ path: String, _ role: String) throws -> any DatabaseAccess {
    var configuration = Configuration(profile: role.hasPrefix("durable") ? .durable : .service)
    configuration.busyTimeout = .seconds(60)
    if role == "journal" { configuration.journalMode = .delete }
    return role.hasSuffix("pool")
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
  }

  /// A transaction of three tables; returns its number.
  @Sendable static func write(_ db: Database) throws -> Int {
    try db.executeUpdate("UPDATE counter SET value = value + 1")
    let number = try count(db)
    try db.executeUpdate("INSERT INTO item (name) VALUES (?)", "item \(number)")
    try db.executeUpdate("INSERT INTO part VALUES (last_insert_rowid(), ?)", number)
    return number
  }

  static func count(_ db: Database) throws -> Int {
    try db.value("SELECT value FROM counter", as: Int.self) ?? -1
  }

  /// What the process does that is killed: it writes from several threads, and says what its feed tells it.
  private static func work(_ role: String, _ path: String) throws {
    let access = try open(path, role)
    let hasBegun = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        let changes = access.changes(of: ["counter"]) { db in
          Parent.tell("began \(try count(db))")
          hasBegun.signal()
        }
        for try await transaction in changes {
          for case .integer(let number)? in transaction.changes.map({ $0.new?.last }) {
            Parent.tell("told \(number)")
          }
        }
      } catch {
        Parent.tell("error: \(error)")
      }
    }
    hasBegun.wait()
    for _ in 0..<4 {
      Thread.detachNewThread {
        while true {
          do {
            let number = try access.inTransaction { try write($0) }
            Parent.tell("made \(number)")
          } catch {
            Parent.tell("error: \(error)")
          }
        }
      }
    }
    while true { pause() }
  }
}
