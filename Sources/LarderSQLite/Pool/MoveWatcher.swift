import Dispatch

/// Watches a database file, its log and its index for moves, removals and replacements, on behalf of a queue
/// or pool that nobody writes to at the time. The look that follows moves the log into the file, before
/// somebody opens another file in its place and gets that log with it.
///
/// Watching begins a second or two after the queue or pool was opened. So it costs nothing for short-lived
/// ones, nor for writes. Without inotify, the next write finds out.
///
/// Sendable because, once started, its variables are touched on the queue of ``FileEvents`` only.
final class MoveWatcher: FileEventReceiver, @unchecked Sendable {
  private let events = FileEvents.moves
  private let path: String
  private let identity: FileLocation.Identity?
  private var look: @Sendable () -> Void = {}
  private var isLooking = false

  /// The watchers that begin soon. One timer serves them all, and those that end before leave nothing behind.
  private static let pending = Lock(Pending())

  private struct Pending {
    var watchers: [ObjectIdentifier: (watcher: MoveWatcher, since: Duration)] = [:]
    var isScheduled = false
  }

  private static let delay = Duration.seconds(1)

  init(_ location: FileLocation) {
    path = location.path
    identity = location.identity
  }

  /// - Parameter look: checks whether the file is in its place; may block.
  func start(look: @escaping @Sendable () -> Void) {
    self.look = look
    let schedules = Self.pending.withLock { pending in
      pending.watchers[ObjectIdentifier(self)] = (self, MonotonicClock.now)
      defer { pending.isScheduled = true }
      return !pending.isScheduled
    }
    if schedules { FileEvents.moves.queue.repeats(after: Self.delay, Self.beginDue) }
  }

  /// Begins the watching that is due. Returns whether more will be.
  private static func beginDue() -> Bool {
    let time = MonotonicClock.now - delay
    let (due, goesOn) = pending.withLock { pending in
      let due = pending.watchers.values.filter { $0.since <= time }.map(\.watcher)
      for watcher in due { pending.watchers[ObjectIdentifier(watcher)] = nil }
      pending.isScheduled = !pending.watchers.isEmpty
      return (due, pending.isScheduled)
    }
    for watcher in due { watcher.begin() }
    return goesOn
  }

  /// Begins to watch. Called on the queue of the events.
  func begin() {
    events.add(self)
    for suffix in ["", "-wal", "-shm"] { events.watch(path + suffix, for: self) }
    events.watch(FileLocation.folder(of: path), for: self)
    // The file may have been moved before it was watched. A look waits for the writer, so there is none if it
    // is in its place.
    if FileLocation.Identity(ofFileAt: path) != identity { hasChanged() }
  }

  func stop() {
    let isPending = Self.pending.withLock {
      $0.watchers.removeValue(forKey: ObjectIdentifier(self))
    }
    if isPending == nil { events.queue.async { [self] in events.remove(self) } }
  }

  func hasChanged() {
    guard !isLooking else { return }
    isLooking = true
    DispatchQueue.global(qos: .utility).async { [self, look] in
      look()
      events.queue.async { self.isLooking = false }
    }
  }
}
