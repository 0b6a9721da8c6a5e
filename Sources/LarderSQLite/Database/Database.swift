import CSQLite
import FoundationEssentials

/// One connection to a SQLite database.
///
/// ```swift
/// let db = try Database(path: "cities.db")
/// try db.executeUpdate("CREATE TABLE IF NOT EXISTS city (name TEXT NOT NULL, population INTEGER)")
/// try db.executeUpdate("INSERT INTO city VALUES (?, ?)", "Oslo", 709_037)
/// let cities = try db.executeQuery("SELECT name FROM city WHERE population > \(100_000)")
/// while try cities.next() {
///   print(try cities.get("name", as: String.self))
/// }
/// ```
///
/// A database has one user at a time and is not Sendable: a program with several threads or tasks
/// goes through a queue or a pool. Every call that can't do its work throws: ``DatabaseError``, or
/// ``ConversionError`` for values. On a closed database that is `ResultCode.misuse`; properties
/// have a neutral value then, which their documentation tells.
public final class Database {
  @usableFromInline package let connection: Connection
  let cache: StatementCache
  let transactionStatements = TransactionStatements()
  /// The statements used by result sets and ``Statement`` objects. Each knows its index here.
  @exclusivity(unchecked) private(set) var open: [PreparedStatement] = []
  /// The open blobs, which end with the scope too.
  @exclusivity(unchecked) var openBlobs: [BlobHandle] = []
  /// Whether the transaction or savepoint of the innermost scope has to be rolled back.
  @exclusivity(unchecked) package var isRollbackOnly = false
  /// Whether the scope that runs has begun: BEGIN has succeeded.
  @exclusivity(unchecked) var hasBegun = false
  /// A lock that is held during a checkpoint, if a pool makes checkpoints too.
  var checkpoints: Lock<Int>?
  /// Whether commits share syncs with those of other callers, by ``GroupCommit``.
  var sharesSyncs = false
  /// The path that the database was opened with: nil for one in memory, empty for a temporary file.
  public let path: String?
  package let configuration: Configuration

  /// Opens a database and verifies that it is one.
  ///
  /// - Parameters:
  ///   - path: a file, which is created if there is none (readable and writable by its owner
  ///     only); `""` for a temporary file that goes away when the database is closed; nil for a
  ///     database in memory.
  ///   - configuration: how to open it and what to allow.
  ///
  /// Throws ``DatabaseError`` with the path and the cause: a missing folder, no permission, a file
  /// that is no database, an unknown VFS, a lock that lasts longer than the busy timeout.
  public convenience init(path: String? = nil, configuration: Configuration = .init()) throws {
    self.init(
      connection: try ConnectionOpening.open(path: path, configuration: configuration), path: path,
      configuration: configuration)
    try setUp(configuration)
  }

  init(connection: Connection, path: String?, configuration: Configuration) {
    self.connection = connection
    self.path = path
    self.configuration = configuration
    cache = StatementCache(capacity: configuration.statementCacheCapacity)
  }

  /// Opens the database at a file URL. Throws as ``init(path:configuration:)`` does, and
  /// `ResultCode.cannotOpen` for any other URL.
  public convenience init(url: URL, configuration: Configuration = .init()) throws {
    try self.init(path: Self.path(of: url), configuration: configuration)
  }

  static func path(of url: URL) throws -> String {
    guard url.isFileURL else {
      throw DatabaseError(.cannotOpen, "not a file URL: \(url.absoluteString)")
    }
    return url.path
  }

  deinit { closeEverything() }

  /// Finalizes all statements and closes the connection. A transaction that is open is rolled
  /// back. Result sets and statements throw from now on. Closing again does nothing.
  ///
  /// Throws on another thread than the scope's, in another process, in a scope, or from inside a call
  /// to SQLite, such as a custom function.
  public func close() throws {
    guard connection.isOpen else { return }
    try connection.check()
    guard connection.callDepth == 0 else {
      throw DatabaseError(.misuse, "the database can't be closed from inside a call to SQLite")
    }
    guard !connection.isScoped else {
      throw DatabaseError(.misuse, "a scope can't close its database; close the queue or pool")
    }
    optimizeBeforeClosing()
    closeEverything()
  }

  package func closeEverything() {
    closeOpenStatements()
    cache.removeAll()
    transactionStatements.removeAll()
    let isOwn = connection.isOpen && connection.isOfThisProcess
    connection.close()
    if isOwn { connection.leftover?.remove() }
  }

  /// The format of dates in columns that have none of their own.
  package var dateFormat: DateFormat { connection.dateFormat }

  /// Whether the database is open.
  public var isOpen: Bool { connection.isOpen }

  /// Whether a simple query works; false when the database is closed.
  public var isGoodConnection: Bool {
    do {
      return try value(
        engine == nil ? "SELECT count(*) FROM sqlite_schema" : "SELECT 1", as: Int.self) != nil
    } catch {
      return (error as? DatabaseError)?.code == .authorization
    }
  }

  /// The row id of the last row that this connection inserted, or 0; always 0 on another engine, which has
  /// `INSERT … RETURNING` instead.
  public var lastInsertRowID: Int64 {
    connection.usableHandle.map { sqlite3_last_insert_rowid($0) } ?? 0
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE changed, triggers aside, or 0.
  public var changes: Int {
    if engine != nil { return connection.lastEngineChanges }
    return connection.usableHandle.map { Int(sqlite3_changes64($0)) } ?? 0
  }

  /// The number of rows changed since the database was opened, triggers included (of SQLite), or 0.
  public var totalChanges: Int {
    if engine != nil { return connection.engineChanges }
    return connection.usableHandle.map { Int(sqlite3_total_changes64($0)) } ?? 0
  }

  /// Whether a transaction is open, however it was begun; false when the database is closed. SQLite
  /// is asked, because an error may have rolled the transaction back. A read scope counts as one,
  /// even if nobody else can write, so that SQLite has none open.
  public var isInTransaction: Bool {
    hasTransaction && !connection.owesRollback
      || connection.isAccessible && connection.restrictions.contains(.writing)
  }

  var hasTransaction: Bool { connection.isAccessible && connection.hasTransaction }

  /// Whether the database can only be read; false when it is closed.
  public var isReadOnly: Bool {
    if let engine { return connection.isAccessible && engine.isReadOnly }
    return connection.usableHandle.map { sqlite3_db_readonly($0, "main") == 1 } ?? false
  }

  /// How long to wait for other connections' locks, from the next call on; zero doesn't wait.
  public var busyTimeout: Duration {
    get { connection.busyHandler.timeout }
    set {
      guard connection.isAccessible else { return }
      connection.settingsToRestore?.keep(\.busyTimeout, busyTimeout)
      connection.busyHandler.timeout = newValue
    }
  }

  /// How long a statement may run, from its next execution on; nil for no limit.
  public var statementDeadline: Duration? {
    get { connection.deadlines.limit }
    set {
      guard connection.isOpen, connection.isAccessible else { return }
      connection.settingsToRestore?.keep(\.statementDeadline, statementDeadline)
      connection.deadlines.set(newValue, on: connection.handle)
    }
  }

  /// The preset of what statements may do from now on; nil allows everything. Statements that are
  /// prepared already are recompiled under it. Another engine has no authorizer: setting one makes
  /// all calls throw ``UnsupportedByEngine``, until it is nil again or the scope ends.
  public var authorizer: Authorizer? {
    get { connection.authorizer.preset }
    set {
      guard let handle = connection.usableHandle else {
        return connection.noteUnsupported(newValue == nil ? nil : "authorizer")
      }
      connection.settingsToRestore?.keep(\.authorizer, authorizer)
      connection.authorizer.set(newValue, on: handle)
    }
  }

  /// The value of a limit, or 0 when the database is closed.
  public func limit(_ limit: Limit) -> Int {
    if let engine, connection.isAccessible { return limit == .variables ? engine.variableLimit : 0 }
    guard let handle = connection.usableHandle else { return 0 }
    return Int(sqlite3_limit(handle, limit.rawValue, -1))
  }

  /// Sets a limit and returns the value it had. SQLite cuts it to the bound it was built with;
  /// negative values are taken as 0. Throws when the database is closed, and
  /// ``UnsupportedByEngine`` if the engine isn't SQLite.
  @discardableResult
  public func setLimit(_ limit: Limit, _ value: Int) throws -> Int {
    let handle = try connection.sqlite()
    let before = sqlite3_limit(handle, limit.rawValue, Int32(clamping: max(0, value)))
    connection.settingsToRestore?.keep(limit, before)
    return Int(before)
  }

  /// Makes the statements that run now throw `ResultCode.interrupt`. To do so from another
  /// thread, keep an ``interruptHandle`` there.
  public func interrupt() { connection.interruptHandle.interrupt() }

  /// The handle by which another thread can interrupt this connection.
  public var interruptHandle: InterruptHandle { connection.interruptHandle }

  // MARK: Statements

  /// Remembers a statement that outlives the call, so that it can be closed with the database.
  func addOpen(_ statement: PreparedStatement, as user: (Int) -> PreparedStatement.User) {
    statement.user = user(open.count)
    open.append(statement)
  }

  func removeOpen(_ statement: PreparedStatement) {
    guard let place = statement.user.place else { return }
    statement.user = .call
    let last = open.removeLast()
    if last !== statement {
      open[place] = last
      last.user.place = place
    }
  }

  /// Whether result sets, statements or blobs are open.
  public var hasOpenStatements: Bool { !open.isEmpty || !openBlobs.isEmpty }

  /// Closes all result sets, statements and blobs that are open.
  public func closeOpenStatements() {
    for blob in openBlobs { blob.close() }
    openBlobs = []
    for statement in open where !statement.closesLater() {
      removeOpen(statement)
      giveBack(statement)
    }
  }

  /// How many statements the cache keeps at most; the surplus is dropped at once. See
  /// ``Configuration/statementCacheCapacity``.
  public var statementCacheCapacity: Int {
    get { cache.capacity }
    set {
      guard connection.isAccessible else { return }
      connection.settingsToRestore?.keep(\.statementCacheCapacity, cache.capacity)
      cache.capacity = newValue
    }
  }

  /// The statement cache's counters so far, for the statements of records and queries and those of SQL alike:
  /// look-ups that found a compiled statement, look-ups that had to compile one, statements dropped to make
  /// room, and statements in the cache now. Those that begin and end scopes' transactions don't count.
  public var statementCacheStatistics: (hits: Int, misses: Int, evictions: Int, count: Int) {
    cache.statistics
  }

  /// Drops all statements from the cache.
  public func clearStatementCache() { cache.removeAll() }
}

@available(*, unavailable)
extension Database: Sendable {}
