// Reads that have to see the log up to a position.

extension Connections {
  /// Runs a read that has to see the log up to a position: on a replica that has replayed it, else on the
  /// primary, which has all of it.
  package func read<T>(
    notBefore position: LogPosition, _ call: ScopeCall, _ body: (Database) throws -> T
  ) throws -> T {
    var result: T?
    if try !readFromReplica(call, notBefore: position, { result = try body($0) }) {
      try runOnPrimary(.read, call) { result = try body($0) }
    }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  /// Async variant. Suspends the task.
  package func read<T: Sendable>(
    notBefore position: LogPosition, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    if let value = try await replicas?.run(call, notBefore: position, besides: self, body) {
      return value
    }
    return try await performOnPrimary(.read, call, body)
  }
}
