import LarderSQLite

/// The notifications that wait for one consumer, up to a limit.
final class NotificationBuffer: Sendable {
  private let limit: Int
  private let state = Lock(State())

  private struct State {
    var items: [ServerNotification] = []
    /// The index of the next item.
    var first = 0
    var waiter: CheckedContinuation<Void, Never>?
    var isOver = false
    var failure: (any Error)?

    mutating func takeFirst() -> ServerNotification? {
      guard first < items.count else { return nil }
      defer {
        first += 1
        // The items that were taken are removed together.
        if first == items.count || first >= 256 {
          items.removeFirst(first)
          first = 0
        }
      }
      return items[first]
    }

    mutating func append(_ item: ServerNotification, limit: Int) {
      if items.count - first >= limit {
        items = [.gap]
        first = 0
      }
      // One gap says as much as two.
      if item != .gap || first == items.count || items.last != .gap { items.append(item) }
    }
  }

  init(limit: Int) { self.limit = limit }

  func receive(_ event: ServerListener.Event) {
    let waiter = state.withLock { state in
      switch event {
      case .listening: state.append(.gap, limit: limit)
      case .payloads(let texts):
        for text in texts { state.append(.payload(text), limit: limit) }
      case .touched: break
      case .failed(let error):
        state.failure = error
        state.isOver = true
      case .closed: state.isOver = true
      }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Waits for the next notification; nil if there is none any more, or the task is cancelled. Throws the
  /// error that has ended listening.
  func next() async throws -> ServerNotification? {
    while !Task.isCancelled {
      let (item, isOver, failure) = state.withLock { state in
        let item = state.takeFirst()
        return (item, state.isOver, item == nil ? state.failure.take() : nil)
      }
      if let failure { throw failure }
      if item != nil || isOver { return item }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          let isReady = state.withLock { state in
            // A cancellation before this point has found no waiter to wake.
            if Task.isCancelled || state.isOver || state.first < state.items.count { return true }
            state.waiter = waiter
            return false
          }
          if isReady { waiter.resume() }
        }
      } onCancel: {
        state.withLock { $0.waiter.take() }?.resume()
      }
    }
    return nil
  }
}
