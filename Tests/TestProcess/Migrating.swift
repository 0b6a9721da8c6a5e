import Larder
import TestSupport

/// Says "ready", and applies migrations when the parent says to go on.
enum Migrating {
  static func run(path: String, count: Int) throws {
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    Parent.tell("ready")
    Parent.wait()
    try NumberedMigrations.migrate(
      DatabaseQueue(path: path, configuration: configuration), count: count)
  }
}
