extension Connections {
  /// Runs a scope of another engine, with retries.
  func runRetrying(
    _ retries: EngineRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    var attempts = retries.attempts(kind, call)
    while true {
      do {
        try withoutActuallyEscaping(body) { try runOnce(kind, call, attempts.running($0)) }
        return attempts.noteSuccess()
      } catch {
        BusyHandler.sleep(try attempts.pause(after: DatabaseError.naming(engine, in: error)))
      }
    }
  }

  /// Async variant. Suspends the task.
  func performRetrying<T: Sendable>(
    _ retries: EngineRetries, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var attempts = retries.attempts(kind, call)
    while true {
      do {
        let isAlone = attempts.isAlone
        let limit = retries.limit
        let value = try await performOnce(kind, call) { database in
          if isAlone { try database.waitForTurn(limit) }
          return try body(database)
        }
        attempts.noteSuccess()
        return value
      } catch {
        let pause = try attempts.pause(after: DatabaseError.naming(engine, in: error))
        try await Task.sleep(for: pause)
      }
    }
  }
}
