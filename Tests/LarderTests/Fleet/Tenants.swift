import Dispatch
import Foundation
import Larder
import TestSupport

/// What tests of fleets share.
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

  /// How long tests wait for one another before they fail instead of hanging.
  static let patience = 600

  static func insert(_ name: String, _ db: Database) throws {
    try db.executeUpdate("INSERT INTO city (name, population) VALUES (\(name), 1)")
  }

  static func names(_ db: Database) throws -> [String] {
    try db.fetch(String.self, "SELECT name FROM city ORDER BY id")
  }

  struct TookTooLong: Error {}

  /// Lets others go on until a condition holds: by polling, with back-off.
  static func wait(until condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(patience)
    while try !condition() {
      guard ContinuousClock.now < deadline else { throw TookTooLong() }
      try? await Task.sleep(for: .microseconds(200))
    }
  }
}

/// A thread that uses a tenant until it is let go.
final class TenantUser: Sendable {
  private let letGo = DispatchSemaphore(value: 0)
  private let outcome = Lock<Result<Void, any Error>?>(nil)
  private let holds = Lock(false)

  /// - Parameter body: what it does once it is let go.
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

  /// Waits until it uses the tenant.
  func enter() async throws -> Self {
    try await Tenants.wait { isInside || hasEnded }
    if !isInside { try outcome.withLock { $0 }?.get() }
    return self
  }

  func release() { letGo.signal() }

  /// Lets it go, and waits for its end.
  func end() async throws {
    letGo.signal()
    try await Tenants.wait { hasEnded }
    try outcome.withLock { $0 }?.get()
  }
}
