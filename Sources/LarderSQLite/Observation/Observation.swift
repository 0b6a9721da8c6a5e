import Synchronization

/// Keeps a closure called, as that of `values(of:onError:onValue:)` or of a hook, until it is
/// cancelled or released.
public final class Observation: Sendable {
  private let end: Lock<(@Sendable () -> Void)?>

  init(_ end: @escaping @Sendable () -> Void) { self.end = Lock(end) }

  /// Ends it: the closure isn't called again, though a call that runs goes on. From any thread; ending again
  /// does nothing.
  public func cancel() {
    let end = end.withLock { $0.take() }
    end?()
  }

  deinit { cancel() }
}
