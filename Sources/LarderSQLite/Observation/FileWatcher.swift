import Dispatch

/// Watches a database file, its log and its journal for writing by others, by inotify: what has changed, if
/// anything, is for whoever is told to find out. Where there is no inotify, it tells once a second.
///
/// A write shows before the commit does whose part it is, so that it is followed by several looks, with
/// exponential back-off. Each watch is for one event and set anew before the second look: a queue or pool that
/// writes itself would pay for each page (measured: 4 µs of a commit's 14).
///
/// What makes it Sendable: all happens on the queue of ``FileEvents``.
final class FileWatcher: FileEventReceiver, @unchecked Sendable {
  private let events = FileEvents.writes
  private let paths: [String]
  private let look: @Sendable () -> Void
  private var timer: (any DispatchSourceTimer)?
  private var isLooking = false
  private var isStopped = false
  /// Whether something was written while others looked.
  private var isLate = false
  /// Goes up with each write that is told of.
  private var burst = 0
  /// How many looks there were since.
  private var step = 0

  /// The times between looks after a write, in milliseconds.
  private static let pauses = [3, 6, 12, 24, 48, 96]
  /// With which look watching goes on.
  private static let looksUnwatched = 2

  /// - Parameter look: looks whether anything was committed; ``hasLooked()`` has to be called when it is done.
  init(path: String, look: @escaping @Sendable () -> Void) {
    paths = [path, path + "-wal", path + "-journal"]
    self.look = look
  }

  func start() {
    events.queue.async { [self] in
      // Whoever has it stopped may have come first.
      if isStopped { return }
      events.add(self)
      setWatches()
      let timer = DispatchSource.makeTimerSource(queue: events.queue)
      timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(50))
      timer.setEventHandler { [weak self] in
        self?.setWatches()
        self?.lookNow()
      }
      timer.activate()
      self.timer = timer
    }
  }

  func stop() {
    events.queue.async { [self] in
      isStopped = true
      timer?.cancel()
      timer = nil
      events.remove(self)
    }
  }

  /// Watches the files that there are. What is watched already stays so.
  private func setWatches() {
    for path in paths { events.watch(path, for: self) }
  }

  /// After one of the files was written.
  func hasChanged() {
    burst += 1
    step = 0
    scheduleNext()
  }

  private func scheduleNext() {
    guard step < Self.pauses.count, timer != nil else { return }
    let burst = burst
    events.queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauses[step])) { [weak self] in
      guard let self, self.burst == burst else { return }
      step += 1
      if step >= Self.looksUnwatched { setWatches() }
      lookNow()
      scheduleNext()
    }
  }

  private func lookNow() {
    guard !isLooking else { return isLate = true }
    isLooking = true
    look()
  }

  func hasLooked() {
    events.queue.async { [self] in
      isLooking = false
      guard isLate, timer != nil else { return }
      isLate = false
      lookNow()
    }
  }
}
