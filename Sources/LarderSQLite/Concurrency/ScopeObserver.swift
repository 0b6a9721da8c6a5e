/// An observer of a queue or pool, which ends with it.
protocol ScopeObserver: AnyObject, Sendable {
  /// Called once the queue or pool was closed.
  func hasClosed()
}
