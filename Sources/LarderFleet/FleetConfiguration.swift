import Larder
import LarderSQLite

/// How a ``DatabaseFleet`` opens its databases, and how many at a time.
///
/// ```swift
/// var configuration = FleetConfiguration(.init(profile: .durable), migrator: migrator)
/// configuration.maximumOpen = 40
/// let fleet = try DatabaseFleet(in: "tenants", configuration: configuration)
/// ```
public struct FleetConfiguration: Sendable {
  /// The settings of each database. ``LarderSQLite/Configuration/scopeTimeout`` is also how long a call
  /// waits for its database to be opened. URIs aren't accepted as paths here. Without
  /// ``LarderSQLite/Configuration/Flags/create``, using a key for the first time throws
  /// ``FleetError/noDatabase(key:)``, and `DatabaseFleet.create` creates its database.
  public var database: LarderSQLite.Configuration
  /// Brings each database to the program's schema when it is opened; nil for none.
  public var migrator: Migrator?
  /// The most databases that are open at a time.
  ///
  /// An open database has three descriptors: the file, its write-ahead log and the log's index (`-wal`,
  /// `-shm`). A transaction that is larger than the page cache, or sorting on disk, temporarily takes one
  /// more. So 64 databases have 192, which together with the copies of `DatabaseFleet.backup` (six each)
  /// leaves a process below 256.
  public var maximumOpen = 64
  /// How long a database that nobody uses stays open.
  public var idleTime: Duration = .seconds(60)
  /// The total size of the page caches of all databases, in bytes. Each gets an equal part, by
  /// ``maximumOpen``, or ``LarderSQLite/Configuration/cacheSize`` if that is less. In addition, a
  /// connection keeps its schema and up to ``LarderSQLite/Configuration/statementCacheCapacity`` compiled
  /// statements, some kilobytes each.
  public var cacheSize = 64 << 20
  /// The files' extension: 1 to 16 lowercase ASCII letters and digits.
  public var fileExtension = "db"

  /// The settings of a fleet from those of its databases, which by default suit a service.
  public init(_ database: LarderSQLite.Configuration = .init(), migrator: Migrator? = nil) {
    self.database = database
    self.migrator = migrator
  }

  /// Whether using a key for the first time creates its database.
  var createsDatabases: Bool { database.flags.contains(.create) }

  /// The settings of each database, with its part of the page cache.
  var ofEach: LarderSQLite.Configuration {
    var configuration = database
    configuration.cacheSize = min(database.cacheSize, cacheSize / max(1, maximumOpen))
    configuration.flags.remove(.uri)
    return configuration
  }
}
