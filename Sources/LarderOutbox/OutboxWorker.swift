import FoundationEssentials
import Larder

/// One call of `follow` or `deliver`: a loop that reads a batch of messages, has it handled, and moves the
/// consumer's position.
final class OutboxWorker<Message: Codable & Sendable>: Sendable {
  /// How a batch is handled.
  enum Handler: Sendable {
    /// In the transaction that moves the position.
    case inTransaction(@Sendable (Database, [OutboxMessage<Message>]) throws -> Void)
    /// Before the position is moved.
    case outside(@Sendable ([OutboxMessage<Message>]) async throws -> Void)
  }

  private let store: any DatabaseAccess
  private let work: ConsumerWork
  private let options: OutboxOptions
  private let handler: Handler
  private let bell = OutboxBell()
  private let isServer: Bool

  /// After how many turns that have handled messages, one after the other, the worker isn't signalled.
  private static var busyTurns: Int { 8 }
  /// The shortest pause while a transaction holds the horizon up.
  private static var leastPause: Duration { .milliseconds(2) }

  init(
    _ outbox: String, _ consumer: String, _ store: any DatabaseAccess, _ options: OutboxOptions,
    _ handler: Handler
  ) {
    self.store = store
    self.options = options
    self.handler = handler
    work = ConsumerWork(
      outbox: outbox, consumer: consumer, worker: UUID().uuidString,
      lease: options.lease / .seconds(1))
    isServer = store.isServer
  }

  /// Ends the loop once the batch is handled. Cancels a handler outside of a transaction.
  func end() { bell.end() }

  var isEnding: Bool { bell.isEnding }

  /// Cancels the loop once no handler runs: it may be waiting for a database that is away. What it couldn't write is
  /// undone, and handled again. A delivery can't be undone, so that it is written for as long as the lease lasts.
  func cancel(_ loop: Task<Void, any Error>) async {
    let end = ContinuousClock.now + options.lease
    do {
      repeat {
        try await Task.sleep(for: .seconds(1))
      } while bell.isHandling || bell.isDelivering && ContinuousClock.now < end
      loop.cancel()
    } catch {}  // The loop has ended in time.
  }

  /// The loop's own state.
  private struct State {
    var horizon: OutboxHorizon
    /// The size of the next batch: 1 after a failure, so that those before the message that fails go on.
    var limit: Int
    var failures = 0
    /// Turns in a row that have found messages, but none up to the horizon.
    var holdUps = 0
    /// Turns in a row that have handled messages.
    var handled = 0
    /// What wakes the worker on a server; nil before it was asked for, and without one.
    var signals: (any EngineSignalReception)?
    var hasAskedForSignals = false
    /// Whether the next turn needn't look first.
    var isBusy = false
    var isStarted = false
  }

  private enum Turn { case handled, nothing, heldUp, taken(until: Date) }

  func run() async throws {
    var state = State(horizon: OutboxHorizon(isServer: isServer), limit: max(1, options.batch))
    defer { bell.endObserving() }
    while !bell.isEnding {
      let pause: Duration
      do {
        let turn = try await self.turn(&state)
        pause = await self.pause(after: turn, &state)
        state.isStarted = true
        state.failures = 0
      } catch let failure as BatchFailure {
        if bell.isEnding, failure.error is CancellationError { break }
        options.onError?(failure.position, failure.error)
        pause = afterFailure(&state)
      } catch {
        if bell.isEnding, Task.isCancelled { break }
        guard state.isStarted, (error as? DatabaseError)?.code != .misuse else { throw error }
        // The database may be back soon.
        options.onError?(nil, error)
        pause = afterFailure(&state)
      }
      if pause > .zero { await bell.wait(pause) }
    }
    // If this fails, the lease is over in time.
    try? await store.inTransaction { [work] db in try work.release(db) }
  }

  private func pause(after turn: Turn, _ state: inout State) async -> Duration {
    state.holdUps = if case .heldUp = turn { state.holdUps + 1 } else { 0 }
    state.isBusy = if case .handled = turn { true } else { state.holdUps == 1 }
    switch turn {
    case .handled:
      state.handled += 1
      // One that has much to do needn't be woken.
      if state.handled == Self.busyTurns { state.signals?.wait(false) }
      state.limit = min(state.limit * 2, max(1, options.batch))
      return .zero
    case .nothing:
      state.handled = 0
      await observe(&state)
      return min(options.poll, options.lease / 3)
    case .heldUp:
      // The first time it is mostly the worker's own look that has to end.
      guard state.holdUps > 1 else { return .zero }
      return min(Self.leastPause * (1 << min(state.holdUps, 12)), options.poll)
    case .taken(let until):
      return min(options.poll, .seconds(max(0.001, until.timeIntervalSinceNow)))
    }
  }

  /// The pause after a failure: at most ten seconds.
  private func afterFailure(_ state: inout State) -> Duration {
    state.failures += 1
    state.limit = 1
    state.isBusy = false
    state.isStarted = true
    return .milliseconds(10 << min(state.failures, 10)) * Double.random(in: 0.5...1)
  }

  // MARK: A turn

  private struct BatchFailure: Error {
    let position: Int64?
    let error: any Error
  }

  private func turn(_ state: inout State) async throws -> Turn {
    do {
      var needsLease = false
      if !state.isBusy {
        let look = try await store.read { [work] db in try work.look(db) }
        if let taken = look.taken { return .taken(until: taken) }
        needsLease = look.needsLease
        if !look.hasNews, !needsLease { return .nothing }
      }
      guard let batch = try await read(&state, needsLease) else {
        return state.horizon.waits ? .heldUp : .nothing
      }
      try await handle(batch, state.horizon)
      return .handled
    } catch is ConsumerWork.Taken {
      return .taken(until: Date().addingTimeInterval(work.lease))
    }
  }

  /// Reads a batch, which on a server doesn't happen in the transaction that handles it: a serializable one
  /// that reads the end of the table collides with all that append.
  private func read(
    _ state: inout State, _ needsLease: Bool
  ) async throws -> ConsumerWork.Batch? {
    let (work, limit, horizon) = (work, state.limit, state.horizon)
    guard isServer || needsLease else {
      return try await store.read { db in try work.read(db, horizon, limit: limit) }
    }
    let (batch, advanced) = try await store.inTransaction { db in
      try db.relaxIsolation()
      // First: it may be the transaction's own id that it asks for.
      let advanced = try horizon.advanced(db)
      if needsLease { try work.takeLease(db) }
      return (try work.read(db, advanced, limit: limit), advanced)
    }
    state.horizon = advanced
    return batch
  }

  private func handle(_ batch: ConsumerWork.Batch, _ horizon: OutboxHorizon) async throws {
    let work = work
    do {
      let messages = try batch.messages.map { try OutboxMessage<Message>($0) }
      switch handler {
      case .inTransaction(let body):
        try await store.inTransaction { [bell] db in
          try work.advance(db, past: batch, horizon)
          try bell.handling { try body(db, messages) }
        }
      case .outside(let body):
        try await bell.delivering {
          try await deliver(messages, body)
          try await store.inTransaction { db in try work.advance(db, past: batch, horizon) }
        }
      }
    } catch let error as ConsumerWork.Taken {
      throw error
    } catch {
      throw BatchFailure(position: batch.messages.first?.id, error: error)
    }
  }

  /// Runs a handler, and extends the lease meanwhile. Cancels it if another worker has the lease.
  private func deliver(
    _ messages: [OutboxMessage<Message>],
    _ body: @escaping @Sendable ([OutboxMessage<Message>]) async throws -> Void
  ) async throws {
    let handling = Task { try await body(messages) }
    bell.handling(handling)
    let extending = Task { [work, store, options] in
      while (try? await Task.sleep(for: options.lease / 3)) != nil {
        do {
          try await store.inTransaction { db in try work.extendLease(db) }
        } catch is ConsumerWork.Taken {
          return handling.cancel()
        } catch {
          // The next attempt may succeed before the lease is over.
        }
      }
    }
    defer {
      extending.cancel()
      bell.handling(nil)
    }
    try await handling.value
  }

  /// Has the loop be woken once there are messages: by observation, or on a server by signals.
  private func observe(_ state: inout State) async {
    if isServer {
      if !state.hasAskedForSignals {
        state.hasAskedForSignals = true
        state.signals = try? await store.signals(on: OutboxTables.channel) { [bell, work] name in
          if name == nil || name == work.outbox { bell.endObserving() }
        }
      }
      state.signals?.wait(true)
      return
    }
    bell.observe { [store, work, bell] in
      // After an error the worker looks for itself, every now and then.
      let values = store.values(of: { db in try work.hasNews(db) })
      do {
        for try await hasNews in values where hasNews { return bell.endObserving() }
      } catch {}
    }
  }
}
