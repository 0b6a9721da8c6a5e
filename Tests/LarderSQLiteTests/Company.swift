import Foundation
import LarderSQLite
import TestSupport

/// A setup in which a call must behave as if it were alone: a queue or pool, with or without shared syncs,
/// called from threads or tasks.
struct Company: Sendable, CustomStringConvertible {
  enum Storage: CaseIterable, Sendable {
    /// An in-memory queue.
    case memory
    /// A queue of a file with durable commits.
    case file
    case pool
  }

  let storage: Storage
  let sharesSyncs: Bool
  let isAsynchronous: Bool

  var description: String {
    "\(storage), syncs \(sharesSyncs ? "shared" : "not shared"), "
      + "\(isAsynchronous ? "tasks" : "threads")"
  }

  static let all: [Company] = Storage.allCases.flatMap { storage in
    [true, false].flatMap { sharesSyncs in
      [true, false].map {
        Company(storage: storage, sharesSyncs: sharesSyncs, isAsynchronous: $0)
      }
    }
  }

  static let files = all.filter { $0.storage != .memory }
  static let threads = all.filter { !$0.isAsynchronous }
  static let tasks = all.filter(\.isAsynchronous)
  static let pools = all.filter { $0.storage == .pool }

  /// Opens a queue or pool with four cities.
  func open(
    in folder: ScratchFolder, configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    var configuration = Configuration(profile: .durable)
    configuration.groupCommit = sharesSyncs
    configuration.scopeTimeout = .seconds(watchdogSeconds)
    configure(&configuration)
    let path = folder.file("cities.db")
    let access: any DatabaseAccess =
      switch storage {
      case .memory: try DatabaseQueue(configuration: configuration)
      case .file: try DatabaseQueue(path: path, configuration: configuration)
      case .pool: try DatabasePool(path: path, configuration: configuration)
      }
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  /// Runs a transaction on its own thread or in its own task.
  func start(
    _ access: any DatabaseAccess, kind: TransactionKind = .immediate,
    _ body: @escaping @Sendable (Database) throws -> Void
  ) -> Caller {
    isAsynchronous
      ? Caller(task: { try await access.inTransaction(kind, body) })
      : Caller { try access.inTransaction(kind, body) }
  }

  /// Runs a read scope on its own thread or in its own task.
  func startReading(
    _ access: any DatabaseAccess, _ body: @escaping @Sendable (Database) throws -> Void
  ) -> Caller {
    isAsynchronous
      ? Caller(task: { try await access.read(body) }) : Caller { try access.read(body) }
  }
}
