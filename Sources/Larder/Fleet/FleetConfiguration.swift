import LarderSQLite

/// How a ``DatabaseFleet`` opens its databases, and how many at a time.
///
/// ```swift
/// var configuration = FleetConfiguration(Configuration(profile: .durable), migrator: migrator)
/// configuration.maximumOpen = 40
/// let fleet = try DatabaseFleet(in: "tenants", configuration: configuration)
/// ```
public struct FleetConfiguration: Sendable {
  /// How each database is opened. Its ``LarderSQLite/Configuration/scopeTimeout`` is also how long a call waits
  /// until its database can be opened and is; URIs are not paths here.
  public var database: Configuration
  /// Brings each database to the program's schema when it is opened; nil for none.
  public var migrator: Migrator?
  /// The most databases that are open at a time.
  ///
  /// One that is open has three descriptors: the file, its write-ahead log and the log's index (`-wal`,
  /// `-shm`); a transaction that is larger than the page cache and sorting on disk take one more for the time.
  /// So 64 have 192, which with the copies of `DatabaseFleet.backupAll` (six each)
  /// leaves a process below 256 for all of it.
  public var maximumOpen = 64
  /// How long a database that nobody uses stays open.
  public var idleTime: Duration = .seconds(60)
  /// The page caches of all databases together, in bytes: each has its part of it, by ``maximumOpen``, or what
  /// ``LarderSQLite/Configuration/cacheSize`` says if that is less. Besides it a connection keeps its schema and
  /// compiled statements, some kilobytes each, up to
  /// ``LarderSQLite/Configuration/statementCacheCapacity`` of them.
  public var cacheSize = 64 << 20
  /// Whether using a key for the first time makes its database. If not, it throws
  /// ``FleetError/noDatabase(key:)``, and `DatabaseFleet.create` makes it.
  public var createsDatabases = true
  /// The extension of the files: 1 to 16 small letters and digits of ASCII.
  public var fileExtension = "db"

  /// The settings for a service.
  public init(_ database: Configuration = .init(), migrator: Migrator? = nil) {
    self.database = database
    self.migrator = migrator
  }

  /// How each database is opened, within what is for all.
  var ofEach: Configuration {
    var configuration = database
    configuration.cacheSize = min(database.cacheSize, cacheSize / max(1, maximumOpen))
    configuration.flags.remove(.uri)
    if !createsDatabases { configuration.flags.remove(.create) }
    return configuration
  }
}
