import Foundation
import LarderMacros
import LarderPostgres
import LarderReplication

/// The database behind the service: the one place that knows which engine it is.
struct Store: Sendable {
  let access: any DatabaseAccess
  /// For what only a file has: its copy elsewhere.
  let file: DatabasePool?

  /// Opens and migrates a database: `:memory:`, the path of a file, or the address of a server.
  static func open(_ address: String) throws -> Store {
    let store = try connect(address)
    try migrator.migrate(store.access)
    return store
  }

  private static func connect(_ address: String) throws -> Store {
    if address.hasPrefix("postgres") || address.contains("=") {
      var configuration = PostgresConfiguration()
      configuration.scopeTimeout = .seconds(10)
      configuration.statementDeadline = .seconds(30)
      return Store(access: try PostgresPool(address, configuration: configuration), file: nil)
    }
    var configuration = Configuration(profile: .durable)
    configuration.scopeTimeout = .seconds(10)
    configuration.statementDeadline = .seconds(30)
    configuration.optimizesOnClose = true
    guard address != ":memory:" else {
      return Store(access: try DatabaseQueue(configuration: configuration), file: nil)
    }
    let pool = try DatabasePool(path: address, configuration: configuration)
    return Store(access: pool, file: pool)
  }

  /// Copies each second of a file to a folder, on another disk or machine. A server has its own means.
  func replicate(to folder: String) throws -> ReplicatedDatabase? {
    try file?.replicate(to: .folder(folder)) { error in say("the copy: \(error)") }
  }
}

/// Prints a line at once.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
