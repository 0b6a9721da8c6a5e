import Synchronization

/// A handle that keeps a closure registered, such as that of `values(of:onError:onValue:)` or of a hook,
/// until it is cancelled or released.
public final class Observation: Sendable {
  private let end: Lock<(@Sendable () -> Void)?>

  init(_ end: @escaping @Sendable () -> Void) { self.end = Lock(end) }

  /// Ends the observation. The closure isn't called again, but a running call completes. Can be called from
  /// any thread; calling it again does nothing.
  public func cancel() {
    let end = end.withLock { $0.take() }
    end?()
  }

  deinit { cancel() }
}
