// The file of a queue or pool: its companions, its log, checkpoints, and conflicts with other processes.

extension Connections {
  /// Whether the open database isn't the one that was opened any more: the file was moved or replaced, or its
  /// content restored.
  package var isOutdated: Bool { writer?.isOutdated.load(ordering: .relaxed) ?? false }

  /// The file of the writing connection, if it has one, and its configuration. Nil for another engine.
  package var writersFile: (location: FileLocation?, configuration: Configuration)? {
    writer.map { ($0.location, $0.configuration) }
  }

  /// Runs a transaction again after conflicts with other processes.
  @inline(never)
  func runRetrying(
    _ kind: ScopeKind, _ call: ScopeCall, until limit: Duration,
    _ body: (Database) throws -> Void
  ) throws {
    var retry = Retry(limit: limit)
    while true {
      do {
        return try runOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: DatabaseError.naming(engine, in: error))
        retries.wrappingAdd(1, ordering: .relaxed)
        BusyHandler.sleep(pause)
      }
    }
  }

  /// Keeps a companion until the connections are closed. Throws if they are closed already.
  package func add(_ companion: any AccessCompanion) throws {
    try companions.withLock { companions in
      guard !companions.isClosed else { throw DatabaseError(.misuse, "database is closed") }
      companions.list.append(companion)
    }
  }

  /// Sets the holder of the log, whom checkpoints ask to make way. Throws if there is another one.
  package func setLogHolder(_ holder: (any LogHolder)?) throws {
    try writer?.logHolding.withLock { held in
      guard held == nil || holder == nil else {
        throw DatabaseError(.misuse, "the database is replicated already")
      }
      held = holder
    }
  }

  /// Waits until all commits that anybody may have seen so far are on disk, if commits are durable.
  package func waitUntilDurable() throws {
    guard let groupCommit = writer?.groupCommit else { return }
    try groupCommit.check()
    try groupCommit.wait(for: groupCommit.position, within: groupCommit.patience)
  }

  package func remove(_ companion: any AccessCompanion) {
    companions.withLock { $0.list.removeAll { $0 === companion } }
  }

  /// Moves the log into the file. In a pool, a mode that waits for readers holds others up for short times
  /// only, again and again until it is done or the busy timeout is over.
  func checkpoint(_ mode: CheckpointMode) throws -> (logFrames: Int, checkpointed: Int) {
    guard let checkpointer = writer?.checkpointer, mode != .passive else {
      return try performSeldom(.plain, ScopeCall("checkpoint(_:)")) { try $0.checkpoint(mode) }
    }
    try checkProcess()
    guard !EnteredScope.held(of: owner).writer else { throw EnteredScope.reentryError }
    return try checkpointer.checkpoint(mode)
  }
}
