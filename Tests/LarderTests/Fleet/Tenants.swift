import LarderFleet
import Dispatch
import Foundation
import Larder
import TestSupport

/// Helpers for the tests of fleets.
enum Tenants {
  static let migrator = Migrator([Migration("create city", sql: City.creation)])

  /// A fleet whose databases have a table of cities.
  static func fleet(
    in folder: ScratchFolder, _ change: (inout FleetConfiguration) -> Void = { _ in }
  ) throws -> DatabaseFleet {
    var configuration = FleetConfiguration(migrator: migrator)
    configuration.database.scopeTimeout = .seconds(patience)
    change(&configuration)
    return try DatabaseFleet(in: folder.file("tenants"), configuration: configuration)
  }

  /// The number of seconds that tests wait for each other. They then fail instead of hanging.
  static let patience = 600

  static func insert(_ name: String, _ db: Database) throws {
    try db.executeUpdate("INSERT INTO city (name, population) VALUES (\(name), 1)")
  }

  static func names(_ db: Database) throws -> [String] {
    try db.fetch(String.self, "SELECT name FROM city ORDER BY id")
  }

  struct TookTooLong: Error {}

  /// Waits until the condition holds, by polling.
  static func wait(until condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(patience)
    while try !condition() {
      guard ContinuousClock.now < deadline else { throw TookTooLong() }
      try? await Task.sleep(for: .microseconds(200))
    }
  }
}

/// A thread that stays in a tenant's scope until it is released.
final class TenantUser: Sendable {
  private let letGo = DispatchSemaphore(value: 0)
  private let outcome = Lock<Result<Void, any Error>?>(nil)
  private let holds = Lock(false)

  /// - Parameter body: runs after the release.
  init(
    _ fleet: DatabaseFleet, _ key: String,
    then body: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) {
    Thread.detachNewThread { [self] in
      let result = Result {
        try fleet.inDatabase(key) { db in
          holds.withLock { $0 = true }
          _ = letGo.wait(timeout: .now() + .seconds(Tenants.patience))
          try body(db)
        }
      }
      outcome.withLock { $0 = result }
    }
  }

  var isInside: Bool { holds.withLock { $0 } }
  var hasEnded: Bool { outcome.withLock { $0 != nil } }

  /// Waits until the thread is inside of the scope.
  func enter() async throws -> Self {
    try await Tenants.wait { isInside || hasEnded }
    if !isInside { try outcome.withLock { $0 }?.get() }
    return self
  }

  func release() { letGo.signal() }

  /// Releases the thread and waits until its scope has ended.
  func end() async throws {
    letGo.signal()
    try await Tenants.wait { hasEnded }
    try outcome.withLock { $0 }?.get()
  }
}
