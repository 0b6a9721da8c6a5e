import FoundationEssentials

/// One connection that writes and several that read beside it, for many threads and tasks.
///
/// ```swift
/// let pool = try DatabasePool(path: "cities.db")
/// try await pool.inTransaction { db in try db.executeUpdate("DELETE FROM city") }
/// let names = try await pool.read { db in
///   try db.executeQuery("SELECT name FROM city").map { try $0.get(at: 0, as: String.self) }
/// }
/// ```
///
/// Each read sees the database as it was when it began, and neither waits for the writer nor makes
/// it wait; that takes a file with a [write-ahead log](https://www.sqlite.org/wal.html). Writing is
/// as with a ``DatabaseQueue``. Readers are opened as they are needed, up to
/// ``Configuration/maximumReaders``; when all are busy, the next scope waits up to
/// ``Configuration/scopeTimeout``.
///
/// The calls are those of ``DatabaseAccess``.
public final class DatabasePool: DatabaseAccess {
  /// The writer and the readers.
  @_documentation(visibility: internal)
  public let connections: Connections

  /// Opens the file and sets its journal mode to WAL. Throws as ``Database/init(path:configuration:)`` does,
  /// and `ResultCode.cannotOpen` for a database in memory, a temporary one, and a file that can't have a
  /// write-ahead log.
  public init(path: String, configuration: Configuration = .init()) throws {
    guard !path.isEmpty, path != ":memory:" else {
      throw DatabaseError(
        .cannotOpen, "a pool needs a file that its connections share; use DatabaseQueue")
    }
    var configuration = configuration
    if !configuration.readOnly { configuration.journalMode = .wal }
    let writer = try Writer(path: path, configuration: configuration)
    let readers = ConnectionPool(beside: writer, configuration: configuration)
    let connections = Connections(writer: writer, pool: readers)
    let mode = try connections.performSeldom(.plain, ScopeCall("init(path:)")) { db in
      try db.value("PRAGMA journal_mode", as: String.self)
    }
    guard mode == "wal" else {
      throw DatabaseError(
        .cannotOpen,
        "a pool needs a write-ahead log, but the journal mode of \(path) is \(mode ?? "")")
    }
    try writer.shareLog(with: readers, configuration)
    self.connections = connections
  }

  /// Opens the database at a file URL. Throws as ``Database/init(url:configuration:)`` does.
  public convenience init(url: URL, configuration: Configuration = .init()) throws {
    try self.init(path: Database.path(of: url), configuration: configuration)
  }

  /// The path that the database was opened with.
  public var path: String { connections.writer?.path ?? "" }

  /// Closes the connections of idle readers.
  public func releaseIdleConnections() { connections.pool?.releaseIdle() }
}
