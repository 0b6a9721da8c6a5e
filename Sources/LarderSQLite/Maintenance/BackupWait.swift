/// The busy handling of a backup: waits for locks in short pauses, up to the busy timeout, between which
/// it can be stopped.
///
/// The destination's busy handler waits for nothing meanwhile: it knows of its own connection only,
/// and the task that may be cancelled can be that of the source.
struct BackupWait {
  private let source: Database
  private let destination: Database?
  private let destinationTimeout: Duration
  private let timeout: Duration
  private let interrupts: [Int]
  private var deadline = Duration.zero

  /// - Parameter destination: the other database, once it is open.
  init(_ source: Database, _ destination: Database? = nil) {
    self.source = source
    self.destination = destination
    destinationTimeout = destination?.connection.busyHandler.timeout ?? .zero
    timeout = max(source.connection.busyHandler.timeout, destinationTimeout)
    interrupts = [source, destination].compactMap { $0?.connection.interruptHandle.count }
    destination?.connection.busyHandler.timeout = .zero
    begin()
  }

  /// Lets the destination wait by itself again.
  func end() { destination?.connection.busyHandler.timeout = destinationTimeout }

  /// Counts the time anew.
  mutating func begin() { deadline = MonotonicClock.now + timeout }

  /// Whether the time is up.
  var isOver: Bool { MonotonicClock.now >= deadline }

  /// Throws where somebody wants the backup to end.
  func check() throws {
    for (database, interrupts) in zip([source, destination].compactMap { $0 }, interrupts) {
      try database.connection.checkCancellation()
      guard database.connection.interruptHandle.count == interrupts else {
        throw DatabaseError(.interrupt, "the backup was interrupted")
      }
    }
  }

  func pause() throws {
    try check()
    BusyHandler.sleep()
  }

  /// Calls a closure again until no lock is in its way, or the time is up.
  func whileBusy<T>(_ body: () throws -> T) throws -> T {
    while true {
      do {
        return try body()
      } catch let error as DatabaseError where error.isBusy && !isOver {
        try pause()
      }
    }
  }
}
