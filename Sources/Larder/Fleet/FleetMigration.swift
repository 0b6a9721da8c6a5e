import LarderSQLite

// Migrating all databases of a fleet.

extension DatabaseFleet {
  /// Migrates all databases, instead of each when it is used: at the start of a new version, or beside it.
  ///
  /// ```swift
  /// try await fleet.migrateAll(concurrency: 8) { print("\($0.done) of \($0.total)") }
  /// ```
  ///
  /// Each is opened in its turn, in a place of its own as for a scope, and closed after it. One that fails
  /// stays as it was (``MigrationError``) and keeps none of the others. What is done is in each database's
  /// history: called again, after an error or a kill, it looks at those that are done, and goes on with the
  /// rest; no migration runs twice.
  ///
  /// - Parameters:
  ///   - concurrency: how many to migrate at a time: 1 to 64, and at most half of
  ///     ``FleetConfiguration/maximumOpen``, so that there is room for others.
  ///   - progress: called after each, one call at a time. What it throws ends the run, once those are done that have
  ///     begun, and is thrown. It must not wait for the fleet.
  ///
  /// Throws ``FleetError/failures(_:)`` with each that failed, `ResultCode.misuse` where there is no
  /// ``FleetConfiguration/migrator``, and what ``keys()`` does.
  @discardableResult
  public func migrateAll(
    concurrency: Int = 4, progress: (@Sendable (FleetProgress) throws -> Void)? = nil
  ) throws -> FleetReport {
    try migration(progress).run(bounded(concurrency))
  }

  /// As the form that isn't asynchronous. When its task is cancelled, it throws `CancellationError` once those
  /// are done that have begun.
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
        // It was removed meanwhile.
        return .unchanged
      }
    }
  }
}
