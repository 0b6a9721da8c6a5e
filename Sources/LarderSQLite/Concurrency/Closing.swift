import Dispatch

/// The closing of a queue's or pool's connections, which may take as long as the disk does: it runs on a thread of its
/// own, and those who have asked for it wait with a deadline.
final class Closing: Sendable {
  private let group = DispatchGroup()
  private let outcome = Lock<Result<Void, any Error>?>(nil)

  fileprivate init(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    DispatchQueue(label: "larder.close").async { [self] in
      let result = Result { try body() }
      outcome.withLock { $0 = result }
      group.leave()
    }
  }

  fileprivate func wait(until deadline: Duration) throws {
    let limit = max(.zero, deadline - MonotonicClock.now)
    guard group.wait(timeout: .now() + limit.dispatchInterval) == .success else {
      throw DatabaseError(
        .busyTimeout,
        "closing waits for the disk, or for what is still in use, and goes on meanwhile")
    }
    try outcome.withLock { $0 }?.get()
  }
}

extension Connections {
  /// Beyond the time that the parts of closing may wait, so that those tell what they wait for.
  private static let grace = Duration.milliseconds(500)

  /// Closes all connections: the writer last, which then moves the log into the file. Throws where that takes longer
  /// than a scope may wait; then the pool stays open, unless it is the disk that doesn't answer, in which case closing
  /// goes on.
  func close() throws {
    try checkProcess()
    guard EnteredScope.held(of: owner).isNothing else { throw EnteredScope.reentryError }
    // What is in no file waits for no disk.
    guard let writer, writer.location != nil else { return try closeAll(until: nil) }
    let deadline = MonotonicClock.now + writer.lock.timeout
    let current = closing.withLock { closing in
      if let closing { return closing }
      let new = Closing { [self] in
        defer { self.closing.withLock { $0 = nil } }
        try closeAll(until: deadline)
      }
      closing = new
      return new
    }
    try current.wait(until: deadline + Self.grace)
  }

  private func closeAll(until deadline: Duration?) throws {
    try replicas?.close()
    try readers?.close(until: deadline)
    let companions = companions.withLock { $0.list }
    for companion in companions { companion.pause() }
    do {
      try writer?.close(until: deadline)
    } catch {
      readers?.reopen()
      for companion in companions { companion.resume() }
      throw error
    }
    self.companions.withLock { $0 = ([], true) }
    for companion in companions { companion.abandon() }
    moveWatcher?.stop()
    observer.withLock { $0 }?.hasClosed()
  }

  /// Async variant. A thread of its own waits.
  func close() async throws {
    try await onOwnThread { try self.close() }
  }

  // MARK: The file for the writer alone

  /// Lets the connection that writes have the file for itself for a while, as leaving the write-ahead log takes.
  func shareFileOnDemand() {
    guard let connection = writer?.database.connection else { return }
    connection.takesFile = { [unowned self] in try releaseOthers() }
    connection.givesFileBack = { [unowned self] in reopenOthers() }
  }

  /// Closes the other connections, and keeps those waiting that would open one. Throws where readers don't end in time.
  private func releaseOthers() throws {
    if let readers, !readers.keepOut(within: readers.timeout) {
      readers.letIn()
      throw DatabaseError(.busy, "the file is needed for the writer alone, and reads are under way")
    }
    readers?.releaseIdle()
    writer?.checkpointer?.release()
    for companion in companions.withLock({ $0.list }) { companion.pause() }
  }

  private func reopenOthers() {
    readers?.letIn()
    for companion in companions.withLock({ $0.list }) { companion.resume() }
  }
}
