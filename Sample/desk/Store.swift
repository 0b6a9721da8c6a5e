import Foundation
import LarderMacros
import LarderPostgres

/// The database behind the service: the one place that knows which engine it is.
struct Store: Sendable {
  let access: any DatabaseAccess
  /// For what only a file has: backups by the library, the log.
  let pool: DatabasePool?
  let address: String

  var isServer: Bool { access is PostgresPool }

  static func isServer(_ address: String) -> Bool {
    address.hasPrefix("postgres://") || address.hasPrefix("postgresql://") || address.contains("=")
  }

  /// Opens and migrates a database: `:memory:`, a path, or the address of a server.
  static func open(_ address: String, _ watch: Watch, migrating: Bool = true) throws -> Store {
    let store: Store
    if isServer(address) {
      var configuration = PostgresConfiguration()
      configuration.retryLimit = .seconds(10)
      configuration.scopeTimeout = .seconds(10)
      configuration.statementDeadline = .seconds(30)
      configuration.commitTokens = true
      configuration.slowStatementThreshold = Watch.slow
      configuration.log = watch.error
      configuration.trace = watch.statement
      let pool = try PostgresPool(address, configuration: configuration)
      store = Store(access: pool, pool: nil, address: address)
    } else {
      var configuration = Configuration(profile: .durable)
      configuration.retryLimit = .seconds(10)
      configuration.scopeTimeout = .seconds(10)
      configuration.statementDeadline = .seconds(30)
      configuration.applicationID = 0x4465_736b
      configuration.slowStatementThreshold = Watch.slow
      configuration.log = watch.error
      configuration.trace = watch.statement
      if address == ":memory:" {
        let queue = try DatabaseQueue(configuration: configuration)
        store = Store(access: queue, pool: nil, address: address)
      } else {
        let pool = try DatabasePool(path: address, configuration: configuration)
        store = Store(access: pool, pool: pool, address: address)
      }
    }
    if migrating { try migrator.migrate(store.access) }
    return store
  }
}
