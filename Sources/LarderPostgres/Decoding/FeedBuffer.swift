import LarderSQLite

/// The transactions that a feed holds until its consumer asks for them, and how far the consumer has come.
/// Shared by the consumer's tasks and the thread that receives.
final class FeedBuffer: Sendable {
  typealias Waiter = CheckedContinuation<Void, Never>

  private struct Item {
    let transaction: CommittedChanges<RowChange>
    /// The end of the transaction's commit in the log.
    let end: UInt64
    let size: FeedAmount
  }

  private struct State {
    var items: [Item] = []
    /// The index of the first item that wasn't delivered.
    var first = 0
    var held = FeedAmount()
    /// The end of the last transaction that the consumer was given, and of the last one that it has handled.
    var delivered: UInt64 = 0
    var handled: UInt64 = 0
    /// The position up to which the server has sent everything.
    var received: UInt64 = 0
    /// Whether the thread was told of a transaction that was handled, and hasn't asked since.
    var isTold = false
    /// Whether the thread doesn't read on because the consumer is behind.
    var isPaused = false
    var outcome: Result<Void, any Error>?
    var waiter: Waiter?

    var isEmpty: Bool { first == items.count }

    func position(isPatient: Bool) -> UInt64 {
      guard isPatient else { return received }
      // If everything was handled, the server needn't keep what wasn't for this feed, either.
      return isEmpty && delivered == handled ? max(received, handled) : handled
    }

    /// Takes the next transaction out, or nil for the end; nil if there is neither. Throws the error of the
    /// end.
    mutating func take() throws -> (transaction: CommittedChanges<RowChange>?, isToWake: Bool)? {
      guard !isEmpty else {
        if let outcome {
          try outcome.get()
          return (nil, false)
        }
        return nil
      }
      let item = items[first]
      first += 1
      held = held - item.size
      delivered = max(delivered, item.end)
      if first * 2 > items.count {
        items.removeFirst(first)
        first = 0
      }
      defer { isPaused = false }
      return (item.transaction, isPaused)
    }

    /// Forgets positions, which are those of a log that was left.
    mutating func forgetPositions() {
      items = items[first...].map { Item(transaction: $0.transaction, end: 0, size: $0.size) }
      (first, delivered, handled, received) = (0, 0, 0, 0)
    }
  }

  private let state = Lock(State())
  private let limit: FeedAmount
  /// Whether a consumer that is behind makes the server wait, and doesn't end the feed.
  private let isPatient: Bool

  init(limit: FeedAmount, isPatient: Bool) {
    self.limit = limit
    self.isPatient = isPatient
  }

  // MARK: The thread

  /// Begins, or goes on, at a position of the log.
  func begin(at position: UInt64) {
    state.withLock { state in
      (state.delivered, state.handled, state.received) = (position, position, position)
    }
  }

  /// Forgets positions after a failover: those of the former primary mean nothing in the new one's log.
  func forgetPositions() { state.withLock { $0.forgetPositions() } }

  /// The position after the last transaction that has arrived: where a lost connection is to go on.
  var received: UInt64 { state.withLock { $0.received } }

  /// The position up to which the server needn't send anything again.
  func takePosition() -> UInt64 {
    state.withLock { state in
      state.isTold = false
      return state.position(isPatient: isPatient)
    }
  }

  /// Whether a transaction was handled since the position was taken last.
  var hasNews: Bool { state.withLock { $0.isTold } }

  /// Notes that the server has sent everything up to a position.
  func noteReceived(_ position: UInt64) {
    state.withLock { $0.received = max($0.received, position) }
  }

  /// Adds a transaction, or one whose changes are unknown.
  func append(_ arrival: TransactionAssembly.Arrival) {
    if arrival.isUnknownBefore || arrival.isUnknown {
      appendUnknown(at: arrival.commit, end: arrival.isUnknown ? arrival.end : nil)
    }
    let waiter = state.withLock { state -> Waiter? in
      defer { state.received = max(state.received, arrival.end) }
      guard !arrival.isUnknown, !arrival.changes.isEmpty else { return nil }
      let transaction = CommittedChanges(
        number: Int(truncatingIfNeeded: arrival.commit), changes: arrival.changes,
        isFromElsewhere: false)
      state.items.append(Item(transaction: transaction, end: arrival.end, size: arrival.size))
      state.held = state.held + arrival.size
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Adds a transaction whose changes are unknown.
  ///
  /// - Parameter end: the end of its commit; nil if there is none, so that nothing is handled by handling it.
  func appendUnknown(at position: UInt64? = nil, end: UInt64? = nil) {
    let waiter = state.withLock { state -> Waiter? in
      let last = state.items.last?.end ?? state.delivered
      let transaction = CommittedChanges<RowChange>(
        number: Int(truncatingIfNeeded: position ?? last), changes: [], isFromElsewhere: true)
      state.items.append(Item(transaction: transaction, end: end ?? last, size: FeedAmount()))
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Whether the thread shouldn't read on, since the consumer is behind.
  func isFull(with arriving: FeedAmount) -> Bool {
    guard isPatient else { return false }
    return state.withLock { state in
      state.isPaused = !state.isEmpty && (state.held + arriving).excess(over: limit) != nil
      return state.isPaused
    }
  }

  /// The error of a feed that would hold too much with what is arriving; nil if it wouldn't.
  ///
  /// - Parameter commit: the position of the commit that is arriving.
  func overflow(with arriving: FeedAmount, commit: UInt64) -> FeedOverflow? {
    let sum = state.withLock { isPatient ? arriving : $0.held + arriving }
    return sum.excess(over: limit).map { unit in
      FeedOverflow(
        number: Int(truncatingIfNeeded: commit),
        limit: unit == .changes ? limit.changes : limit.bytes, kind: unit)
    }
  }

  /// Ends the feed, after the transactions that it holds if it ends with an error. The first call counts.
  func end(_ outcome: Result<Void, any Error>) {
    let waiter = state.withLock { state -> Waiter? in
      state.outcome = state.outcome ?? outcome
      return state.waiter.take()
    }
    waiter?.resume()
  }

  var isEnded: Bool { state.withLock { $0.outcome != nil } }

  /// Whether the consumer has handled all that there was, and waits for more.
  var isWaitedFor: Bool { state.withLock { $0.isEmpty && $0.waiter != nil } }

  // MARK: The consumer

  /// Waits for the next transaction; nil at the end, or once the task is cancelled.
  ///
  /// - Parameter wake: wakes the thread, which has something to do.
  func next(_ wake: @Sendable () -> Void) async throws -> CommittedChanges<RowChange>? {
    if noteHandled() { wake() }
    while !Task.isCancelled {
      let found = try state.withLock { try $0.take() }
      if let found {
        if found.isToWake { wake() }
        return found.transaction
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { (waiter: Waiter) in
          let isAnswered = state.withLock { state in
            // A cancellation before this point has found no waiter to wake.
            if Task.isCancelled || !state.isEmpty || state.outcome != nil { return true }
            state.waiter = waiter
            return false
          }
          if isAnswered { waiter.resume() }
        }
      } onCancel: {
        state.withLock { $0.waiter.take() }?.resume()
      }
    }
    return nil
  }

  /// Notes that the last transaction was handled. Returns whether the thread has to be told.
  private func noteHandled() -> Bool {
    state.withLock { state in
      let isNew = state.delivered > state.handled
      state.handled = state.delivered
      defer { if isNew { state.isTold = true } }
      return isNew && isPatient && !state.isTold
    }
  }
}
