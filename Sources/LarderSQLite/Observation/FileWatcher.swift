import Dispatch
import Glibc

/// Watches a database file, its log and its journal for writing by others, by inotify: what has changed, if
/// anything, is for whoever is told to find out. Where there is no inotify, it tells once a second.
///
/// A write shows before the commit does whose part it is, so that it is followed by several looks, with
/// exponential back-off. Each watch is for one event (`IN_ONESHOT`) and set anew before the second look: a queue or
/// pool that writes itself would pay for each page (measured: 4 µs of a commit's 14). See
/// [inotify(7)](https://man7.org/linux/man-pages/man7/inotify.7.html).
///
/// What makes it Sendable: all happens on its queue.
final class FileWatcher: @unchecked Sendable {
  private let queue = DispatchQueue(label: "larder.watch")
  private let paths: [String]
  private let look: @Sendable () -> Void
  private var events: (any DispatchSourceRead)?
  private var timer: (any DispatchSourceTimer)?
  private var isLooking = false
  /// Whether something was written while others looked.
  private var isLate = false
  /// Of inotify.
  private var descriptor: Int32 = -1
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
    queue.async { [self] in
      watch()
      let timer = DispatchSource.makeTimerSource(queue: queue)
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
    queue.async { [self] in
      events?.cancel()
      timer?.cancel()
      (events, timer) = (nil, nil)
    }
  }

  private func watch() {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else { return }
    let events = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    events.setEventHandler { [weak self] in
      if Self.readEvents(descriptor) { self?.hasWritten() }
    }
    events.setCancelHandler { close(descriptor) }
    events.activate()
    self.events = events
    self.descriptor = descriptor
    setWatches()
  }

  /// Watches the files that there are. What is watched already stays so.
  private func setWatches() {
    guard events != nil else { return }
    let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF) | UInt32(IN_ONESHOT)
    for path in paths { inotify_add_watch(descriptor, path, mask) }
  }

  /// Reads what there is; false where that are ends of watches alone.
  private static func readEvents(_ descriptor: Int32) -> Bool {
    var isWriting = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
          if event.mask & UInt32(IN_IGNORED) == 0 { isWriting = true }
        }
      }
    }
    return isWriting
  }

  private func hasWritten() {
    burst += 1
    step = 0
    scheduleNext()
  }

  private func scheduleNext() {
    guard step < Self.pauses.count, timer != nil else { return }
    let burst = burst
    queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauses[step])) { [weak self] in
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
    queue.async { [self] in
      isLooking = false
      guard isLate, timer != nil else { return }
      isLate = false
      lookNow()
    }
  }
}
