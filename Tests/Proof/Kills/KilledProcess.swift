import Foundation
import Larder
import TestSupport

/// What the processes do that are killed.
enum KilledProcess {
  static func work(_ role: String, _ arguments: [String]) throws {
    guard arguments.count == 2, let number = Int(arguments[1]) else { return }
    let path = arguments[0]
    do {
      switch role {
      case "payments": try pay(path, from: number)
      case "journal": try pay(path, from: number) { $0.journalMode = .delete }
      case "durable-queue":
        try pay(path, from: number, tasks: 4) { $0.synchronous = .full }
      case "durable-pool":
        try pay(path, from: number, tasks: 4, readers: 2, isPool: true) { $0.synchronous = .full }
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
      case "migrations": try NumberedMigrations.migrate(DatabaseQueue(path: path), count: number)
      default: break
      }
    } catch {
      Parent.tell("error: \(error)")
    }
  }

  /// Pays until it is killed, from 8 callers, and says which payments are acknowledged, and how many
  /// the readers have been told of.
  private static func pay(
    _ path: String, from first: Int, tasks: Int = 0, readers: Int = 0, isPool: Bool = false,
    _ change: (inout Configuration) -> Void = { _ in },
    beside work: @escaping @Sendable () throws -> Void = {}
  ) throws {
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    change(&configuration)
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try Payments.createTables($0) }
    let payments = Payments(from: first)
    for _ in tasks..<8 {
      Thread.detachNewThread {
        while true {
          let id = payments.take()
          tell(id, Result { try access.inTransaction { try Payments.insert($0, id) } })
        }
      }
    }
    for _ in 0..<tasks {
      Task.detached {
        while true {
          let id = payments.take()
          do {
            try await access.inTransaction { try Payments.insert($0, id) }
            tell(id, .success(()))
          } catch {
            tell(id, .failure(error))
          }
        }
      }
    }
    for _ in 0..<readers {
      Thread.detachNewThread {
        while true {
          do {
            let count = try access.read { db in
              try db.value("SELECT count(*) FROM payment WHERE id >= ?", first, as: Int.self)
            }
            Parent.tell("read \(count ?? 0)")
          } catch {
            Parent.tell("error: \(error)")
          }
        }
      }
    }
    try work()
    while true { pause() }
  }

  private static func tell(_ id: Int, _ outcome: Result<Void, any Error>) {
    switch outcome {
    case .success: Parent.tell(String(id))
    case .failure(let error): Parent.tell("error: \(error)")
    }
  }
}
