import Dispatch
import Glibc

/// Watches a database file and its log for writing by others, by inotify: what has changed, if anything, is for
/// whoever is told to find out. Where there is no inotify, it tells once a second.
///
/// A write shows before the commit does whose part it is, so that it is followed by several looks, with
/// exponential back-off. See [inotify(7)](https://man7.org/linux/man-pages/man7/inotify.7.html).
///
/// What makes it Sendable: all happens on its queue.
final class FileWatcher: @unchecked Sendable {
  private let queue = DispatchQueue(label: "larder.watch")
  private let folder: String
  private let names: Set<String>
  private let look: @Sendable () -> Void
  private var events: (any DispatchSourceRead)?
  private var timer: (any DispatchSourceTimer)?
  private var isLooking = false
  /// Whether something was written while others looked.
  private var isLate = false
  /// How many looks the last write still has to come, and whether the next one is on its way.
  private var step = FileWatcher.pauses.count
  private var isScheduled = false

  /// The times between looks after a write, in milliseconds.
  private static let pauses = [3, 6, 12, 24, 48, 96]

  /// - Parameter look: looks whether anything was committed; ``hasLooked()`` has to be called when it is done.
  init(path: String, look: @escaping @Sendable () -> Void) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    folder = slash.map { String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    names = [name, name + "-wal", name + "-journal"]
    self.look = look
  }

  func start() {
    queue.async { [self] in
      watch()
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(50))
      timer.setEventHandler { [weak self] in self?.lookNow() }
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
    let mask = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM
    guard inotify_add_watch(descriptor, folder.isEmpty ? "/" : folder, UInt32(mask)) >= 0 else {
      close(descriptor)
      return
    }
    let events = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    events.setEventHandler { [weak self] in
      if self?.readEvents(descriptor) == true { self?.hasWritten() }
    }
    events.setCancelHandler { close(descriptor) }
    events.activate()
    self.events = events
  }

  /// Reads what there is; true where it is about one of the files, or there was too much of it.
  private func readEvents(_ descriptor: Int32) -> Bool {
    var isOurs = false
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let start = offset + MemoryLayout<inotify_event>.size
          offset = start + Int(event.len)
          if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isOurs = true }
          guard !isOurs, event.len > 0, offset <= count else { continue }
          let name = buffer[start..<offset].prefix { $0 != 0 }
          isOurs = names.contains(String(decoding: name, as: UTF8.self))
        }
      }
    }
    return isOurs
  }

  private func hasWritten() {
    step = 0
    scheduleNext()
  }

  private func scheduleNext() {
    guard !isScheduled, step < Self.pauses.count, timer != nil else { return }
    isScheduled = true
    queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauses[step])) { [weak self] in
      guard let self else { return }
      isScheduled = false
      step += 1
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
