import FoundationEssentials

/// One connection that many threads and tasks use, first come first served.
///
/// ```swift
/// let queue = try DatabaseQueue(path: "cities.db")
/// try queue.inTransaction { db in
///   try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "Oslo")
/// }
/// let count = try queue.read { db in try db.value("SELECT count(*) FROM city", as: Int.self) }
/// ```
///
/// A queue suits programs that mostly write, databases in memory, and files without a write-ahead log. If
/// reading takes time, or is done by many, a ``DatabasePool`` reads beside the writer. Commits survive a
/// crash of the process. With the profile `.durable` they survive a loss of power too; with `.service` all
/// but the last ones do.
///
/// The calls are those of ``DatabaseAccess``.
public final class DatabaseQueue: DatabaseAccess {
  /// The one connection.
  @_documentation(visibility: internal)
  public let connections: Connections

  /// Opens the database; throws as ``Database/init(path:configuration:)`` does.
  public init(path: String? = nil, configuration: Configuration = .init()) throws {
    connections = Connections(
      writer: try Writer(path: path, configuration: configuration), pool: nil)
  }

  /// Opens the database at a file URL. Throws as ``Database/init(url:configuration:)`` does.
  public convenience init(url: URL, configuration: Configuration = .init()) throws {
    try self.init(path: Database.path(of: url), configuration: configuration)
  }

  /// The path that the database was opened with.
  public var path: String? { connections.writer?.path }
}
