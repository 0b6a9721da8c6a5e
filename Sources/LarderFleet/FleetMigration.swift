import Larder

// Migrating all databases of a fleet.

extension DatabaseFleet {
  /// Migrates all databases, instead of each when it is used: before a new version starts, or while it
  /// runs.
  ///
  /// ```swift
  /// try await fleet.migrateAll(concurrency: 8) { print("\($0.done) of \($0.total)") }
  /// ```
  ///
  /// Each database is opened in turn, takes a place of ``FleetConfiguration/maximumOpen`` as for a scope,
  /// and is closed afterwards. One that fails stays as it was (``Larder/MigrationError``) and doesn't keep others
  /// from being migrated. Each database's history records what was done: called again after an error or a
  /// kill, this only looks at the migrated ones, and continues with the rest; no migration runs twice.
  ///
  /// - Parameters:
  ///   - concurrency: how many to migrate at a time: 1 to 64, and at most half of
  ///     ``FleetConfiguration/maximumOpen``, so that there is room for others.
  ///   - progress: called after each database, one call at a time. An error that it throws ends the run
  ///     once the databases in progress are done, and is rethrown. It must not wait for the fleet.
  ///
  /// Throws ``FleetError/failures(_:)`` with each database that failed, `ResultCode.misuse` if there is no
  /// ``FleetConfiguration/migrator``, and what ``keys()`` throws.
  @discardableResult
  public func migrateAll(
    concurrency: Int = 4, progress: (@Sendable (FleetProgress) throws -> Void)? = nil
  ) throws -> FleetReport {
    try migration(progress).run(bounded(concurrency))
  }

  /// Async variant. If its task is cancelled, it throws `CancellationError` once the databases in progress
  /// are done.
  @discardableResult
  public func migrateAll(
    concurrency: Int = 4, progress: (@Sendable (FleetProgress) throws -> Void)? = nil
  ) async throws -> FleetReport {
    try await migration(progress).run(bounded(concurrency))
  }

  private func bounded(_ concurrency: Int) -> Int {
    max(1, min(concurrency, configuration.maximumOpen / 2))
  }

  private func migration(
    _ progress: (@Sendable (FleetProgress) throws -> Void)?
  ) throws -> FleetRun {
    guard configuration.migrator != nil else {
      throw DatabaseError(.misuse, "the fleet has no migrator to migrate its databases with")
    }
    try tenants.checkOpen()
    let tenants = tenants
    return FleetRun(try keys(), progress: progress) { key in
      do {
        let (tenant, _) = try tenants.acquire(key, for: .migration)
        defer { tenants.release(tenant) }
        return try tenants.takeMigrated(tenant) ? .changed : .unchanged
      } catch FleetError.noDatabase {
        // The database was removed meanwhile.
        return .unchanged
      }
    }
  }
}
