/// Reports the commits on another engine, by whomever, to the observers of values.
package protocol EngineObservation: Sendable {
  /// Begins to report to an observer, and returns once no later commit is missed.
  ///
  /// - Parameter tell: called with the tables that commits have touched, by the engine's numbers; nil if
  ///   commits may have been missed. Observers of the same connections all give the same closure: one is
  ///   called.
  func begin(_ observer: Int, _ tell: @escaping @Sendable (Set<UInt32>?) -> Void) async throws
  /// Ends reporting to an observer. Does nothing if it hasn't begun.
  func end(_ observer: Int)
  /// Ends reporting to all.
  func close()
}

extension Connections {
  /// Runs a read of an observer in the caller's task: never on a replica, which may lack the commit of which
  /// the observer was told.
  func performForObserver<T: Sendable>(
    _ call: ScopeCall, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    guard replicas != nil else { return try await perform(.read, call, body) }
    do {
      return try await performOnPrimary(.read, call, body)
    } catch {
      throw reported(error, call)
    }
  }
}
