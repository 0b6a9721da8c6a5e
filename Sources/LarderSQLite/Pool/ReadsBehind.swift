// Reads that have to see the log up to a position.

extension Connections {
  /// Runs a read that has to see the log up to a position: on a replica that has replayed it, else on the
  /// primary, which has all of it.
  package func read<T>(
    notBefore position: LogPosition, _ label: StaticString, _ line: UInt,
    _ body: (Database) throws -> T
  ) throws -> T {
    let call = ScopeCall(label, line)
    var result: T?
    let isRead = try readFromReplica(call, notBefore: position) { result = try body($0) }
    if isRead, let moved = result.take() { return moved }
    return try performOnPrimary(.read, call, body)
  }

  func performOnPrimary<T>(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> T
  ) throws -> T {
    var result: T?
    try runOnPrimary(kind, call) { result = try body($0) }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  /// Async variant. Suspends the task.
  package func read<T: Sendable>(
    notBefore position: LogPosition, _ label: StaticString, _ line: UInt,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let call = ScopeCall(label, line)
    if let replicas,
      let value = try await replicas.run(call, notBefore: position, besides: self, body)
    {
      return value
    }
    return try await performOnPrimary(.read, call, body)
  }
}
