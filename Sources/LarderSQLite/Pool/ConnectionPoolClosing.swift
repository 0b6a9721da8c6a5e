import Dispatch

/// The gate before a pool's readers. Keeps reads out while the log begins anew, and for good once the pool is
/// closed.
extension ConnectionPool {
  /// Bars new reads, and waits for the current ones to end; false on a time-out. Either way the caller has to
  /// call ``letIn()``.
  func keepOut(within limit: Duration) -> Bool { keepOut(Self.gated, limit) }

  /// Lets the reads go on that ``keepOut(within:)`` has kept waiting.
  func letIn() { lift(Self.gated) }

  /// Reopens after ``close()``, if the writer couldn't be closed.
  func reopen() { lift(Self.closed) }

  private func lift(_ barrier: UInt32) {
    lower(barrier)
    serve()
  }

  private func keepOut(_ barrier: UInt32, _ limit: Duration) -> Bool {
    let semaphore = DispatchSemaphore(value: 0)
    let mustWait = queue.withLock { queue in
      raise(barrier)
      guard isInUse(queue) else { return false }
      queue.idling.append(semaphore)
      return true
    }
    guard mustWait, semaphore.wait(timeout: .now() + limit.dispatchInterval) != .success else {
      return true
    }
    return queue.withLock { queue in
      queue.idling.removeAll { $0 === semaphore }
      return !isInUse(queue)
    }
  }

  /// Whether a read is under way, or waits that was called before the pool was closed.
  func isInUse(_ queue: Queue) -> Bool {
    slots.contains(where: \.isBusy) || isBarred(by: Self.closed) && !queue.waiting.isEmpty
  }

  /// Closes the idle readers, and those that are being opened once they are open. Called when nobody uses the
  /// pool any more.
  func abandon() {
    raise(Self.closed)
    releaseIdle()
  }

  func releaseIdle() {
    for slot in slots
    where slot.change(from: PooledConnection.idle, to: PooledConnection.busy) {
      slot.database?.closeEverything()
      slot.database = nil
      giveBack(slot)
    }
  }

  /// Refuses new reads, waits for earlier ones, and closes the readers. On a time-out it throws, and the pool
  /// stays open: one of the reads may be waiting for this very call.
  func close(until deadline: Duration?) throws {
    let limit = deadline.map { max(.zero, $0 - MonotonicClock.now) } ?? timeout
    // A reader that another thread closes meanwhile is waited for too. The writer's connection has to be the
    // last one, or the log would stay.
    repeat {
      guard keepOut(Self.closed, limit) else {
        reopen()
        throw DatabaseError(
          .busyTimeout, "waited longer than \(timeout) for the readers in use")
      }
      releaseIdle()
    } while slots.contains {
      $0.state.load(ordering: .sequentiallyConsistent) != PooledConnection.empty
    }
  }
}

extension ConnectionPool {
  /// Refuses reads while another file is in the place of the one that is open. A writer of the new file would
  /// write to the log of the old one, and a read would show pages of both. Reads under way go on.
  func noteFile(isReplaced: Bool) {
    if isReplaced {
      raise(Self.replaced)
    } else if isBarred(by: Self.replaced) {
      lift(Self.replaced)
    }
  }

  var refusal: DatabaseError {
    isBarred(by: Self.closed)
      ? DatabaseError(.misuse, "the pool is closed") : FileLocation.movedError(path)
  }

  func interrupt() {
    for slot in slots { slot.interrupts.withLock { $0 }?.interrupt() }
  }

  func timeoutError() -> DatabaseError {
    refusals.wrappingAdd(1, ordering: .relaxed)
    let age =
      oldest.map { "; \($0.call) has been using one for \($0.age.inMilliseconds) ms" } ?? ""
    return DatabaseError(
      .busyTimeout,
      "waited longer than \(timeout) for a \(canWrite ? "connection" : "reader") to become free\(age)"
    )
  }

  static var unopenedError: DatabaseError {
    DatabaseError(.internal, "the reader isn't open")
  }
}
