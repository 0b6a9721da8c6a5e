/// What observes a queue or pool, and ends with it.
protocol ScopeObserver: AnyObject, Sendable {
  /// The queue or pool was closed.
  func hasClosed()
}
