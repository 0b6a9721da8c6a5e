import Dispatch

/// Watches a database file, its log and its journal for writes by other processes, by inotify. It only
/// reports that something was written: the receiver finds out what. Without inotify, it reports once a
/// second.
///
/// A write is seen before the commit that it belongs to, so it is followed by several looks, with exponential
/// back-off. Each watch is for one event and is set again before the second look: otherwise a queue or pool
/// that writes itself would pay for each page (measured: 4 µs of a commit's 14).
///
/// `@unchecked Sendable` is sound because everything happens on the queue of ``FileEvents``.
final class FileWatcher: FileEventReceiver, @unchecked Sendable {
  private let events = FileEvents.writes
  private let paths: [String]
  private let look: @Sendable () -> Void
  private var timer: (any DispatchSourceTimer)?
  private var isLooking = false
  private var isStopped = false
  /// Whether a write was reported during a look, so that another look is due.
  private var isLate = false
  /// The number of the current burst; goes up with each reported write, and so invalidates older looks.
  private var burst = 0
  /// How many looks there were since the last write.
  private var step = 0

  /// The times between looks after a write, in milliseconds.
  private static let pauses = [3, 6, 12, 24, 48, 96]
  /// The number of the look before which the watches are set again.
  private static let looksUnwatched = 2

  /// - Parameter look: looks for commits; ``hasLooked()`` has to be called when it is done.
  init(path: String, look: @escaping @Sendable () -> Void) {
    paths = [path, path + "-wal", path + "-journal"]
    self.look = look
  }

  func start() {
    events.queue.async { [self] in
      // `stop()` may have come first.
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

  /// Watches the files that exist. Watches that are set already stay.
  private func setWatches() {
    for path in paths { events.watch(path, for: self) }
  }

  /// Called after one of the files was written.
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
