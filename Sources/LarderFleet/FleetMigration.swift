import Larder

// Migrating all databases of a fleet.

extension DatabaseFleet {
  /// Migrates all databases, instead of each when it is used: before a new version starts, or while it
  /// runs.
  ///
  /// ```swift
  /// try await fleet.migrate(concurrency: 8) { print("\($0.count) of \($0.total)") }
  /// ```
  ///
  /// Each database is opened in turn, takes a place of ``FleetConfiguration/maximumOpen`` as for a
  /// scope, and is closed afterwards. One that fails stays as it was (``Larder/MigrationError``) and doesn't
  /// keep others from being migrated. Each database's history records what was done: called again after an error or a
  /// kill, this only looks at the migrated ones, and continues with the rest; no migration runs twice. One that
  /// is open and was restored from an older copy meanwhile is migrated between its scopes.
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
  public func migrate(
    concurrency: Int = 4, progress: (@Sendable (FleetReport) throws -> Void)? = nil
  ) throws -> FleetReport {
    try migration(progress).run(bounded(concurrency))
  }

  /// Async variant. If its task is cancelled, it throws `CancellationError` once the databases in progress
  /// are done.
  @discardableResult
  public func migrate(
    concurrency: Int = 4, progress: (@Sendable (FleetReport) throws -> Void)? = nil
  ) async throws -> FleetReport {
    try await migration(progress).run(bounded(concurrency))
  }

  private func bounded(_ concurrency: Int) -> Int {
    max(1, min(concurrency, configuration.maximumOpen / 2))
  }

  private func migration(
    _ progress: (@Sendable (FleetReport) throws -> Void)?
  ) throws -> FleetRun {
    guard let migrator = configuration.migrator else {
      throw DatabaseError(.misuse, "the fleet has no migrator to migrate its databases with")
    }
    try tenants.checkOpen()
    let (tenants, files) = (tenants, files)
    return FleetRun(try keys(), progress: progress) { key in
      do {
        let start = MonotonicClock.now
        let (tenant, queue) = try tenants.acquire(key, for: .migration)
        defer { tenants.release(tenant) }
        var wasMigrated = try tenants.takeMigrated(tenant)
        // One that was open already may have been restored since it was migrated, even by another process.
        // A connection of its own looks, which doesn't wait for scopes.
        if let queue, tenants.isOpened(tenant, before: start), TenantFiles.exists(tenant.path),
          try !tenants.withDescriptors({ try migrator.pending(files.openForCopy(tenant.path)) })
            .isEmpty
        {
          try migrator.migrate(queue) { _ in wasMigrated = true }
        }
        return wasMigrated ? .changed : .unchanged
      } catch FleetError.noDatabase {
        // The database was removed meanwhile.
        return .unchanged
      }
    }
  }
}
