// Closing the connections of a queue or pool, and the file that the writer may need for itself.

extension Connections {
  /// Closes the idle readers' connections.
  package func releaseIdle() {
    pool?.releaseIdle()
    replicas?.releaseIdle()
  }

  /// Extra time beyond that of the steps of closing, so that their more exact errors come first.
  private static let grace = Duration.milliseconds(500)

  /// Closes all connections, the writer last, which then moves the log into the file. Throws if that takes
  /// longer than a scope may wait. Then the pool stays open, or, if the disk doesn't answer, is closed later.
  package func close() throws {
    try checkProcess()
    guard EnteredScope.held(of: owner).isNothing else { throw EnteredScope.reentryError }
    // A database that is in no file waits for no disk.
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
    try pool?.close(until: deadline)
    let companions = companions.withLock { $0.list }
    for companion in companions { companion.pause() }
    do {
      try writer?.close(until: deadline)
    } catch {
      pool?.reopen()
      for companion in companions { companion.resume() }
      throw error
    }
    self.companions.withLock { $0 = ([], true) }
    for companion in companions { companion.abandon() }
    moveWatcher?.stop()
    engineObservation?.close()
    observer.withLock { $0 }?.hasClosed()
  }

  /// Async variant. A thread of its own waits.
  func close() async throws {
    try await onOwnThread { try self.close() }
  }

  // MARK: The file for the writer alone

  /// Lets the writing connection have the file to itself for a while, which leaving WAL mode requires.
  func shareFileOnDemand() {
    guard let connection = writer?.database.connection else { return }
    connection.takesFile = { [unowned self] in try releaseOthers() }
    connection.givesFileBack = { [unowned self] in reopenOthers() }
  }

  /// Closes the other connections, and holds up scopes that would open one. Throws if readers don't end in
  /// time.
  private func releaseOthers() throws {
    if let pool, !pool.keepOut(within: pool.timeout) {
      pool.letIn()
      throw DatabaseError(
        .busy, "the writer needs the file for itself, but reads are still running")
    }
    pool?.releaseIdle()
    writer?.checkpointer?.close(makesNoMore: false)
    for companion in companions.withLock({ $0.list }) { companion.pause() }
  }

  private func reopenOthers() {
    pool?.letIn()
    for companion in companions.withLock({ $0.list }) { companion.resume() }
  }
}
