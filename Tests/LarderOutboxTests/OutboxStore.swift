import Foundation
import Larder
import LarderOutbox
import LarderPostgres
import PostgresSupport
import Synchronization
import TestSupport

/// A database for a test.
enum TestStore: String, CaseIterable, Sendable {
  case memory, queue, pool, server

  /// Also a server, if there is one.
  static let all = PostgresServer.isInstalled ? allCases : [.memory, .queue, .pool]

  /// Opens an empty database with the tables of outboxes, and one for the consumers' copies.
  func open(isolation: PostgresConfiguration.Isolation = .serializable) throws -> OpenStore {
    let folder = try ScratchFolder()
    let path = folder.path + "/events.db"
    let store: any DatabaseAccess
    switch self {
    case .memory: store = try DatabaseQueue()
    case .queue: store = try DatabaseQueue(path: path)
    case .pool: store = try DatabasePool(path: path)
    case .server:
      var configuration = PostgresConfiguration()
      configuration.isolation = isolation
      store = try PostgresPool(TestEngine.schema(), configuration: configuration)
    }
    try Migrator(OutboxTables.migrations + [Migration("copies") { try Copy.table.create($0) }])
      .migrate(store)
    return OpenStore(store, folder)
  }
}

/// A database, and the folder that goes with it.
final class OpenStore: Sendable {
  let store: any DatabaseAccess
  /// Nobody uses it before the end.
  nonisolated(unsafe) private let folder: ScratchFolder

  init(_ store: any DatabaseAccess, _ folder: ScratchFolder) {
    self.store = store
    self.folder = folder
  }

  deinit {
    try? store.close()
    folder.remove()
  }

  func append(_ numbers: Int..., to outbox: Outbox<Event> = events) async throws {
    try await store.inTransaction { db in
      for number in numbers { try outbox.append(db, Event(number: number)) }
    }
  }

  /// What a consumer has copied, in its order.
  func copied(by consumer: String = "copy") async throws -> [Int] {
    try await store.read { db in
      try Copy.filter { $0.consumer == consumer }.order { $0.id }.select { $0.number }.fetchAll(db)
    }
  }

  /// Follows while a closure runs, and ends then.
  func following(
    _ consumer: String = "copy", from start: OutboxStart = .beginning,
    options: OutboxOptions = .prompt, while body: () async throws -> Void
  ) async throws {
    let store = store
    let worker = Task {
      try await events.follow(store, as: consumer, from: start, options: options) { db, messages in
        try Copy.add(messages, consumer, db)
      }
    }
    do {
      try await body()
    } catch {
      worker.cancel()
      throw error
    }
    worker.cancel()
    try await worker.value
  }

  /// Returns once a consumer has copied so many.
  func wait(for count: Int, by consumer: String = "copy") async throws {
    try await eventually { try await self.copied(by: consumer).count >= count }
  }
}

struct Event: Codable, Equatable, Sendable {
  var number: Int
  var text = "zero \0, „quoted“ \\ 城"
}

let events = Outbox<Event>("events")

extension OutboxOptions {
  static var prompt: OutboxOptions {
    var options = OutboxOptions()
    options.poll = .milliseconds(10)
    return options
  }
}

/// A message in a consumer's copy.
struct Copy: Record {
  var id: Int64?
  var consumer: String
  var position: Int64
  var number: Int

  struct Columns: Sendable {
    let id = Column("id", \Copy.id, .primaryKey)
    let consumer = Column("consumer", \Copy.consumer)
    let position = Column("position", \Copy.position)
    let number = Column("number", \Copy.number)
  }
  static let columns = Columns()
  static let table = Table(
    "copy", Copy.init, columns.id, columns.consumer, columns.position, columns.number)

  static func add(_ messages: [OutboxMessage<Event>], _ consumer: String, _ db: Database) throws {
    for message in messages {
      var copy = Copy(
        id: nil, consumer: consumer, position: message.position, number: message.payload.number)
      try copy.insert(db)
    }
  }
}

/// A list that tasks add to.
final class Notes<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  func add(_ element: Element) { list.withLock { $0.append(element) } }
  var all: [Element] { list.withLock { $0 } }
}

struct Refused: Error {}
struct Late: Error {}

/// Returns once a condition is met; throws after a minute.
func eventually(_ condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while try await !condition() {
    guard ContinuousClock.now < end else { throw Late() }
    try await Task.sleep(for: .milliseconds(2))
  }
}
