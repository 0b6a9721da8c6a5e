import LarderSQLite

/// Many databases on one machine, a file each by key: one for each tenant, user or device.
///
/// ```swift
/// let fleet = try DatabaseFleet(in: "tenants", configuration: .init(migrator: migrator))
/// try fleet.inTransaction("acme") { db in try City(name: "Oslo").insert(db) }
/// let count = try await fleet.read("globex") { db in try City.all.fetchCount(db) }
/// ```
///
/// A database is opened when it is used, migrated if that is needed, and stays open for the next use: at most
/// ``FleetConfiguration/maximumOpen`` of them, of which the one that was unused for longest is closed for another
/// (LRU), and each after ``FleetConfiguration/idleTime``. One in use is never closed: where all are, a call
/// waits for its turn (FIFO) up to ``LarderSQLite/Configuration/scopeTimeout``. Each is a
/// ``LarderSQLite/DatabaseQueue`` with a writer line of its own: no tenant waits for another, nor for the
/// opening or migration of another's.
///
/// Keys are any texts but the empty one, such as what users typed: they become file names by percent-encoding, as
/// `acme%20%26%20sons.db`. Two keys are the same if their bytes are.
///
/// Calls throw what those of ``LarderSQLite/DatabaseAccess`` do, and ``FleetError`` for keys; what opening or
/// migrating throws, such as ``MigrationError``, all get who wait for it, and the next call tries again. A file that
/// was moved or removed throws `ResultCode.readOnlyMoved` to those who write to it; then, and after its content was
/// restored, the database is opened anew, and migrated, for the next call. They
/// throw `ResultCode.busyTimeout` where a database isn't open after the scope timeout: all others are in use,
/// as by scopes that wait for this one, or its migration takes longer, and goes on. Several processes may use a
/// folder, each with a fleet of its own.
public final class DatabaseFleet: Sendable {
  let tenants: OpenTenants
  let files: TenantFiles
  /// How it opens databases.
  public let configuration: FleetConfiguration

  /// A fleet in a folder, which is made if there is none. Throws `ResultCode.cannotOpen` where that can't be, and
  /// ``FleetError/wrongExtension(_:)``.
  public init(in folder: String, configuration: FleetConfiguration = .init()) throws {
    self.configuration = configuration
    files = try TenantFiles(folder, configuration)
    tenants = OpenTenants(files, configuration)
  }

  /// The folder, from the root.
  public var folder: String { files.folder }

  // MARK: Which there are

  /// The keys of all databases, in the order of their bytes. Reads the folder, of which the file system decides
  /// whether databases that are being made or removed are in it.
  public func keys() throws -> [String] { try files.keys() }

  /// Whether there is a database. Throws ``FleetError`` for what is no key.
  public func exists(_ key: String) throws -> Bool { TenantFiles.exists(try path(of: key)) }

  /// The path of a key's file, whether it is there or not: for tools, and for copies. Throws ``FleetError`` for
  /// what is no key.
  public func path(of key: String) throws -> String { try files.path(of: TenantKey(key)) }

  /// Makes a database, migrated, whatever ``FleetConfiguration/createsDatabases`` says. Returns whether it is
  /// new; one that is there stays as it is, but for migrations.
  @discardableResult
  public func create(_ key: String) throws -> Bool {
    let isNew = try files.create(path(of: key))
    // What is open is a file that was removed behind its back.
    if isNew { try tenants.forget(key) }
    try withDatabase(key) { _ in }
    return isNew
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func create(_ key: String) async throws -> Bool {
    let isNew = try files.create(path(of: key))
    if isNew { try tenants.forget(key) }
    let (tenant, _) = try await tenants.acquire(key, for: .scope)
    tenants.release(tenant)
    return isNew
  }

  /// Waits until nobody uses a database, then removes its file and what SQLite has beside it, if there are any.
  /// Calls that come meanwhile wait, and find it gone.
  ///
  /// Throws `ResultCode.busyTimeout` where its users take longer than the scope timeout, as a scope of the
  /// database does that calls this, and `ResultCode.busy` where another process has it open in write-ahead
  /// mode.
  public func remove(_ key: String) throws { _ = try tenants.acquire(key, for: .removal) }

  /// As the form that isn't asynchronous.
  public func remove(_ key: String) async throws {
    _ = try await tenants.acquire(key, for: .removal)
  }

  // MARK: Threads

  /// Calls a closure with a database, for all that scopes aren't for, such as observing it. It stays open until
  /// the closure returns, and must neither be closed by it nor used afterwards.
  @discardableResult
  public func withDatabase<T>(_ key: String, _ body: (DatabaseQueue) throws -> T) throws -> T {
    let (tenant, queue) = try tenants.acquire(key, for: .scope)
    defer { tenants.release(tenant, queue) }
    guard let queue else { throw DatabaseError(.internal, "the tenant has no queue") }
    return try HeldTenants.$tenants.withValue(HeldTenants.tenants + [tenant]) { try body(queue) }
  }

  /// As `inDatabase` of ``LarderSQLite/DatabaseAccess``, with one of the databases.
  @discardableResult
  public func inDatabase<T>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.inDatabase(label: label, line: line, body) }
  }

  /// As `inTransaction` of ``LarderSQLite/DatabaseAccess``, with one of the databases.
  @discardableResult
  public func inTransaction<T>(
    _ key: String, _ kind: TransactionKind = .immediate, label: StaticString = #function,
    line: UInt = #line, _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.inTransaction(kind, label: label, line: line, body) }
  }

  /// As `read` of ``LarderSQLite/DatabaseAccess``, with one of the databases.
  public func read<T>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: (Database) throws -> T
  ) throws -> T {
    try withDatabase(key) { try $0.read(label: label, line: line, body) }
  }

  // MARK: Tasks

  /// As the form that isn't asynchronous, for a closure that awaits something. A task that is cancelled while
  /// it waits for its database throws `CancellationError`.
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

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inDatabase<T: Sendable>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.inDatabase(label: label, line: line, body) }
  }

  /// As the form that isn't asynchronous.
  @discardableResult
  public func inTransaction<T: Sendable>(
    _ key: String, _ kind: TransactionKind = .immediate, label: StaticString = #function,
    line: UInt = #line, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.inTransaction(kind, label: label, line: line, body) }
  }

  /// As the form that isn't asynchronous.
  public func read<T: Sendable>(
    _ key: String, label: StaticString = #function, line: UInt = #line,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try await withDatabase(key) { try await $0.read(label: label, line: line, body) }
  }

  // MARK: All

  /// What is open, and what was done. It can be asked at any time.
  public var statistics: FleetStatistics { tenants.statistics }

  /// Waits for the scopes that were called before, and closes all databases. Later calls throw
  /// `ResultCode.misuse`; closing again does nothing.
  ///
  /// Throws `ResultCode.busyTimeout`, and goes on, where a scope takes longer than the scope timeout to end.
  public func close() throws { try tenants.close() }

  /// As the form that isn't asynchronous, without blocking a thread of the cooperative pool.
  public func close() async throws { try await tenants.close() }
}
