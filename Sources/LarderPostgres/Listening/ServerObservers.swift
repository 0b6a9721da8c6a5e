import LarderSQLite

/// The observers of values to which a ``ServerListener`` reports. Guarded by a lock of the listener.
struct ServerObservers {
  /// The observers, and those of them that wait until the connection listens.
  fileprivate var all: Set<Int> = []
  fileprivate var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  /// The subscription to the channel; nil if nobody observes.
  fileprivate var subscription: Int?
  fileprivate var isListening = false
  /// Why the subscription has ended by itself, for those that don't wait yet.
  fileprivate var failure: (any Error)?

  /// Takes out those that wait.
  fileprivate mutating func takeWaiting() -> [CheckedContinuation<Void, any Error>] {
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}

extension ServerListener: EngineObservation {
  func begin(
    _ observer: Int, _ tell: @escaping @Sendable (Set<UInt32>?) -> Void
  ) async throws {
    try observers.withLock { state in
      if state.subscription == nil {
        // Nobody has looked since whether the tables are what they were.
        tables.forgetAll()
        (state.isListening, state.failure) = (false, nil)
        decoded?.begin { [weak self] in self?.wake() }
        state.subscription = try subscribe(to: ChangeTriggers.channel) { [weak self] event in
          self?.receive(event, tell)
        }
      }
      state.all.insert(observer)
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let result: Result<Void, any Error>? = observers.withLock { state in
          // A cancellation before this point has found nobody who waits.
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.subscription == nil {
            return .failure(state.failure ?? DatabaseError(.misuse, "the pool is closed"))
          }
          if state.isListening { return .success(()) }
          state.waiting[observer] = waiter
          return nil
        }
        if let result { waiter.resume(with: result) }
      }
    } onCancel: {
      observers.withLock { $0.waiting.removeValue(forKey: observer) }?
        .resume(throwing: CancellationError())
    }
  }

  func end(_ observer: Int) {
    // In a forked process the lock may be held for ever.
    guard isOfThisProcess else { return }
    let ended = observers.withLock { state in
      state.all.remove(observer)
      let ended = state.all.isEmpty ? state.subscription.take() : nil
      if ended != nil { decoded?.end() }
      return ended
    }
    if let ended { unsubscribe(ended) }
  }

  private func receive(
    _ event: Event, _ tell: @Sendable (Set<UInt32>?) -> Void
  ) {
    switch event {
    case .listening:
      let (waiting, isFirst) = observers.withLock { state in
        defer { state.isListening = true }
        return (state.takeWaiting(), !state.isListening)
      }
      for waiter in waiting { waiter.resume() }
      if isFirst { return }
      tables.forgetAll()
      tell(nil)
    case .payloads(let texts):
      var touched: Set<UInt32> = []
      for text in texts {
        // Anybody may send to the channel.
        guard let table = UInt32(text) else { return tell(nil) }
        touched.insert(table)
      }
      tell(touched)
    case .touched(let tables): tell(tables)
    case .failed(let error): fail(error)
    case .closed: fail(DatabaseError(.misuse, "the pool is closed"))
    }
  }

  private func fail(_ error: any Error) {
    let waiting = observers.withLock { state in
      (state.subscription, state.failure) = (nil, error)
      state.all = []
      decoded?.end()
      return state.takeWaiting()
    }
    for waiter in waiting { waiter.resume(throwing: error) }
  }
}
