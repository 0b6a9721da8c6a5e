import Larder
import Synchronization

/// Wakes a worker's loop: when messages come, at a time, and when it is to end.
final class OutboxBell: Sendable {
  private let bells: AsyncStream<Void>
  private let bell: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  private struct State {
    var isEnding = false
    var observer: Task<Void, Never>?
    var handling: Task<Void, any Error>?
    /// Whether a batch is delivered, or its delivery isn't noted yet.
    var isDelivering = false
    /// Whether a batch is handled in a transaction.
    var isInHandler = false
  }

  init() { (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  var isEnding: Bool { state.withLock { $0.isEnding } }

  func end() {
    let handling = state.withLock { state in
      state.isEnding = true
      return state.handling
    }
    handling?.cancel()
    bell.yield()
  }

  /// Notes the task that handles a batch, which ends with the worker.
  func handling(_ task: Task<Void, any Error>?) {
    let isEnding = state.withLock { state in
      state.handling = task
      return state.isEnding
    }
    if isEnding { task?.cancel() }
  }

  var isDelivering: Bool { state.withLock { $0.isDelivering } }

  /// Delivers a batch, and notes that.
  func delivering(_ body: () async throws -> Void) async rethrows {
    state.withLock { $0.isDelivering = true }
    defer { state.withLock { $0.isDelivering = false } }
    try await body()
  }

  /// Whether a batch is being handled.
  var isHandling: Bool { state.withLock { $0.isInHandler || $0.handling != nil } }

  /// Handles a batch in a transaction.
  func handling(_ body: () throws -> Void) rethrows {
    state.withLock { $0.isInHandler = true }
    defer { state.withLock { $0.isInHandler = false } }
    try body()
  }

  /// Begins to observe, unless it does already.
  func observe(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard state.observer == nil, !state.isEnding else { return }
      state.observer = Task { await body() }
    }
  }

  func endObserving() {
    let observer = state.withLock { state in
      defer { state.observer = nil }
      return state.observer
    }
    observer?.cancel()
    bell.yield()
  }

  /// Waits until it rings, but not for longer than a time.
  func wait(_ time: Duration) async {
    let timer = Task { [bell] in
      guard (try? await Task.sleep(for: time)) != nil else { return }
      bell.yield()
    }
    for await _ in bells { break }
    timer.cancel()
  }
}
