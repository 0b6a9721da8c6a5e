import Dispatch

/// The health checks of a queue or pool that run just now, one of each kind.
///
/// A check runs as a task that nobody has to wait for. While it hangs, because a disk or a server doesn't
/// answer, further checks wait for its end instead of hanging too.
///
/// Sendable because it has no state except what its lock guards.
final class Probes: Sendable {
  private let running = Lock<[Kind: Probe]>([:])

  enum Kind { case read, write }

  /// One check, and those who wait for its outcome.
  final class Probe: Sendable {
    private let state = Lock<(outcome: Bool?, waiters: [Int: @Sendable (Bool) -> Void])>((nil, [:]))
    let task = Lock<Task<Void, Never>?>(nil)

    /// Calls a closure once: with the outcome, or with false if there is none in time.
    func wait(within limit: Duration, _ body: @escaping @Sendable (Bool) -> Void) {
      let (outcome, number) = state.withLock { state in
        let number = (state.waiters.keys.max() ?? 0) + 1
        if state.outcome == nil { state.waiters[number] = body }
        return (state.outcome, number)
      }
      if let outcome { return body(outcome) }
      Self.clock.asyncAfter(deadline: .now() + limit.dispatchInterval) { [self] in
        let (late, isAlone) = state.withLock { state in
          (state.waiters.removeValue(forKey: number), state.waiters.isEmpty)
        }
        guard let late else { return }
        // The check leaves its line, or ends its statement, if nobody waits for it any more.
        if isAlone { task.withLock { $0 }?.cancel() }
        late(false)
      }
    }

    func end(_ outcome: Bool) {
      let waiters = state.withLock { state in
        defer { state = (outcome, [:]) }
        return state.waiters
      }
      for waiter in waiters.values { waiter(outcome) }
    }

    /// A serial queue gets a thread even while those of the global queues are all busy.
    private static let clock = DispatchQueue(label: "larder.probe")
  }

  /// The check of a kind that runs, or a new one.
  func probe(_ kind: Kind, _ check: @escaping @Sendable () async throws -> Bool) -> Probe {
    let (probe, isNew) = running.withLock { running in
      if let probe = running[kind] { return (probe, false) }
      let probe = Probe()
      running[kind] = probe
      return (probe, true)
    }
    guard isNew else { return probe }
    let task = Task.detached(executorPreference: ProbeExecutor(), priority: .high) { [self] in
      let outcome = (try? await check()) ?? false
      running.withLock { $0[kind] = nil }
      probe.end(outcome)
    }
    probe.task.withLock { $0 = task }
    return probe
  }
}

/// Runs a check's task on a thread of its own: those of the cooperative pool may all be blocked.
private final class ProbeExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "larder.probe.task")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension Connections {
  /// Begins a check, or finds the one that runs.
  func probe(_ kind: Probes.Kind) -> Probes.Probe {
    probes.probe(kind) { [self] in
      switch kind {
      case .read:
        return try await performOnce(.read, ScopeCall("isReady(within:)")) { $0.isGoodConnection }
      case .write:
        return try await performOnce(
          .transaction(.immediate), ScopeCall("isWritable(within:)")
        ) { !$0.isReadOnly && $0.isGoodConnection }
      }
    }
  }
}

extension DatabaseAccess {
  /// Whether a read gets a connection and an answer within a time, whatever hangs: the line, the disk or the
  /// server. For readiness probes. It waits no longer than the time says, also for a check that hangs since
  /// an earlier call.
  public func isReady(within limit: Duration) -> Bool { connections.outcome(.read, limit) }

  /// Whether a transaction can begin and end within a time, whatever hangs. It writes nothing, but needs the
  /// writer, and another process's lock, as every transaction does. If commits are durable, it also waits
  /// until those before it are on disk. False for a database that was opened for reading.
  public func isWritable(within limit: Duration) -> Bool { connections.outcome(.write, limit) }

  /// Async variant.
  public func isReady(within limit: Duration) async -> Bool {
    await connections.outcome(.read, limit)
  }

  /// Async variant.
  public func isWritable(within limit: Duration) async -> Bool {
    await connections.outcome(.write, limit)
  }
}

extension Connections {
  fileprivate func outcome(_ kind: Probes.Kind, _ limit: Duration) -> Bool {
    let (ended, outcome) = (DispatchSemaphore(value: 0), Lock(false))
    probe(kind).wait(within: limit) { isFine in
      outcome.withLock { $0 = isFine }
      ended.signal()
    }
    // The time is measured on another thread, which may come late.
    guard
      ended.wait(timeout: .now() + (limit.bounded + .milliseconds(100)).dispatchInterval)
        == .success
    else { return false }
    return outcome.withLock { $0 }
  }

  fileprivate func outcome(_ kind: Probes.Kind, _ limit: Duration) async -> Bool {
    await withCheckedContinuation { continuation in
      probe(kind).wait(within: limit) { continuation.resume(returning: $0) }
    }
  }
}
