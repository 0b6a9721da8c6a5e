/// The busy handling of a backup: waits for locks in short pauses, up to the busy timeout. The backup can be
/// stopped between the pauses.
///
/// The destination's busy handler doesn't wait meanwhile. It knows of its own connection only, and the task
/// that may be cancelled can be that of the source.
struct BackupWait {
  private let source: Database
  private let destination: Database?
  private let destinationTimeout: Duration
  private let timeout: Duration
  private let interrupts: [Int]
  private var deadline = Duration.zero

  /// - Parameter destination: the other database, if it is open already.
  init(_ source: Database, _ destination: Database? = nil) {
    self.source = source
    self.destination = destination
    destinationTimeout = destination?.connection.busyHandler.timeout ?? .zero
    timeout = max(source.connection.busyHandler.timeout, destinationTimeout)
    interrupts = [source, destination].compactMap { $0?.connection.interruptHandle.count }
    destination?.connection.busyHandler.timeout = .zero
    begin()
  }

  /// Restores the destination's own busy timeout.
  func end() { destination?.connection.busyHandler.timeout = destinationTimeout }

  /// Begins the time limit anew.
  mutating func begin() { deadline = MonotonicClock.now + timeout }

  /// Whether the time is up.
  var isOver: Bool { MonotonicClock.now >= deadline }

  /// Throws if the backup was interrupted, or its task cancelled.
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

  /// Calls a closure again and again until no lock is in its way, or the time is up.
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
