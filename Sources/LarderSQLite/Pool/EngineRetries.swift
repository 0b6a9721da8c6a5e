/// The retries of another engine's scopes, which can collide with others and lose their connection.
package protocol EngineRetries: Sendable {
  /// Runs a scope again and again until it succeeds, or isn't to be retried any more.
  func run(
    _ kind: ScopeKind, _ call: ScopeCall, on connections: Connections,
    _ body: (Database) throws -> Void
  ) throws

  /// Async variant. Suspends the task while it waits.
  func run<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall, on connections: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T

  func describe(_ statistics: inout AccessStatistics)
}

/// The replicas of another engine's server, to which reads go first.
package protocol EngineReplicas: Sendable {
  /// Runs a read on a replica. False if no replica can run it now, so that it has to run on the primary, from
  /// its beginning.
  func run(
    _ call: ScopeCall, besides primary: Connections, _ body: (Database) throws -> Void
  ) throws -> Bool

  /// Async variant. Nil if no replica can run the read now.
  func run<T: Sendable>(
    _ call: ScopeCall, besides primary: Connections,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T?

  func interrupt()
  func releaseIdle()
  func close() throws
}
