import Dispatch

/// The gate before a pool's readers: keeps others out while the log begins anew, and for good when the pool
/// is closed.
extension Readers {
  /// Lets nobody begin to read, and waits until nobody does; false if that takes longer. Either way
  /// ``letIn()`` has to follow.
  func keepOut(within limit: Duration) -> Bool { keepOut(Self.gated, limit) }

  /// Lets others read again whom ``keepOut(within:)`` has kept waiting.
  func letIn() { lift(Self.gated) }

  /// Lets others read again after ``close()``, where the writer could not be closed.
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

  /// Whether anybody reads, or had called before the pool was closed.
  func isInUse(_ queue: Queue) -> Bool {
    readers.contains(where: \.isBusy) || isBarred(by: Self.closed) && !queue.waiting.isEmpty
  }

  /// Closes the readers that are idle, and those that are being opened once they are: nobody uses them
  /// any more.
  func abandon() {
    raise(Self.closed)
    releaseIdle()
  }

  /// Closes the readers that are idle.
  func releaseIdle() {
    for reader in readers where reader.change(from: Reader.idle, to: Reader.busy) {
      reader.database?.closeEverything()
      reader.database = nil
      giveBack(reader)
    }
  }

  /// Lets nobody in any more who hasn't called before, and waits for the others. Where that takes longer than a scope
  /// may wait, one of them may be waiting for this call: then it throws, and the pool stays open.
  func close(until deadline: Duration?) throws {
    let limit = deadline.map { max(.zero, $0 - MonotonicClock.now) } ?? timeout
    // Whoever else closes one meanwhile is waited for too: the writer's is the last connection, or the log
    // would stay.
    repeat {
      guard keepOut(Self.closed, limit) else {
        reopen()
        throw DatabaseError(
          .busyTimeout, "waited longer than \(timeout) for the readers that are in use")
      }
      releaseIdle()
    } while readers.contains { $0.state.load(ordering: .sequentiallyConsistent) != Reader.empty }
  }
}

extension Readers {
  /// Refuses reads while another file is in the place of the one that is open: whoever writes to that one does so in
  /// the log of this one, and a read would show pages of both. Those that run go on.
  func noteFile(isReplaced: Bool) {
    if isReplaced {
      raise(Self.replaced)
    } else if isBarred(by: Self.replaced) {
      lift(Self.replaced)
    }
  }

  /// Why nobody may read.
  var refusal: DatabaseError {
    isBarred(by: Self.closed)
      ? DatabaseError(.misuse, "the pool is closed") : FileLocation.movedError(path)
  }

  func timeoutError() -> DatabaseError {
    let age = oldestAge.map { ", of which one has been in use for \($0.inMilliseconds) ms" } ?? ""
    return DatabaseError(
      .busyTimeout,
      "waited longer than \(timeout) for a \(areWriters ? "connection" : "reader") to become free\(age)"
    )
  }

  static var unopenedError: DatabaseError {
    DatabaseError(.internal, "the reader isn't open")
  }
}
