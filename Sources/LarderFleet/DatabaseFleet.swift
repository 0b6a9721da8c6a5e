import Larder

/// Many databases on one machine, each a file that is found by a key: one for each tenant, user or device.
///
/// ```swift
/// let fleet = try DatabaseFleet(in: "tenants", configuration: .init(migrator: migrator))
/// try fleet.inTransaction("acme") { db in try City(name: "Oslo").insert(db) }
/// let count = try await fleet.read("globex") { db in try City.all.fetchCount(db) }
/// ```
///
/// A database is opened when it is used, migrated if needed, and kept open for the next use. At most
/// ``FleetConfiguration/maximumOpen`` are open: the least recently used one is closed for another
/// (LRU), and each of them after ``FleetConfiguration/idleTime``. A database in use is never closed:
/// if all are in use, a call waits for its turn (FIFO) up to ``LarderSQLite/Configuration/scopeTimeout``. Each
/// is a ``LarderSQLite/DatabaseQueue`` with a writer lock of its own: no tenant waits for another's scopes,
/// opening or migration.
///
/// A key is any text but the empty one, even as typed by users: percent-encoding makes it a file name, such
/// as `acme%20%26%20sons.db`. Two keys are the same if their bytes are.
///
/// Calls throw what those of ``LarderSQLite/DatabaseAccess`` throw, and ``FleetError`` for keys. If opening
/// or migrating fails, as with ``Larder/MigrationError``, all callers that wait for it get the error, and the next
/// call tries again. Writing to a file that was moved or removed throws `ResultCode.readOnlyMoved`. After
/// that, or after its content was restored, the next call opens and migrates the database anew. Calls throw
/// `ResultCode.busyTimeout` if the database isn't open within the scope timeout: all others are in use,
/// perhaps by scopes that wait for this one, or its migration takes longer, and continues. Several
/// processes may use a folder, each with a fleet of its own.
public final class DatabaseFleet: Sendable {
  let tenants: OpenTenants
  let files: TenantFiles
  /// The settings by which the fleet opens its databases.
  package let configuration: FleetConfiguration

  /// A fleet in a folder, which is created if it doesn't exist. Throws `ResultCode.cannotOpen` if that
  /// fails, and ``FleetError/wrongExtension(_:)``.
  public init(in folder: String, configuration: FleetConfiguration = .init()) throws {
    self.configuration = configuration
    files = try TenantFiles(folder, configuration)
    tenants = OpenTenants(files, configuration)
  }

  /// The folder's absolute path.
  package var folder: String { files.folder }

  // MARK: Keys and files

  /// The keys of all databases, ordered by their bytes. Reads the folder; the file system decides whether
  /// databases that are just being created or removed are included. Throws `ResultCode.cannotOpen` if the
  /// folder can't be read.
  public func keys() throws -> [String] { try tenants.withDescriptors { try files.keys() } }

  /// Whether there is a database with this key. Throws ``FleetError`` for an invalid key.
  public func exists(_ key: String) throws -> Bool { TenantFiles.exists(try path(of: key)) }

  /// The path of a key's file, whether it exists or not, for tools and for copies. Throws ``FleetError``
  /// for an invalid key.
  public func path(of key: String) throws -> String { try files.path(of: TenantKey(key)) }

  /// Creates a database and migrates it, even if using one doesn't create it. Returns whether it is new; an
  /// existing one is only migrated.
  /// - Throws: ``FleetError`` for an invalid key, and what opening and migrating throw.
  @discardableResult
  public func create(_ key: String) throws -> Bool {
    let isNew = try createFile(key)
    try withDatabase(key) { _ in }
    return isNew
  }

  /// Async variant.
  @discardableResult
  public func create(_ key: String) async throws -> Bool {
    let isNew = try createFile(key)
    let (tenant, _) = try await tenants.acquire(key, for: .scope)
    tenants.release(tenant)
    return isNew
  }

  private func createFile(_ key: String) throws -> Bool {
    let isNew = try tenants.withDescriptors { try files.create(path(of: key)) }
    // A database that is open under this key is a file that was removed behind the fleet's back.
    if isNew { try tenants.forget(key) }
    return isNew
  }

  /// Waits until nobody uses a database, then removes its file and SQLite's files beside it, if there are
  /// any. Calls that come meanwhile wait, and find it gone.
  ///
  /// Throws `ResultCode.busyTimeout` if its users take longer than the scope timeout, as a scope of the
  /// database does that calls this, and `ResultCode.busy` if another process has it open in write-ahead
  /// mode. After an error of that kind, or of a cancelled task, nothing is removed, not even later.
  public func remove(_ key: String) throws { _ = try tenants.acquire(key, for: .removal) }

  /// Async variant.
  public func remove(_ key: String) async throws {
    _ = try await tenants.acquire(key, for: .removal)
  }

  // MARK: Threads

  /// Calls a closure with a database, for uses beyond scopes, such as observing it. The database stays open
  /// until the closure returns, which must neither close it nor let it be used afterwards.
  /// - Throws: ``FleetError``, what opening and migrating throw, and what the closure throws.
  @discardableResult
  public func withDatabase<T>(_ key: String, _ body: (DatabaseQueue) throws -> T) throws -> T {
    let (tenant, queue) = try tenants.acquire(key, for: .scope)
    defer { tenants.release(tenant, queue) }
    guard let queue else { throw DatabaseError(.internal, "the tenant has no queue") }
    return try HeldTenants.$tenants.withValue(HeldTenants.tenants + [tenant]) { try body(queue) }
  }

  /// Calls `inDatabase` of ``LarderSQLite/DatabaseAccess`` on one of the databases. Throws as
  /// `withDatabase` does.
  @discardableResult
  public func inDatabase<T>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.inDatabase(label: label, line: line, body) }
  }

  /// Calls `inTransaction` of ``LarderSQLite/DatabaseAccess`` on one of the databases. Throws as
  /// `withDatabase` does.
  @discardableResult
  public func inTransaction<T>(
    _ key: String, _ kind: TransactionKind = .immediate, label: StaticString = #function,
    line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.inTransaction(kind, label: label, line: line, body) }
  }

  /// Calls `read` of ``LarderSQLite/DatabaseAccess`` on one of the databases. Throws as `withDatabase`
  /// does.
  public func read<T>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.read(label: label, line: line, body) }
  }

  // MARK: Tasks

  /// Async variant, whose closure may await. A task that is cancelled while it waits for its database
  /// throws `CancellationError`.
  @discardableResult
  public func withDatabase<T: Sendable>(
    _ key: String, _ body: @Sendable (DatabaseQueue) async throws -> T
  ) async throws -> T {
    let (tenant, queue) = try await tenants.acquire(key, for: .scope)
    defer { tenants.release(tenant, queue) }
    guard let queue else { throw DatabaseError(.internal, "the tenant has no queue") }
    return try await HeldTenants.$tenants.withValue(HeldTenants.tenants + [tenant]) {
      try await body(queue)
    }
  }

  /// Async variant.
  @discardableResult
  public func inDatabase<T: Sendable>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.inDatabase(label: label, line: line, body) }
  }

  /// Async variant.
  @discardableResult
  public func inTransaction<T: Sendable>(
    _ key: String, _ kind: TransactionKind = .immediate, label: StaticString = #function,
    line: UInt = #line, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.inTransaction(kind, label: label, line: line, body) }
  }

  /// Async variant.
  public func read<T: Sendable>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.read(label: label, line: line, body) }
  }

  // MARK: All

  /// Counts of what is open, and of what the fleet has done. They can be read at any time.
  public var statistics: FleetStatistics { tenants.statistics }

  /// Waits for the scopes that were called before, then closes all databases. Later calls throw
  /// `ResultCode.misuse`; closing again does nothing.
  ///
  /// Throws `ResultCode.busyTimeout` if a scope takes longer than the scope timeout to end; the fleet then
  /// stays open.
  public func close() throws { try tenants.close() }

  /// Async variant, which doesn't block a thread of the cooperative pool.
  public func close() async throws { try await tenants.close() }
}
